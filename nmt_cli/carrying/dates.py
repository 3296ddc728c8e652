"""Finds dates with a month name, date ranges and abbreviated days, and writes them in the target language.

`3 May 2024` becomes `3. Mai 2024`, `Mon-Fri` becomes `Mo-Fr`.

    He came on March 12.    is March 12, with month 3, day "12" and no year
    am 12. März             is what replaces "on March 12", if the network lost the month or the number

A `Calendar` holds a language's names of months and days and the order of its dates (CLDR, 158 languages); the phrases
around a date come from its `LanguageRules`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from nmt_cli.carrying.spans import (
    COVERS,
    DIGIT,
    INNER_STOP,
    NO_MATCH,
    Attempt,
    Context,
    Difference,
    Kind,
    LossWords,
    LostKind,
    Span,
    SpanKind,
    WordTest,
    cover_spans,
)
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import PAUSES
from nmt_cli.text.words import skip_blanks

MONTH_ENDING = 2  # letters of a month's name that its inflected forms may change,
SHORT_NAME = 4  # unless it has as few letters: Maybe is not in May
DAY_ENDING = 1  # the same of the name of a day, which compounds may begin with: Ostermontag


class Date(NamedTuple):
    """A date in a text, from `start` to `end`; the day or the year may be missing, or both in a range."""

    start: int
    end: int
    month: int  # 1 to 12
    day: str | None  # or days: 3–5; 1, 2 & 3
    year: str | None


class Calendar(NamedTuple):
    """The way a language writes dates."""

    names: tuple[tuple[str, ...], ...]  # of each month, abbreviations too; empty where months are numbers
    months: tuple[str, ...]  # with a day
    alone: tuple[str, ...]  # without
    day_pattern: str
    full_pattern: str
    year_pattern: str
    days: tuple[tuple[str, ...], ...]  # the names of each day in full, Monday first
    short_days: tuple[str, ...]
    link: str  # before the last day of a list

    @property
    def has_names(self) -> bool:
        """Whether months have names."""
        return any(self.names)

    def find_month(self, name: str) -> int:
        """Returns the number of a month, given one of `names` in any case."""
        key = name.casefold()
        return next(m for m, names in enumerate(self.names, start=1) if key in map(str.casefold, names))

    def has_month(self, text: str, month: int) -> bool:
        """Whether a text contains a name of a month, possibly inflected, or its number if months have no names."""
        names = self.names[month - 1]
        if not names:
            return re.search(rf"(?<!\d)0?{month}(?!\d)", text) is not None
        stems = "|".join(
            re.escape(name[:-MONTH_ENDING]) if len(name) > SHORT_NAME else rf"{re.escape(name)}(?![^\W\d_])"
            for name in names
        )
        return (
            re.search(rf"(?<![^\W_])(?:{stems})|(?<!\d)0?{month}[./-] ?\d|\d[./-] ?0?{month}(?!\d)", text, re.I)
            is not None
        )

    def has_day(self, text: str, day: int) -> bool:
        """Whether a text contains a day of the week, Monday being 0: in full, possibly inflected, or abbreviated."""
        stems = [re.split("[- ]", name)[0] for name in self.days[day]]
        stems = [stem[:-DAY_ENDING] if len(stem) > SHORT_NAME else stem for stem in stems]
        short = re.escape(self.short_days[day].rstrip("."))
        return re.search(rf"(?i:{'|'.join(map(re.escape, stems))})|(?<![^\W_]){short}(?![^\W_])", text) is not None

    def writes_so(self, date: str) -> bool:
        """Whether a date is in the language's order, with the right mark after a day that comes first."""
        if re.match(r"\d{1,2}(?!\d)", date) is None:
            return date[0].isdigit() or not self.day_pattern.startswith("{day}")
        return ("{day}." in self.day_pattern) == (re.search(r"\d\.", date) is not None)

    def write(self, date: Date) -> str:
        """Returns a date as written in full."""
        month, alone = self.months[date.month - 1], self.alone[date.month - 1]
        if not (date.day or date.year):
            return alone
        pattern = self.full_pattern if date.year else self.day_pattern
        pattern = pattern if date.day else self.year_pattern
        mark, link = "." if "{day}." in pattern else "", f" {self.link} " if self.link else ", "
        day = (date.day or "").replace(", ", f"{mark}, ").replace(" & ", mark + link)
        return pattern.format(day=day, month=month, name=alone, number=date.month, year=date.year)


