"""Reads the numbers of a text, with all their possible values, in digits of any script. Knows only text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from nmt_cli.carrying.references import REFERENCE
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import THIN_BLANKS

NUMBER = re.compile(rf"\d{{1,3}}(?:[ {THIN_BLANKS}]\d{{3}})+(?!\d)|\d+(?:[.,'’]\d+)*")
FULL_HOUR = re.compile(r"(?<=\d:)00(?![\d:])")  # 9:00 is 9 a.m.
CLOCK = r"(?<!\d)\d{1,2}[:h][0-5]\d(?!\d)"
DECADE_YEARS, CENTURY = 10, 100
HALF_DAY = 12  # hours
LONGEST_WHOLE = 100  # digits; converting them takes time that grows with their square


class NumberToken(NamedTuple):
    """A number in a text."""

    text: str  # as it stands there
    groups: tuple[int, ...]  # what its separators part
    values: frozenset[Decimal]  # its possible values; exact, however many digits it has

    @property
    def whole(self) -> int | None:
        """The greatest possible whole value, or None; nobody spells a number of more than LONGEST_WHOLE digits."""
        short = (value for value in self.values if value.adjusted() < LONGEST_WHOLE)
        return max((int(value) for value in short if value == int(value)), default=None)


class NumberText(NamedTuple):
    """A text and its language code, for comparing numbers."""

    text: str
    language: str

    @classmethod
    def read(cls, text: str, language: str) -> NumberText:
        return cls(unicodedata.normalize("NFKC", drop_other_digits(text)), language)

    @property
    def numbers(self) -> list[NumberToken]:
        """The numbers written in digits of any script."""
        return [read_number(match[0]) for match in NUMBER.finditer(FULL_HOUR.sub("", self.text))]

    @property
    def tells_time(self) -> bool:
        """Whether a number of the text is a time of day."""
        clocks = filter(None, (CLOCK, find_rules(self.language).clock))
        return re.search("|".join(clocks), self.text, re.IGNORECASE) is not None

    @property
    def tells_full_hour(self) -> bool:
        """Whether it tells an hour of the afternoon in digits, to which nobody adds a half in words: 14 Uhr."""
        hours = rf"(?<![\d:.])[12](?:{find_rules(self.language).clock})"
        heads = (match[0][:2] for match in re.finditer(hours, self.text, re.IGNORECASE))
        return any(head.isdecimal() and int(head) > HALF_DAY for head in heads)

    def list_readings(self, token: NumberToken, *, has_clock: bool) -> set[int]:
        """Returns the whole numbers that a number of the text may mean: 70 for the 1970s, 17 for 5 p.m."""
        readings = self.list_decade(token)
        hour = token.groups[0]
        if has_clock and hour <= 24 and len(token.groups) <= 2:
            readings |= {hour} | {hour + shift for shift in (HALF_DAY, -HALF_DAY) if hour + shift > 0}
        return readings

    def list_decade(self, token: NumberToken) -> set[int]:
        """Returns the whole number and, for a decade, also the number without its century."""
        if token.whole is None:
            return set()
        endings = find_rules(self.language).decade_endings if token.whole % DECADE_YEARS == 0 else ""
        is_decade = endings and re.search(rf"{re.escape(token.text)}(?:{endings})\b", self.text)
        return {token.whole, token.whole % CENTURY} if is_decade else {token.whole}

    def drop_bare_decade(self, readings: Iterable[int], token: NumberToken) -> set[int]:
        """Returns the readings that this text may write in digits: 90 for the 1990s only as 90er, in German."""
        short = token.whole % CENTURY if token.whole is not None else 0
        is_bare = short != token.whole and not re.search(rf"(?<!\d){short}['’-]?[^\W\d_]", self.text)
        return {*readings} - {short} if is_bare and find_rules(self.language).decade_endings else {*readings}


def drop_other_digits(text: str) -> str:
    """Removes digits that are no numbers: those in placeholders and references (`&#39;`).

    Separates a single-character fraction from the number before it: 1½ is not 11/2.
    """
    text = PLACEHOLDER_PATTERN.sub(" ", text)
    text = text if text.isascii() else re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)
    return REFERENCE.sub("'", text) if "&#" in text else text


def read_number(text: str) -> NumberToken:
    """Returns a number with all its readings: separators may mark thousands, a fraction, or separate numbers."""
    parts = re.split(r"\D", text)
    values: set[Decimal] = set()
    if len(parts) == 1 or (len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])):
        values.add(Decimal("".join(parts)))
    if len(parts) > 1:
        values.add(Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return NumberToken(text, tuple(int(Decimal(part)) for part in parts), frozenset(values))
