"""Number notation: a key that equates two spellings of a number, and conversion to the target's notation.

Knows only text; the marks used by each side are learned from a corpus (`profile`) and passed in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.numbers.number_text import HALF_DAY
from nmt_cli.carrying.spans import Span
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import THIN_BLANKS

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile, NumberMarks

# Patterns as text: compiled at their first use.
BETWEEN_DIGITS = r"(?<=\d)[.,:'’\s]+(?=\d)"
WRITTEN = (
    r"(?<![^\W_])(?<![\d.,:/'’])(?<![^\W\d_]-)(?<![^\W\d_]\d-)"
    rf"\d+(?:[.,'’{THIN_BLANKS} ]\d+)*(?![.,:/'’]?\d)(?!-\d+-)"
)
MINUS_AS_HYPHEN = str.maketrans("−–", "--")
WORD_BEFORE_NUMBER = r"([^\W\d_]+)\.?[ \u00a0]$"
CAPTURED_TIME = r"(\d{1,2})(?:[:.]([0-5]\d))?"
HALF_OF_DAY = rf"[ {THIN_BLANKS}]?([ap])\.?m\b\.?"
TIME_OF_DAY = rf"(?i)([(\[]?)(?:{CAPTURED_TIME}(?:{HALF_OF_DAY})?( ?[-–] ?))?{CAPTURED_TIME}{HALF_OF_DAY}([)\]]?)"
END_OF_RANGE = rf"(?i) \w{{2,5}} {CAPTURED_TIME}[ {THIN_BLANKS}]?([ap])\.?m\b"  # behind its beginning: 5 to 6 p.m.
GROUPS = rf"\d{{1,3}}(?:([.,'’{THIN_BLANKS} ])\d{{3}})(?:\1\d{{3}})*"
NEAR = 20  # characters behind a number that may say what it is: 5 to 6 p.m.


class NumericKind(Kind):
    """A kind of span made of digits, written with the target's marks, except versions."""

    def write(self, span: Span, text: str, context: Context) -> str:
        if context.write_number is None or is_label(text, span.start, context.languages[0]):
            return span.text
        return context.write_number(span.text, text[span.end : span.end + NEAR])


class NumberNotation(NamedTuple):
    """The known marks in source numbers, and how the target writes them."""

    decimal: str | None  # of the source
    thousands: str | None  # of the source
    marks: NumberMarks
    target_language: str = ""

    @classmethod
    def from_profile(cls, profile: CorpusProfile | None, target_language: str = "") -> NumberNotation | None:
        """Returns the notation learned from a corpus; None if it shows nothing about numbers."""
        if profile is None or profile.source is None:
            return None
        return cls(profile.source.decimal_mark, profile.source.thousands_mark, profile.marks, target_language)

    def convert(self, text: str, following: str = "") -> str:
        """Returns an amount or a number in the target's notation; unchanged if the corpus does not show it.

        5 p.m. becomes 17:00 in a language with a 24-hour day, and so does 5 if `following` is ` to 6 p.m.`.
        """
        time = convert_time(text, following) if self.target_language else None
        if time is not None and find_rules(self.target_language).hours == 24:
            return time
        return re.sub(WRITTEN, lambda match: self.convert_number(match[0]), text)

    def convert_number(self, number: str) -> str:
        """Converts digits with marks; either both marks of a number change, or neither."""
        whole, decimal, fraction = split_number(number, self.decimal, self.thousands)
        thousands = next((character for character in whole if not character.isdigit()), "")
        new_decimal = self.marks.find_target_decimal(decimal) if decimal else ""
        new_thousands = self.marks.find_target_thousands(thousands) if thousands else ""
        if new_decimal is None or new_thousands is None or (new_decimal and new_decimal == new_thousands):
            return number
        return (whole.replace(thousands, new_thousands) if thousands else whole) + new_decimal + fraction


def convert_time(text: str, following: str) -> str | None:
    """Converts a 12-hour time, or a range of them, to 24 hours; None for anything else.

    The text may also begin a range whose end is in `following`.
    """
    beginning = re.fullmatch(CAPTURED_TIME, text)
    if beginning is not None:
        end = re.match(END_OF_RANGE, following)
        return write_time(beginning[1], beginning[2], end[1], end[3]) if end else None
    time = re.fullmatch(TIME_OF_DAY, text)
    if time is None:
        return None
    opening, first_hour, first_minute, first_half, dash, hour, minute, half, closing = time.groups()
    until = (first_hour, first_half) if first_half else (hour, half)
    first = write_time(first_hour, first_minute, *until) if first_hour else ""
    last = write_time(hour, minute, hour, half)
    return f"{opening}{first}{dash or ''}{last}{closing}" if first is not None and last is not None else None


def write_time(hour: str, minute: str | None, last: str, half: str) -> str | None:
    """Returns a time in 24 hours, in the same half of the day as the `last` hour or in the one before.

    From 9 to 5 p.m. is from 9:00 to 17:00. None for an hour that does not exist in a 12-hour clock.
    """
    if not (0 < int(hour) <= HALF_DAY and 0 < int(last) <= HALF_DAY):
        return None
    is_in_other_half = int(hour) % HALF_DAY > int(last) % HALF_DAY
    return f"{int(hour) % HALF_DAY + HALF_DAY * ((half in 'pP') != is_in_other_half)}:{minute or '00'}"


def is_label(text: str, start: int, language: str) -> bool:
    """Whether the number at `start` is a name, whose marks must not change: `version 3.1`."""
    word = re.search(WORD_BEFORE_NUMBER, text[max(0, start - 24) : start])
    return word is not None and word[1].lower() in find_rules(language).labels


def split_number(number: str, decimal: str | None, thousands: str | None) -> tuple[str, str, str]:
    """Splits a number into whole part, decimal mark and fraction; the latter two may be empty.

    `decimal` and `thousands` are the usual marks of its side. Anything but a plain number (a date, a version) is whole,
    without a mark that could change.
    """
    marks = re.sub(r"\d", "", number)
    if not marks:
        return number, "", ""
    # 1. The last mark is that of the decimals if it is another one than those before it.
    whole, last, fraction = re.split(r"([^\d])(?=\d+$)", number)
    grouped = re.fullmatch(GROUPS, number)
    if len(marks) > 1:
        is_decimal = last in ".," and (groups := re.fullmatch(GROUPS, whole)) is not None and groups[1] != last
        return (whole, last, fraction) if is_decimal else ((number, "", "") if grouped else as_one_number(number))
    # 2. A single mark before three digits may be either: what is usual decides.
    if last == decimal and last != thousands:
        return whole, last, fraction
    if grouped and whole != "0" and (last == thousands or last not in ".,"):
        return number, "", ""
    return as_one_number(number)


def as_one_number(number: str) -> tuple[str, str, str]:
    """Returns the parts of a number that must not change: all of it counts as the fraction."""
    return "", "", number


def make_number_key(text: str) -> str:
    """Returns the key of a number or amount, without the marks and blanks in which languages differ.

    >>> make_number_key("1,000.5 kg") == make_number_key("1 000,5kg")
    True
    """
    return "".join(re.sub(BETWEEN_DIGITS, "", text).translate(MINUS_AS_HYPHEN).split())