@cache
def load_calendar(language: str) -> Calendar | None:
    """Returns the calendar for a language code of two or three letters; None for an unknown language."""
    from nmt_cli.languages.cldr import load_cldr  # an archive, which few lines need

    content = load_cldr("dates", language)
    if content is None:
        return None
    names, months = tuple(map(tuple, content["names"])), tuple(content["months"])
    alone, days = tuple(content.get("alone", months)), tuple(map(tuple, content["days"]))
    day, full, year = content["patterns"]
    return Calendar(names, months, alone, day, full, year, days, tuple(content["short_days"]), find_link(language))


BEFORE_DAY = r"(?<![\w.,:/–-])"
BEHIND_DAY = r"(?![\w%]|[.,:/–-]\d)"
YEAR = r"(?P<year>[12]\d{3})(?![\w%]|[.,:/-]\d)"
YEAR_BEFORE = r"(?<![\w.,:/-])(?P<year>[12]\d{3})\.?"
LAST_DAY = 31
READ_BY_NETWORK = frozenset({"since", "before", "after"})  # which decide the tense


@cache
def write_month_pattern(language: str) -> str:
    """Returns the pattern of a month name in its usual case or in capitals."""
    calendar = load_calendar(language)
    names = {name for month in calendar.names for name in month} if calendar is not None else set()
    written = {form for name in names for form in (name, name[0].upper() + name[1:], name.upper())}
    listed = "|".join(map(re.escape, sorted(written, key=len, reverse=True)))
    return rf"(?<![^\W_])(?P<month>{listed})(?![^\W_])(?:\.(?=\s+[\da-z]))?"


DAY = r"[0-3]?\d(?!\d)"
BEHIND_LIST = r"[^\W\d_]{1,2}\b|\W*(?:$|[12]\d{3})|[^\w\s]"  # of days: May 3 and 4; not May 3 and 4 people


@cache
def write_days_pattern(language: str, behind_list: str = "") -> str:
    """Returns the pattern of a day, a range or a list of days: `3`, `3–5`, `1st, 2nd and 3rd`."""
    ending, link = rf"(?:{find_rules(language).ordinal_endings}|\.)?", find_link(language) or "(?!)"
    return rf"(?P<day>{DAY}(?:(?:{ending}, {DAY})*{ending},? (?i:{link}) {DAY}{behind_list}| ?[–-] ?{DAY})?)"


def find_link(language: str) -> str:
    """Returns the word before the last item of a list, such as "and"; "" if it is not known."""
    first = find_rules(language).list_links.partition("|")[0]
    return first if first.isalpha() else ""


@cache
def compile_forms(language: str, *, any_case: bool) -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of a language's dates with month names, in usual case and capitals, or in any case."""
    month, rules = write_month_pattern(language), find_rules(language)
    day = rf"{BEFORE_DAY}{write_days_pattern(language)}(?:{rules.ordinal_endings}|\.)?"
    clause = "|".join(filter(None, (rules.subjects, rules.determiners)))  # May 3 and 4 we are closed
    days = write_days_pattern(language, rf"(?={BEHIND_LIST}|\s(?i:{clause or '(?!)'})\b)")
    day_behind = rf"{days}(?:{rules.ordinal_endings}|\.(?=\s+[a-z]))?{BEHIND_DAY}"
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
    """Returns the pattern of a range end without a month or a number, such as `3` of `3 to 5 May`."""
    day = rf"{write_days_pattern(language)}(?:\.|{find_rules(language).ordinal_endings})?(?!\w)"
    return re.compile(f"{day}|{write_month_pattern(language)}", re.IGNORECASE if any_case else 0)


class DateKind(LostKind):
    """Dates with a month name: `on March 12` becomes `am 12. März`.

    If one is lost or wrong, all dates of the sentence are carried, as the target writes them.
    """

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        """Returns the dates whose month is missing; dates in digits alone are treated as numbers."""
        dates, target = self.read_dates(attempt, context)
        lost = [date for date in dates if not (target and target.has_month(attempt.written, date.month))]
        return Difference([attempt.text[date.start : date.end] for date in lost])

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        dates, target = self.read_dates(attempt, context)
        is_wrong = (target is not None and is_written_wrongly(date, attempt, target, context) for date in dates)
        if not self.find_lost(attempt, context).missing and not any(is_wrong):
            return []
        written = [write_date(attempt.text, date, attempt.spans, context.languages) for date in dates]
        return [join_time(date, attempt, context.languages) for date in join_ranges(sorted(written), attempt.text)]

    def may_be_in(self, text: str, context: Context) -> bool:
        is_long_enough = super().may_be_in(text, context)
        return is_long_enough and may_have_dates(text, context.languages[0])

    def read_dates(self, attempt: Attempt, context: Context) -> tuple[list[Date], Calendar | None]:
        """Returns the dates of a sentence, including those whose numbers and month are already carried, and the
        target's calendar; no dates without a calendar.
        """
        others = [span for span in attempt.spans if not (span.is_number or span.kind is SpanKind.NAME)]
        dates = list(find_dates(cover_spans(attempt.text, others), context.languages[0]))
        target = load_calendar(context.languages[1]) if dates else None
        return (dates if target is not None else []), target


