"""Dates with a month name, and ranges of them: finds them in a source, and writes them in the target language.

Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from nmt_cli.carrying.kind import Attempt, Context, LostKind
from nmt_cli.carrying.numbers.calendars import Calendar, Date, load_calendar
from nmt_cli.carrying.spans import DIGIT, PLACEHOLDER_PATTERN, Span, SpanKind, cover_spans
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.words import skip_blanks

RANGE = r"(?P<day>[0-3]?\d(?: ?[–-] ?[0-3]?\d)?)"
BEFORE_DAY = r"(?<![\w.,:/–-])"
BEHIND_DAY = r"(?![\w%]|[.,:/–-]\d)"
YEAR = r"(?P<year>[12]\d{3})(?![\w%]|[.,:/-]\d)"
YEAR_BEFORE = r"(?<![\w.,:/-])(?P<year>[12]\d{3})\.?"
LAST_DAY = 31
READ_BY_NETWORK = frozenset({"since", "before", "after"})  # which decide the tense


@cache
def write_month_pattern(language: str) -> str:
    """Returns the pattern of a month, written in usual case or in capitals."""
    calendar = load_calendar(language)
    names = {name for month in calendar.names for name in month} if calendar is not None else set()
    written = {form for name in names for form in (name, name[0].upper() + name[1:], name.upper())}
    listed = "|".join(map(re.escape, sorted(written, key=len, reverse=True)))
    return rf"(?<![^\W_])(?P<month>{listed})(?![^\W_])(?:\.(?=\s+[\da-z]))?"


@cache
def compile_forms(language: str, *, any_case: bool) -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of the dates of a language whose months have names, in usual case, in capitals or in any
    case.
    """
    month, rules = write_month_pattern(language), find_rules(language)
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


@cache
def compile_range_end(language: str, *, any_case: bool) -> re.Pattern[str]:
    """Returns the pattern of an end of a range without a month or a number: of `3 to 5 May`, of `March to June`."""
    day = rf"{RANGE}(?:\.|{find_rules(language).ordinal_endings})?(?!\w)"
    return re.compile(f"{day}|{write_month_pattern(language)}", re.IGNORECASE if any_case else 0)


def find_lost_months(source: str, target: str, source_language: str, target_language: str) -> list[str]:
    """Returns the dates of a source, as written there, whose month is missing from the translation."""
    dates = list(find_dates(source, source_language))
    calendar = load_calendar(target_language) if dates else None
    if calendar is None:
        return []
    return [source[date.start : date.end] for date in dates if not calendar.has_month(target, date.month)]


class DateKind(LostKind):
    """Dates with a month name: `on March 12` becomes `am 12. März`.

    All those of a sentence are carried as the target writes them.
    """

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        dates = self.list_dates(attempt, context)
        calendar = load_calendar(context.languages[1]) if dates else None
        target = PLACEHOLDER_PATTERN.sub(" ", attempt.target)
        if calendar is None or not any(is_lost(date, attempt, target, calendar, context) for date in dates):
            return []
        written = [write_date(attempt.text, date, attempt.spans, context.languages) for date in dates]
        return join_ranges(sorted(written), attempt.text)

    def may_be_in(self, text: str, context: Context) -> bool:
        is_long_enough = super().may_be_in(text, context)
        return is_long_enough and may_have_dates(text, context.languages[0])

    def list_dates(self, attempt: Attempt, context: Context) -> list[Date]:
        """Returns the dates of a sentence, including those whose numbers and month are already carried."""
        others = [span for span in attempt.spans if not (span.is_number or span.kind is SpanKind.NAME)]
        return list(find_dates(cover_spans(attempt.text, others), context.languages[0]))


# A digit, or four words: from June to August.
DATES = DateKind(SpanKind.DATE, cues=r"\d|\s\S+\s+\S+\s+\S", fault="dates", remedy="protected date")


def is_lost(date: Date, attempt: Attempt, target: str, calendar: Calendar, context: Context) -> bool:
    """Whether the month or a number of a date is missing from the translation, or they are no date there."""
    from nmt_cli.carrying.numbers.number_text import NUMBER
    from nmt_cli.carrying.numbers.values import compare_numbers  # which few lines need

    covered = attempt.covered
    numbers = compare_numbers(covered, target, *context.languages).missing
    in_date = NUMBER.findall(covered, date.start, date.end)
    if not calendar.has_month(target, date.month) or not set(numbers).isdisjoint(in_date):
        return True
    days = re.findall(r"\d+", date.day or "")
    if not calendar.has_names or not all(re.search(rf"(?<!\d){day}(?!\d|[./-] ?\d)", target) for day in days):
        return False  # in words, or with the month as a number
    others = [other for other in find_dates(target, context.languages[1]) if other.day and other.month == date.month]
    return bool(days) and not any(calendar.writes_so(target[other.start : other.end]) for other in others)


