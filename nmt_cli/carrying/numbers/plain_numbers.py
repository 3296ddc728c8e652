"""Numbers of three digits, or with marks: `1984`, `12/10/2019`, `+49 30 1234`.

Plain numbers of one or two digits are excluded: languages often spell them, so the network translates them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.kind import Attempt, Context, LostKind
from nmt_cli.carrying.numbers.notation import NumericKind
from nmt_cli.carrying.numbers.patterns import (
    AFTER,
    BEFORE,
    COMPARISON,
    MINUS,
    NUMBER_WITH_SIGNS,
    OPTIONAL_MINUS,
    WORD_LETTER,
)
from nmt_cli.carrying.spans import DIGIT, PLACEHOLDER_PATTERN, Span, SpanKind
from nmt_cli.text.characters import OPENING, THIN_BLANKS

NUMBERS = NumericKind(
    SpanKind.NUMBER,
    patterns=(
        rf"{COMPARISON}[{MINUS}]?{NUMBER_WITH_SIGNS}{AFTER}",
        # Telephone numbers: with a country code, with a leading zero, or with an area code in brackets.
        rf"(?<![\w+])(?=\+?\(?\d(?:[^\d\n]{{0,3}}\d){{5}})"
        rf"(?:\+\d{{1,3}}(?: \(?\d{{1,4}}\)?)?|\(0\d{{1,5}}\)|0\d{{1,5}}|\(\d{{3}}\)(?= ?\d{{3}}-\d{{4}}))"
        rf"(?:(?:[ /.-]| ?[/-] ?)?\(?\d{{2,12}}\)?){{1,7}}{AFTER}",
        # Thousands apart: by thin blanks or apostrophes, or by blanks where nothing else is meant (60 000, 1 234 567).
        rf"{BEFORE}{OPTIONAL_MINUS}\d{{1,3}}(?:(?:[{THIN_BLANKS}'’]\d{{3}}){{1,6}}|(?: \d{{3}}){{2,6}}| 000)(?!\d)"
        rf"(?:[.,]\d{{1,20}})?{AFTER}",
        # Digits with marks between: dates, times, decimals, versions, fractions, ranges, addresses of machines.
        rf"{BEFORE}{OPTIONAL_MINUS}\d{{1,20}}+(?:[.,:/–-]\d{{1,20}}+){{1,12}}{AFTER}",
        # Three digits or more, a leading zero, or a sign.
        rf"{BEFORE}{OPTIONAL_MINUS}(?:\d{{3,}}+|0\d++){AFTER}",
        rf"(?<![^\s{re.escape(OPENING)}])[{MINUS}]\d{{1,2}}(?![\d{WORD_LETTER}])",
    ),
    signs=r"\d",
)


class ChoiceNumbers(NumericKind):
    """The number signs in the texts of a choice, which stand for its number."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        if context.in_choice:
            yield from (self.make_span(match.start(), "#") for match in re.finditer("#", text))


class SmallNumbers(LostKind, NumericKind):
    """Numbers of one or two digits.

    All of a sentence are carried, since another search may lose others; without room for all, the lost ones first.
    """

    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        from nmt_cli.carrying.numbers.number_text import NUMBER as DIGITS
        from nmt_cli.carrying.numbers.ordinals import find_lost_decades
        from nmt_cli.carrying.numbers.values import compare_numbers, list_uncertain  # which few lines need

        covered = attempt.covered
        if not DIGIT.search(covered):
            return []
        target = PLACEHOLDER_PATTERN.sub(" ", attempt.target)
        lost = compare_numbers(covered, target, *context.languages).missing
        lost = (*lost, *find_lost_decades(covered, target, context.languages))
        if not lost and context.carries:
            lost = list_uncertain(covered, target, context.languages)
        numbers = sorted(DIGITS.finditer(covered), key=lambda match: match[0] not in lost) if lost else []
        return [self.read_number(number, context) for number in numbers]

    def read_number(self, number: re.Match[str], context: Context) -> Span:
        """Returns the span of a number, which following letters may make an ordinal or a decade."""
        from nmt_cli.carrying.numbers.ordinals import find_ending  # which few texts need

        end, ending = find_ending(number.string, number.end(), number[0], context.languages)
        start = number.start() - bool(ending and re.search(r"(?<!\w)['’]$", number.string[: number.start()]))
        return Span(start, end, number[0] + ending, self.name, self.form == "taken out")


SMALL_NUMBERS = SmallNumbers(SpanKind.NUMBER, signs=r"\d", fault="numbers", remedy="protected number")
CHOICE_NUMBERS = ChoiceNumbers(SpanKind.NUMBER, signs="#")