# A digit, or four words: from June to August.
DATES = DateKind(
    SpanKind.DATE,
    cues=r"\d|\s\S+\s+\S+\s+\S",
    words=LossWords(
        "dates",
        "protected date",
        "with a missing month or day of the week",
        unrepaired="a date from the source is missing",
        repaired=("wrong date",),
        doc="Finds missing months of dates, and missing days of the week",
    ),
)


class FullWeekdayKind(LostKind):
    """Days of the week in full: `on Monday` becomes `am Montag`. Both languages must have phrases for days."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        return Difference([match[0] for _, match in self.find_missing(attempt, context)])

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        missing = list(self.find_missing(attempt, context))
        target = load_calendar(context.languages[1]) if missing else None
        names = [names[0] for names in target.days] if target is not None else []
        return [write_chain([day], attempt.text, names, context.languages) for day in missing]

    def find_missing(self, attempt: Attempt, context: Context) -> Iterator[tuple[int, re.Match[str]]]:
        """Yields the days that a translation lacks, each with its number."""
        days = list(compile_full_days(context.languages[0]).finditer(attempt.covered))
        target = load_calendar(context.languages[1]) if days else None
        if target is not None and find_rules(context.languages[1]).day_phrases:
            numbered = [(int((match.lastgroup or "")[1:]), match) for match in days]
            yield from (day for day in numbered if not target.has_day(attempt.written, day[0]))


FULL_WEEKDAYS = FullWeekdayKind(SpanKind.FULL_WEEKDAY, cues=r"\S\s+[^\W\d_]{4}|[^\W\d_]{4}\W+\S", words=DATES.words)


def is_written_wrongly(date: Date, attempt: Attempt, calendar: Calendar, context: Context) -> bool:
    """Whether the translation lacks a number of a date, or has its month and numbers but not as a date."""
    from nmt_cli.carrying.number_values import compare_numbers  # which few lines need
    from nmt_cli.carrying.numbers import NUMBER

    covered, target = attempt.covered, attempt.written
    numbers = compare_numbers(covered, target, *context.languages, context.keeps_digits).missing
    if not set(numbers).isdisjoint(NUMBER.findall(covered, date.start, date.end)):
        return True
    days = re.findall(r"\d+", date.day or "")
    if not calendar.has_names or not all(re.search(rf"(?<!\d){day}(?!\d|[./-] ?\d)", target) for day in days):
        return False  # in words, or with the month as a number
    others = [other for other in find_dates(target, context.languages[1]) if other.day and other.month == date.month]
    return bool(days) and not any(calendar.writes_so(target[other.start : other.end]) for other in others)


def write_date(text: str, date: Date, spans: Sequence[Span], languages: tuple[str, str]) -> Span:
    """Returns a date as the target writes it, with the phrase that relates the sentence to it, such as "until".

    Markup that encloses only the date stays around it: `by *July 4*`.

    Both languages must have such a phrase. A network cannot see that a placeholder stands for a date. It still reads
    words that decide the tense (`READ_BY_NETWORK`); only the article after them is written here: seit dem 12. März.
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
    """Returns the range from `start` to `end`, extended by pairs of marks and tags that enclose nothing else."""
    opening = {span.end: (span.start, span.pair.name) for span in spans if span.pair and not span.pair.closes}
    closing = {span.start: (span.end, span.pair.name) for span in spans if span.pair and span.pair.closes}
    while start in opening and end in closing and opening[start][1] == closing[end][1]:
        start, end = opening[start][0], closing[end][0]
    return start, end


def join_ranges(dates: Sequence[Span], text: str) -> list[Span]:
    """Joins dates with phrases if only a space separates them: `from March 3` `to March 12`."""
    joined: list[Span] = []
    for date in dates:
        if joined and text[joined[-1].end : date.start].isspace():
            first = joined.pop()
            date = first._replace(end=date.end, text=f"{first.text} {date.text}")
        joined.append(date)
    return joined


