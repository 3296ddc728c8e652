"""Rows to search results: sentences of similar length in batches, several batches at a time. Knows no text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt_cli.search.config import SearchConfig

Progress = Callable[[int], None]
ROWS = 512  # rows of a step at most: what is computed of more does not stay in the cache of a core
OVERHEAD = 64  # rows that take as long as what a step takes whatever its rows
POSITIONS = 30_000  # rows x source positions at most, which bounds memory whatever the length of a line
CELLS = 2_000_000  # rows x tokens of the vocabulary at most, where a step is asked for every token


def batches(lengths: Sequence[int], config: SearchConfig, rows: int = ROWS) -> list[list[int]]:
    """Indices of the lines with any tokens, longest first, in batches that bound the work of one step.

    A batch ends before its padding costs more than the steps of another.
    """
    result: list[list[int]] = []
    width = padding = longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        length = lengths[index]
        if length == 0:
            break
        if not result or len(result[-1]) >= width or padding * config.rows > OVERHEAD * length:
            result.append([])
            width = max(1, min(rows, POSITIONS // length) // config.rows)
            padding, longest = 0, length
        result[-1].append(index)
        padding += longest - length
    return result
