"""Parallel files: one per language; lines with the same number are translations of each other."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import zip_longest
from typing import NoReturn

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError
from nmt_cli.text.wrapping import format_count


class ParallelReader(Reader):
    guesses_encoding = True
    expects = "one sentence per line"

    def read_rows(self) -> Iterator[Row]:
        lengths = (array("i"), array("i"))  # characters of each line so far, to find where the files diverge
        sides = [stream.read_lines() for stream in self.streams]
        for line, (source, target) in enumerate(zip_longest(*sides), start=1):
            if source is None or target is None:
                self.refuse_unequal(lengths, sides)
            lengths[0].append(len(source[1]))
            lengths[1].append(len(target[1]))
            yield Row(line, source[1].rstrip("\r\n"), target[1].rstrip("\r\n"))

    def refuse_unequal(
        self, lengths: tuple[array[int], array[int]], sides: list[Iterator[tuple[int, str]]]
    ) -> NoReturn:
        """Raises a DataError that says how many lines each file has, and where they diverge."""
        from nmt_cli.corpus.checks.shifted import find_shifts  # numpy, which reading does not need

        for lines in sides:
            for _ in lines:
                pass
        first, second = self.streams
        shifts = find_shifts(*lengths)
        where = f"the lines seem to be shifted from about line {shifts[0].first + 1:,} on" if shifts else ""
        raise DataError(
            f"{first.name} has {format_count(first.lines_seen, 'line')}, {second.name} has {second.lines_seen:,}",
            hint=where or "the files must match line by line; one of them is truncated or has extra lines",
        )