def join_time(date: Span, attempt: Attempt, languages: tuple[str, str]) -> Span:
    """Returns a date joined with the time after it: `on May 5 at 10:30`."""
    source, target = (find_rules(code).day_phrases.get("on", "").split("|")[1:] for code in languages)
    link = re.compile(rf"(?P<pause>,)?\s(?(pause)|(?:{'|'.join(source) or '(?!)'})\s)").match(attempt.text, date.end)
    times = (span for span in attempt.spans if link and span.start == link.end())
    time = next((span for span in times if re.match(r"\d{1,2}:\d\d", span.text) or span.kind is SpanKind.TIME), None)
    if link is None or time is None or not (link["pause"] or target):
        return date
    return date._replace(end=time.end, text=f"{date.text}{link['pause'] or f' {target[0]}'} {time.text}")


def find_relation(before: str, language: str, *, has_day: bool) -> tuple[str, int]:
    """Returns the English name of the phrase at the end of a text, and where it begins; "" if there is none.

    A phrase that ends a range counts only after one that begins it.
    """
    article = find_rules(language).date_article
    for relation, phrase in list_phrases(language, has_day=has_day).items():
        match = re.search(rf"(?i)(?<!\w)(?:{phrase})(?: (?:{article}))?\s+$", before)
        if match and (relation != "to" or find_range_start(before[: match.start()], language)):
            return relation, match.start()
    return "", len(before)


@cache
def compile_relation(relation: str, language: str) -> re.Pattern[str]:
    """Returns the pattern of a language's phrases for a relation to a day or a month, with an article."""
    phrases = {list_phrases(language, has_day=has_day).get(relation, "") for has_day in (True, False)} - {""}
    listed = "|".join(sorted("|".join(phrases).split("|"), key=len, reverse=True))
    article = find_rules(language).date_article
    return re.compile(rf"(?i)(?<!\w)(?:{listed})(?: (?:{article}))?\s+") if phrases else NO_MATCH


def find_range_start(text: str, language: str) -> re.Match[str] | None:
    """Returns the first phrase of a text that begins a range of dates."""
    return compile_relation("from", language).search(text)


def list_phrases(language: str, *, has_day: bool) -> dict[str, str]:
    """Returns a language's phrases before a day or a month by their relation, those that end a range first."""
    rules = find_rules(language)
    phrases = rules.day_phrases if has_day else rules.month_phrases
    return dict(sorted(phrases.items(), key=lambda item: (item[0] != "to", -len(item[1]))))


@cache
def list_relating_words(language: str) -> frozenset[str]:
    """Returns the words of a language's phrases before a date."""
    phrases = (list_phrases(language, has_day=has_day).values() for has_day in (True, False))
    return frozenset(word for texts in phrases for text in texts for word in text.replace("|", " ").split())


def may_have_dates(text: str, language: str) -> bool:
    """Whether a text has a digit, or a phrase that begins a range."""
    return DIGIT.search(text) is not None or find_range_start(text, language) is not None


def find_dates(text: str, language: str) -> Iterator[Date]:
    """Yields the dates with a month name and a number, in the order of their patterns, then other ends of ranges."""
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
    """Yields the ends of ranges that lack a month or a number; a day takes the month of the other end."""
    begin, until = compile_relation("from", language), compile_relation("to", language)
    whole = {date.start: date for date in dates}
    covered = {index for date in dates for index in range(date.start, date.end)}

    def read_end(match: re.Match[str] | None) -> Date | None:
        if match is None or match.end() in whole:
            return match and whole[match.end()]
        end = compile_range_end(language, any_case=text.islower()).match(text, match.end())
        return read_date(end, calendar) if end is not None and is_in_month(end["day"]) else None

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
    *others, last = re.findall(r"\d+", parts.get("day") or "") or [None]
    is_list = bool(others) and not re.fullmatch(r"\d+ ?[–-] ?\d+", parts["day"])
    day = f"{', '.join(others)} & {last}" if is_list else parts.get("day")
    return Date(*match.span(), month, day, parts.get("year"))


def is_in_month(day: str | None) -> bool:
    """Whether a month can have these days; True if no day is named."""
    return all(1 <= int(number) <= LAST_DAY for number in re.findall(r"\d+", day or ""))


