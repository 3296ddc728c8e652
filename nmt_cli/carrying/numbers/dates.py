"""Dates with a month name: finds them in a source, and writes them in the target language.

The month names and date orders of 158 languages are known (`languages.cldr`). Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from nmt_cli.carrying.kind import Attempt, Context, LostKind
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, Span, SpanKind, cover_spans
from nmt_cli.languages.rules import find_rules

RANGE = r"(?P<day>[0-3]?\d(?: ?[–-] ?[0-3]?\d)?)"
BEFORE_DAY = r"(?<![\w.,:/–-])"
BEHIND_DAY = r"(?![\w%]|[.,:/–-]\d)"
YEAR = r"(?P<year>[12]\d{3})(?![\w%]|[.,:/-]\d)"
YEAR_BEFORE = r"(?<![\w.,:/-])(?P<year>[12]\d{3})\.?"
MONTH_ENDING = 2  # letters of a month's name that its inflected forms may change
LAST_DAY = 31
READ_BY_NETWORK = frozenset({"since", "before", "after"})  # which decide the tense


class Date(NamedTuple):
    """A date in a text, from `start` to `end`; the day or the year may be missing."""

    start: int
    end: int
    month: int  # 1 to 12
    day: str | None  # or days: 3–5
    year: str | None


class Calendar(NamedTuple):
    """The way a language writes dates."""

    names: tuple[tuple[str, ...], ...]  # of each month, abbreviations too; empty where months are numbers
    months: tuple[str, ...]  # with a day
    alone: tuple[str, ...]  # without
    day_pattern: str
    full_pattern: str
    year_pattern: str

    def find_month(self, name: str) -> int:
        """Returns the number of a month, given one of `names` in any case."""
        key = name.casefold()
        return next(m for m, names in enumerate(self.names, start=1) if key in map(str.casefold, names))

    def has_month(self, text: str, month: int) -> bool:
        """Whether a text contains a name of a month, possibly inflected, or its number if months have no names."""
        names = self.names[month - 1]
        if not names:
            return re.search(rf"(?<!\d)0?{month}(?!\d)", text) is not None
        stems = "|".join(re.escape(name[: max(3, len(name) - MONTH_ENDING)]) for name in names)
        return (
            re.search(rf"(?<![^\W_])(?:{stems})|(?<!\d)0?{month}[./-] ?\d|\d[./-] ?0?{month}(?!\d)", text, re.I)
            is not None
        )

    def write(self, date: Date) -> str:
        """Returns a date as written in full."""
        month, alone = self.months[date.month - 1], self.alone[date.month - 1]
        pattern = self.full_pattern if date.year else self.day_pattern
        pattern = pattern if date.day else self.year_pattern
        return pattern.format(day=date.day, month=month, name=alone, number=date.month, year=date.year)


@cache
def load_calendar(language: str) -> Calendar | None:
    """Returns the calendar for a language code of two or three letters; None for an unknown language."""
    from nmt_cli.languages.cldr import load_cldr  # an archive, which few lines need

    content = load_cldr("dates", language)
    if content is None:
        return None
    names, months = tuple(map(tuple, content["names"])), tuple(content["months"])
    return Calendar(names, months, tuple(content.get("alone", months)), *content["patterns"])


@cache
def compile_forms(language: str, *, any_case: bool) -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of a language's dates, with months in usual case, in capitals or in any case.

    Empty if months have no names.
    """
    calendar = load_calendar(language)
    names = {name for month in calendar.names for name in month} if calendar is not None else set()
    if not names:
        return ()
    written = {form for name in names for form in (name, name[0].upper() + name[1:], name.upper())}
    listed = "|".join(map(re.escape, sorted(written, key=len, reverse=True)))
    month = rf"(?<![^\W_])(?P<month>{listed})(?![^\W_])(?:\.(?=\s+[\da-z]))?"
    rules = find_rules(language)
    day = rf"{BEFORE_DAY}{RANGE}(?:{rules.ordinal_endings}|\.)?"
    day_behind = rf"{RANGE}(?:{rules.ordinal_endings}|\.(?=\s+[a-z]))?{BEHIND_DAY}"
    link = rf"(?:\s+(?:{rules.date_links}))?\s+"
    forms = (
        rf"{YEAR_BEFORE}\s+{month}\s+{day_behind}",  # 1990. március 5
        rf"{day}{link}{month}(?:,?{link}{YEAR})?",  # 12. März 1990, 24th of December, 5 de marzo de 1990
        rf"{month}\s+{day_behind}(?:,?\s+{YEAR})?",  # March 12, 1990
        rf"{month},?{link}{YEAR}",  # October 1990
    )
    return tuple(re.compile(form, re.IGNORECASE if any_case else 0) for form in forms)


def find_lost_months(source: str, target: str, source_language: str, target_language: str) -> list[str]:
    """Returns the dates of a source, as written there, whose month is missing from the translation."""
    calendar = load_calendar(target_language)
    if calendar is None:
        return []
    dates = find_dates(source, source_language)
    return [source[date.start : date.end] for date in dates if not calendar.has_month(target, date.month)]


