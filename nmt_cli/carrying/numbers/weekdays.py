"""Abbreviated days: `Mon-Fri` becomes `Mo-Fr`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.numbers.calendars import load_calendar
from nmt_cli.carrying.numbers.dates import find_relation, list_phrases, list_relating_words
from nmt_cli.carrying.numbers.patterns import INNER_STOP
from nmt_cli.carrying.spans import COVERS, Span, SpanKind
from nmt_cli.languages.rules import find_rules

SHORTEST = 2  # letters of an abbreviation that is no other word's letter
LONGER = 2  # letters by which a form may be longer than the abbreviation: Tues, Thurs
CHAIN_MARK = r"\s?[-–/&+]\s?"  # within a chain: Mon-Fri
LINK = rf"{CHAIN_MARK}|,\s|\s\w{{1,4}}\s"  # between days that show each other to be days: Sat and Sun
HOURS = r",?\s+\d{1,2}(?:[:.]\d\d|\s?[-–]\s?\d)"


class WeekdayKind(Kind):
    """Abbreviated days: `Mon-Fri`, `on Tue. at`, `Sat 9:00`; but not `The Sun is up`.

    They need a full stop within the sentence, a preposition, another such day or a time beside them, since many are
    words too.
    """

    def find(self, text: str, context: Context) -> Iterator[Span]:
        days = list(find_short_days(text, context.languages[0]))
        target = load_calendar(context.languages[1]) if days else None
        if target is None or not target.short_days:
            return
        chains: list[list[tuple[int, re.Match[str]]]] = []
        for number, match in days:
            if chains and re.fullmatch(CHAIN_MARK, text[chains[-1][-1][1].end() : match.start()]):
                chains[-1].append((number, match))
            else:
                chains.append([(number, match)])
        for chain in chains:
            yield write_chain(chain, text, target.short_days, context.languages)


WEEKDAYS = WeekdayKind(
    SpanKind.WEEKDAY,
    cues=r"(?<![^\W_])[^\W\d_]{2,6}+(?:\.(?!\s*$)|\.?,?\s\d|\.?\s?[-–/&+]|\.?(?:,|\s\w{1,4})\s[A-ZÀ-Þ][a-zß-ÿ]{1,5}\b)"
    r"|(?<=\s)[A-ZÀ-Þ][a-zß-ÿ]{1,5}\W*$",
)


def write_chain(
    chain: Sequence[tuple[int, re.Match[str]]], text: str, short: Sequence[str], languages: tuple[str, str]
) -> Span:
    """Returns the span of days between which marks stand; a day alone brings its preposition: `am Fr.`"""
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


def find_short_days(text: str, language: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yields the abbreviated days of a text, each with its number, Monday being 0."""
    pattern = compile_short_days(language)
    matches = list(pattern.finditer(text)) if pattern is not None else []
    linked = {
        match
        for pair in pairwise(matches)
        if re.fullmatch(LINK, text[pair[0].end() : pair[1].start()])
        for match in pair
    }
    clock = find_rules(language).clock
    before_time = re.compile(f"{HOURS}|,?\\s+(?:{clock})" if clock else HOURS)
    sure = {
        match
        for match in matches
        if match in linked
        or match[0].endswith(".")
        or before_time.match(text, match.end())
        or find_relation(text[: match.start()], language, has_day=True)[0] == "on"
    }
    before_span = re.compile(rf",?\s+[{COVERS}]")  # which may be a time
    for match in matches:
        if match in sure or (sure and before_span.match(text, match.end())):
            yield int((match.lastgroup or "")[1:]), match


@cache
def compile_short_days(language: str) -> re.Pattern[str] | None:
    """Returns the pattern of abbreviated days, in groups `d0` to `d6`; None where single letters are days."""
    calendar = load_calendar(language)
    short = [name.rstrip(".") for name in calendar.short_days] if calendar is not None else []
    if calendar is None or not short or min(map(len, short)) < SHORTEST:
        return None
    groups = []
    for number, (name, names) in enumerate(zip(short, calendar.days, strict=True)):
        longer = {full[: len(name) + more] for full in names for more in range(1, LONGER + 1) if full.startswith(name)}
        forms = {written for form in {name, *longer} for written in (form, form.capitalize(), form.upper())}
        groups.append(f"(?P<d{number}>{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})")
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(groups)})(?![^\W_])(?:{INNER_STOP})?")
