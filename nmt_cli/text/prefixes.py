"""Finds which of many entries stand at a place of a text, in time that hardly grows with their number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class PrefixIndex:
    """Entries in order, each with the longest other one that it begins with."""

    def __init__(self, entries: Iterable[str]) -> None:
        self.entries = sorted(set(entries))
        self.longest = max(map(len, self.entries), default=0)
        self.shorter: list[int] = []  # the numbers of these other entries; -1 if there is none
        enclosing: list[int] = []
        for number, entry in enumerate(self.entries):
            while enclosing and not entry.startswith(self.entries[enclosing[-1]]):
                enclosing.pop()
            self.shorter.append(enclosing[-1] if enclosing else -1)
            enclosing.append(number)

    def find_at(self, text: str, start: int) -> Iterator[str]:
        """Yields the entries that stand at `start`, longest first."""
        text = text[start : start + self.longest]
        number = bisect_right(self.entries, text) - 1  # whatever stands there begins this entry, or is it
        while number >= 0:
            if text.startswith(self.entries[number]):
                yield self.entries[number]
            number = self.shorter[number]