class DateKind(LostKind):
    """Dates with a month name, all those of a sentence: `on March 12` becomes `am 12. März`.

    They are carried as the target writes them.
    """

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        calendar = load_calendar(context.languages[1])
        dates = self.list_dates(attempt, context) if calendar is not None else []
        target = PLACEHOLDER_PATTERN.sub(" ", attempt.target)
        if calendar is None or not any(is_lost(date, attempt, target, calendar, context) for date in dates):
            return []
        written = [(date.end, write_date(attempt.text, date, *context.languages)) for date in dates]
        return [
            self.make_span(form.start, form.text)._replace(end=end, replaces=form.replaces) for end, form in written
        ]

    def list_dates(self, attempt: Attempt, context: Context) -> list[Date]:
        """Returns the dates of a sentence, including those whose numbers and month are already carried."""
        others = [span for span in attempt.spans if not (span.is_number or span.kind is SpanKind.NAME)]
        return list(find_dates(cover_spans(attempt.text, others), context.languages[0]))


DATES = DateKind(SpanKind.DATE, cues=r"\d", fault="dates", remedy="protected date")


def is_lost(date: Date, attempt: Attempt, target: str, calendar: Calendar, context: Context) -> bool:
    """Whether the month or a number of a date is missing from the translation."""
    from nmt_cli.carrying.numbers.number_text import NUMBER
    from nmt_cli.carrying.numbers.values import compare_numbers  # which few lines need

    covered = attempt.covered
    numbers = compare_numbers(covered, target, *context.languages).missing
    in_date = NUMBER.findall(covered, date.start, date.end)
    return not calendar.has_month(target, date.month) or not set(numbers).isdisjoint(in_date)


class WrittenDate(NamedTuple):
    """A date as the target writes it, in place of what begins at `start`, and of words of the translation before it."""

    start: int
    text: str
    replaces: frozenset[str] = frozenset()


def write_date(text: str, date: Date, source_language: str, target_language: str) -> WrittenDate:
    """Writes a date with what relates the sentence to it, such as "until", if both languages have a phrase for that.

    A network cannot see that a placeholder stands for a date. It still reads words that tell when something happens
    (`READ_BY_NETWORK`), of which only the article is written here: seit dem 12. März.
    """
    calendar = load_calendar(target_language)
    written = text[date.start : date.end] if calendar is None else calendar.write(date)
    is_shouted = text[date.start : date.end].isupper()  # as the whole line, which spans do not follow
    written = written.upper() if is_shouted else written
    before, phrases = text[: date.start], list_phrases(target_language, has_day=bool(date.day))
    relation, start = find_relation(before, source_language, has_day=bool(date.day))
    if relation not in phrases:
        return WrittenDate(date.start, written)
    phrase = phrases[relation].partition("|")[0]
    if relation in READ_BY_NETWORK:
        article = phrase.partition(" ")[2]
        return WrittenDate(date.start, f"{article} {written}".lstrip(), frozenset(article.split()))
    phrase = phrase[0].upper() + phrase[1:] if text[start].isupper() else phrase
    phrase = phrase.upper() if is_shouted and before[start:].isupper() else phrase
    return WrittenDate(start, f"{phrase} {written}", list_relating_words(target_language))


def find_relation(before: str, language: str, *, has_day: bool) -> tuple[str, int]:
    """Returns the English name of the phrase at the end of a text, and where it begins; "" for none.

    What ends a range does so behind what begins it.
    """
    article = find_rules(language).date_article
    for relation, phrase in list_phrases(language, has_day=has_day).items():
        match = re.search(rf"(?i)(?<!\w)(?:{phrase})(?: (?:{article}))?\s+$", before)
        if match and (relation != "to" or find_range_start(before[: match.start()], language)):
            return relation, match.start()
    return "", len(before)


def find_range_start(text: str, language: str) -> bool:
    """Whether a text has a phrase that begins a range of dates."""
    phrases = {list_phrases(language, has_day=has_day).get("from", "") for has_day in (True, False)} - {""}
    return any(re.search(rf"(?i)(?<!\w)(?:{phrase})\s", text) for phrase in phrases)


def list_phrases(language: str, *, has_day: bool) -> dict[str, str]:
    """Returns what relates something to a day or a month in a language, the ends of ranges first."""
    rules = find_rules(language)
    phrases = rules.day_phrases if has_day else rules.month_phrases
    return dict(sorted(phrases.items(), key=lambda item: (item[0] != "to", -len(item[1]))))


@cache
def list_relating_words(language: str) -> frozenset[str]:
    """Returns the words of a language that relate something to a date."""
    phrases = (list_phrases(language, has_day=has_day).values() for has_day in (True, False))
    return frozenset(word for texts in phrases for text in texts for word in text.replace("|", " ").split())


def find_dates(text: str, language: str) -> Iterator[Date]:
    """Yields the dates of a text that consist of a month name and a number, in order of their forms."""
    calendar = load_calendar(language)
    if calendar is None:
        return
    covered: set[int] = set()
    for form in compile_forms(language, any_case=text.islower()):
        for match in form.finditer(text):
            groups, characters = match.groupdict(), set(range(*match.span()))
            day, year = groups.get("day"), groups.get("year")
            days = map(int, re.findall(r"\d+", day or "1"))
            if covered.isdisjoint(characters) and all(1 <= number <= LAST_DAY for number in days):
                covered |= characters
                yield Date(*match.span(), calendar.find_month(match["month"]), day, year)