SHORTEST = 2  # letters of an abbreviation that is no other word's letter
LONGER = 2  # letters by which a form may be longer than the abbreviation: Tues, Thurs
CHAIN_MARK = r"\s?[-–/&+]\s?"  # within a chain: Mon-Fri
LINK = rf"{CHAIN_MARK}|,\s|\s(?:\w{{1,4}}|\w\.)\s"  # between days that show each other to be days: Sat and Sun
HOURS = r",?\s+\d{1,2}(?:[:.]\d\d|\s?[-–]\s?\d)"
CLAUSE_MARKS = rf"[{PAUSES}(|/]"
BEGINS_CLAUSE = rf"(?:^|{CLAUSE_MARKS})\s*$"
# Behind a day, before the end of a clause or what shops say; spans may be times.
ANY_HOURS = rf":?(?:\s[^\W\d_]{{2,5}})?\s[{COVERS}]+(?:\s?[–-]?\s?[{COVERS}]+)*"
FEWEST_IN_WEEK, LONGEST_WEEK = 3, 60  # days, and characters, of the head of a calendar


def find_weekdays(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    """Yields abbreviated days: `Mon-Fri`, `on Tue. at`, `Sat 9:00`; but not `The Sun is up`.

    Many abbreviations are also ordinary words. One therefore counts as a day only if it is the whole text, ends in a
    full stop within the sentence, or is next to a preposition, another such day, a time or a phrase from opening hours.
    """
    days = list(find_short_days(text, context.languages[0], context.is_word))
    target = load_calendar(context.languages[1])
    if target is None or not target.short_days:
        return
    if alone := find_entry(text, context, target):
        yield alone
        return
    chains: list[list[tuple[int, re.Match[str]]]] = []
    for number, match in days:
        if chains and re.fullmatch(CHAIN_MARK, text[chains[-1][-1][1].end() : match.start()]):
            chains[-1].append((number, match))
        else:
            chains.append([(number, match)])
    for chain in chains:
        yield write_chain(chain, text, target.short_days, context.languages)


WEEKDAYS = Kind(
    SpanKind.WEEKDAY,
    search=find_weekdays,
    cues=r"(?<![^\W_])[^\W\d_]{2,6}+(?:\.(?!\s*$)|\.?,?\s\d|\.?\s?[-–/&+]|\.?(?:,|\s\w{1,4})\s[A-ZÀ-Þ][a-zß-ÿ]{1,5}\b)"
    r"|(?<=\s)[A-ZÀ-Þ][a-zß-ÿ]{1,5}\W*$"
    rf"|(?:^|{CLAUSE_MARKS})\s*"
    r"[^\W\d_]{2,4}(?:\W*$|:?\s(?:\S{2,5}\s)?\d|:?\s[^\W\d_]+\b\W*(?:$|[,;\d])|\s[^\W\d_]{2,3}\s[^\W\d_]{2,3}\b)",
)


def find_entry(text: str, context: Context, target: Calendar) -> Span | None:
    """Returns the month name or abbreviated day that is a whole text, such as a calendar entry: `May`, `Sun`.

    Ignores names of both a month and a day, names of two letters, and abbreviated months that training has as words.
    """
    source, name = load_calendar(context.languages[0]), text.strip()
    if source is None or len(name) <= SHORTEST or (name.islower() and source.short_days[0][:1].isupper()):
        return None
    usual = [*zip(source.short_days, target.short_days, strict=True), *zip(source.alone, target.alone, strict=True)]
    names = zip(source.names, target.names, strict=True)
    months = [(here[1], there[1]) for here, there in names if min(len(here), len(there)) > 1]
    entries = [pair for pair in (*usual, *months) if re.fullmatch(rf"(?i:{re.escape(pair[0])})\.?", name)]
    is_word = context.is_word is not None and context.is_word(name)
    if len(entries) != 1 or (is_word and entries[0] in months):
        return None
    written = entries[0][1].rstrip(".") + "." if name.endswith(".") else entries[0][1]
    start = text.index(name)
    return Span(start, start + len(name), written.upper() if name.isupper() else written, SpanKind.WEEKDAY)


def write_chain(
    chain: Sequence[tuple[int, re.Match[str]]], text: str, short: Sequence[str], languages: tuple[str, str]
) -> Span:
    """Returns the days, joined by marks such as hyphens, as a single span; if there is only one day, its preposition is
    included: `am Fr.`
    """
    start, end = chain[0][1].start(), chain[-1][1].end()
    written, position = "", start
    for number, match in chain:
        name = short[number].upper() if match[0].rstrip(".").isupper() else short[number]
        stop = "." if match[0].endswith(".") and not name.endswith(".") else ""
        written += f"{text[position : match.start()]}{name}{stop}"
        position = match.end()
    relation, begin = find_relation(text[:start], languages[0], has_day=True)
    phrase = list_phrases(languages[1], has_day=True).get("on", "").partition("|")[0]
    if len(chain) > 1 or relation != "on" or not phrase:
        return Span(start, end, written, SpanKind.WEEKDAY)
    phrase = phrase.capitalize() if text[begin].isupper() else phrase
    return Span(begin, end, f"{phrase} {written}", SpanKind.WEEKDAY, replaces=list_relating_words(languages[1]))


def find_short_days(text: str, language: str, is_word: WordTest | None = None) -> Iterator[tuple[int, re.Match[str]]]:
    """Yields the abbreviated days of a text, each with its number, Monday being 0."""
    week = list(find_week(text, language, is_word))
    days = week or list(compile_short_days(language).finditer(text))
    linked = {
        match for pair in pairwise(days) if re.fullmatch(LINK, text[pair[0].end() : pair[1].start()]) for match in pair
    }
    rules = find_rules(language)
    month = rf",?\s+(?=(?:\S+\s+)?[\d{COVERS}])(?:[\d{COVERS}]+\.?\s+)?{write_month_pattern(language)}"
    before_time = re.compile(f"{HOURS}|{month}|,?\\s+(?:{rules.clock or '(?!)'})")
    opening = rf"(?i::?\s(?:{rules.opening})\b)" if rules.opening else "(?!)"
    of_shop = re.compile(rf"{ANY_HOURS}(?:$|[,;.)|/]|{opening})|{opening}")
    sure = {
        match
        for match in days
        if match in linked
        or match[0].endswith(".")
        or match in week
        or before_time.match(text, match.end())
        or find_relation(text[: match.start()], language, has_day=True)[0] == "on"
        or (of_shop.match(text, match.end()) and re.search(BEGINS_CLAUSE, text[: match.start()]))
    }
    before_span = re.compile(rf",?\s+[{COVERS}]")  # which may be a time
    for match in days:
        if match in sure or (sure and before_span.match(text, match.end())):
            yield int((match.lastgroup or "")[1:]), match


def find_week(text: str, language: str, is_word: WordTest | None = None) -> Iterator[re.Match[str]]:
    """Yields the days in the heading of a calendar, `Su Mo Tu We Th Fr Sa`, or of a column: `Thu`."""
    words = list(re.finditer(r"[^\s|]+", text)) if len(text) <= LONGEST_WEEK else []
    is_head = len(words) >= FEWEST_IN_WEEK or (len(words) == 1 and is_word is not None and not is_word(words[0][0]))
    pattern = compile_short_days(language, SHORTEST) if is_head else NO_MATCH
    days = [pattern.fullmatch(text, *word.span()) for word in words]
    yield from (match for match in days if match is not None and None not in days)


@cache
def compile_short_days(language: str, letters: int | None = None) -> re.Pattern[str]:
    """Returns the pattern of abbreviated days, in groups `d0` to `d6`; it matches none where a single letter is a day.

    With `letters`, days may be cut to that many letters.
    """
    calendar = load_calendar(language)
    short = [name.rstrip(".") for name in calendar.short_days] if calendar is not None else []
    if calendar is None or not short or min(map(len, short)) < SHORTEST:
        return NO_MATCH
    groups = []
    for number, (name, names) in enumerate(zip(short, calendar.days, strict=True)):
        longer = {full[: len(name) + more] for full in names for more in range(1, LONGER + 1) if full.startswith(name)}
        forms = {
            written for form in {name, name[:letters], *longer} for written in (form, form.capitalize(), form.upper())
        }
        groups.append(f"(?P<d{number}>{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})")
    opening = find_rules(language).opening or "(?!)"
    stop = rf"{INNER_STOP}|\.(?=\s+(?:[{COVERS}]|(?i:{opening})\b))"
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(groups)})(?![^\W_])(?:{stop})?")


@cache
def compile_full_days(language: str) -> re.Pattern[str]:
    """Returns the pattern of days in full, in groups `d0` to `d6`; it matches none without phrases for days."""
    calendar = load_calendar(language) if find_rules(language).day_phrases else None
    if calendar is None:
        return NO_MATCH
    forms = (
        [form for name in names for form in (name, name[0].upper() + name[1:], name.upper())] for names in calendar.days
    )
    groups = [f"(?P<d{number}>{'|'.join(map(re.escape, some))})" for number, some in enumerate(forms)]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(groups)})(?![^\W_])")
