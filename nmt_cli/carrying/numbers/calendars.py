"""How languages write dates: the names of months and days, and the orders of 158 languages (`languages.cldr`)."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

MONTH_ENDING = 2  # letters of a month's name that its inflected forms may change,
SHORT_NAME = 4  # unless it has as few letters: Maybe is not in May


class Date(NamedTuple):
    """A date in a text, from `start` to `end`; the day or the year may be missing, in a range both."""

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
    days: tuple[tuple[str, ...], ...]  # the names of each day in full, Monday first
    short_days: tuple[str, ...]

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

    def writes_so(self, date: str) -> bool:
        """Whether a text is a date in the language's order, with its mark behind a day that comes first."""
        if re.match(r"\d{1,2}(?!\d)", date) is None:
            return date[0].isdigit() or not self.day_pattern.startswith("{day}")
        return ("{day}." in self.day_pattern) == (re.match(r"[\d –-]+\.", date) is not None)

    def write(self, date: Date) -> str:
        """Returns a date as written in full."""
        month, alone = self.months[date.month - 1], self.alone[date.month - 1]
        if not (date.day or date.year):
            return alone
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
    alone, days = tuple(content.get("alone", months)), tuple(map(tuple, content["days"]))
    day, full, year = content["patterns"]
    return Calendar(names, months, alone, day, full, year, days, tuple(content["short_days"]))
