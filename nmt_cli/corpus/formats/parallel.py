"""Parallel files: one per language; lines with the same number are translations of each other."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence, Sized
from functools import cached_property
from itertools import zip_longest
from typing import NoReturn

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import format_count


class ParallelReader(Reader):
    guesses_encoding = True
    expects = "one sentence per line"
    has_parts = True

    @cached_property
    def lengths(self) -> tuple[array[int], array[int]]:
        """The lengths of the lines so far, from which it is found where the files diverge."""
        return array("i"), array("i")

    def measure_lines(self, *sides: Sequence[Sized]) -> None:
        for lengths, lines in zip(self.lengths, sides, strict=True):
            lengths.extend(map(len, lines))

    def read_rows(self) -> Iterator[Row]:
        sides = [stream.read_lines() for stream in self.streams]
        for source, target in zip_longest(*sides):
            if source is None or target is None:
                self.refuse_unequal(sides)
            self.measure_lines([source[1]], [target[1]])
            yield from self.parse_lines([source], [target])

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for (line, source), (_, target) in zip(*sides, strict=True):
            yield Row(line, source.rstrip("\r\n"), target.rstrip("\r\n"))

    def refuse_unequal(self, sides: list[Iterator[tuple[int, str]]]) -> NoReturn:
        """Raises a DataError that says how many lines each file has, and where they diverge."""
        from nmt_cli.corpus.checks.shifted import find_shifts  # numpy, which reading does not need

        for lines in sides:
            for _ in lines:
                pass
        first, second = self.streams
        shifts = find_shifts(*self.lengths)
        where = f"the lines seem to be shifted from about line {shifts[0].first + 1:,} on" if shifts else ""
        raise DataError(
            f"{first.name} has {format_count(first.lines_seen, 'line')}, {second.name} has {second.lines_seen:,}",
            hint=where or "the files must match line by line; one of them is truncated or has extra lines",
        )