def write_date(text: str, date: Date, spans: Sequence[Span], languages: tuple[str, str]) -> Span:
    """Returns a date as the target writes it, with what relates the sentence to it, such as "until".

    Marks that enclose the date alone, `by *July 4*`, stay around it.

    Both languages need a phrase for that. A network cannot see that a placeholder stands for a date. It still reads
    words that tell when something happens (`READ_BY_NETWORK`), of which only the article is written here: seit dem 12.
    März.
    """
    source_language, target_language = languages
    calendar = load_calendar(target_language)
    written = text[date.start : date.end] if calendar is None else calendar.write(date)
    is_shouted = text[date.start : date.end].isupper()  # as the whole line, which spans do not follow
    written = written.upper() if is_shouted else written
    first, last = widen_to_marks(date.start, date.end, spans)
    written = text[first : date.start] + written + text[date.end : last]
    before, phrases = text[:first], list_phrases(target_language, has_day=bool(date.day))
    relation, start = find_relation(before, source_language, has_day=bool(date.day))
    if relation not in phrases:
        return Span(first, last, written, SpanKind.DATE)
    phrase = phrases[relation].partition("|")[0]
    if relation in READ_BY_NETWORK:
        article = phrase.partition(" ")[2]
        with_article = f"{article} {written}".lstrip()
        return Span(first, last, with_article, SpanKind.DATE, replaces=frozenset(article.split()))
    phrase = phrase[0].upper() + phrase[1:] if text[start].isupper() else phrase
    phrase = phrase.upper() if is_shouted and before[start:].isupper() else phrase
    relating = list_relating_words(target_language)
    return Span(start, last, f"{phrase} {written}", SpanKind.DATE, replaces=relating)


def widen_to_marks(start: int, end: int, spans: Sequence[Span]) -> tuple[int, int]:
    """Returns the characters from `start` to `end` with the pairs of marks and tags that enclose nothing else."""
    opening = {span.end: (span.start, span.pair.name) for span in spans if span.pair and not span.pair.closes}
    closing = {span.start: (span.end, span.pair.name) for span in spans if span.pair and span.pair.closes}
    while start in opening and end in closing and opening[start][1] == closing[end][1]:
        start, end = opening[start][0], closing[end][0]
    return start, end


def join_ranges(dates: Sequence[Span], text: str) -> list[Span]:
    """Joins dates that a blank alone separates from each other with their phrases: `from March 3` `to March 12`."""
    joined: list[Span] = []
    for date in dates:
        if joined and text[joined[-1].end : date.start].isspace():
            first = joined.pop()
            date = first._replace(end=date.end, text=f"{first.text} {date.text}")
        joined.append(date)
    return joined


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


@cache
def compile_relation(relation: str, language: str) -> re.Pattern[str] | None:
    """Returns the pattern of what so relates something to a day or a month, with an article; None for nothing."""
    phrases = {list_phrases(language, has_day=has_day).get(relation, "") for has_day in (True, False)} - {""}
    listed = "|".join(sorted("|".join(phrases).split("|"), key=len, reverse=True))
    article = find_rules(language).date_article
    return re.compile(rf"(?i)(?<!\w)(?:{listed})(?: (?:{article}))?\s+") if phrases else None


def find_range_start(text: str, language: str) -> re.Match[str] | None:
    """Returns the first phrase of a text that begins a range of dates."""
    pattern = compile_relation("from", language)
    return pattern.search(text) if pattern is not None else None


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


def may_have_dates(text: str, language: str) -> bool:
    """Whether a text has a digit, or a phrase that begins a range."""
    return DIGIT.search(text) is not None or find_range_start(text, language) is not None


def find_dates(text: str, language: str) -> Iterator[Date]:
    """Yields the dates of a text that consist of a month name and a number, in order of their forms, then other ends of
    ranges.
    """
    calendar = load_calendar(language) if may_have_dates(text, language) else None
    if calendar is None or not calendar.has_names:
        return
    covered: set[int] = set()
    dates: list[Date] = []
    for form in compile_forms(language, any_case=text.islower()):
        for match in form.finditer(text):
            date, characters = read_date(match, calendar), set(range(*match.span()))
            if covered.isdisjoint(characters) and is_in_month(date.day):
                covered |= characters
                dates.append(date)
    yield from dates
    yield from find_range_ends(text, language, calendar, dates)


def find_range_ends(text: str, language: str, calendar: Calendar, dates: Sequence[Date]) -> Iterator[Date]:
    """Yields the ends of ranges that lack a month or a number; a day has the month of the other end."""
    begin, until = compile_relation("from", language), compile_relation("to", language)
    whole = {date.start: date for date in dates}
    covered = {index for date in dates for index in range(date.start, date.end)}

    def read_end(match: re.Match[str] | None) -> Date | None:
        if match is None or match.end() in whole:
            return match and whole[match.end()]
        end = compile_range_end(language, any_case=text.islower()).match(text, match.end())
        return read_date(end, calendar) if end is not None and is_in_month(end["day"]) else None

    if begin is None or until is None:
        return
    for match in begin.finditer(text):
        first = read_end(match)
        last = read_end(until.match(text, skip_blanks(text, first.end))) if first is not None else None
        if first is not None and last is not None and last.month:
            ends = (first._replace(month=first.month or last.month), last)
            yield from (end for end in ends if end.start not in covered)


def read_date(match: re.Match[str], calendar: Calendar) -> Date:
    """Returns the date of a match; its month is 0 if it has none."""
    parts = match.groupdict()
    month = calendar.find_month(parts["month"]) if parts["month"] else 0
    return Date(*match.span(), month, parts.get("day"), parts.get("year"))


def is_in_month(day: str | None) -> bool:
    """Whether a month may have a day, or days; or none is named."""
    return all(1 <= int(number) <= LAST_DAY for number in re.findall(r"\d+", day or ""))
