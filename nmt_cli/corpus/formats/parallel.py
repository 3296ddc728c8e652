"""Two files, the sentences of one language in each, a line of one the translation of the same line of the other."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import zip_longest
from typing import NoReturn

from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.errors import DataError


class ParallelReader(Reader):
    expects = "a sentence a line"

    def read_rows(self) -> Iterator[Row]:
        lengths = (array("i"), array("i"))  # characters of the lines so far, to find where the files come apart
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
        """Raises the DataError that says how many lines each has, and from which on they no longer belong together."""
        from nmt_cli.corpus.checks.shifted import find_shifts  # numpy, which reading does not need

        for rest in sides:
            for _ in rest:
                pass
        first, second = self.streams
        shifts = find_shifts(*lengths)
        where = f"the lines seem to be shifted from about line {shifts[0].first + 1:,} on: look there" if shifts else ""
        raise DataError(
            f"{first.name} has {first.lines_seen:,} lines, {second.name} has {second.lines_seen:,}",
            hint=where or "line by line they must belong together; one of them is cut or has a line too many",
        )
