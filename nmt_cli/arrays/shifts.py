"""Finds where lines and their translations are shifted against each other, by their lengths.

The length of a translation correlates with that of its source. If the lengths correlate only after one side is moved by
a few lines, the lines are shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import iterate_blocks
from nmt_cli.arrays.types import IntArray

WINDOW = 100  # lines whose lengths are correlated at a time
LARGEST_OFFSET = 10  # lines
LEAST_CORRELATION = 0.5  # with one side moved ...
LEAST_GAIN = 0.3  # ... and how much more than without


@dataclass(frozen=True)
class Shift:
    """The rows from `first` up to `end` (exclusive), whose targets come `lines` too late (too early if negative)."""

    first: int
    end: int
    lines: int


def find_shifts(source: Sequence[int] | NDArray[np.int32], target: Sequence[int] | NDArray[np.int32]) -> list[Shift]:
    """Returns the shifts between two sides, in order, given the lengths of their lines."""
    number = min(len(source), len(target))
    if number < 2 * WINDOW:
        return []
    lengths = np.asarray(source)[:number], np.asarray(target)[:number]
    shifts = []
    best = find_best_offsets(*lengths)
    for first, end in find_runs(best):
        start, stop = refine_shift(*lengths, int(best[first]), first, end + WINDOW)
        shifts.append(Shift(start, stop, int(best[first])))
    return shifts


def find_best_offsets(source: IntArray, target: IntArray) -> NDArray[np.int8]:
    """Returns (N - WINDOW + 1,): by how many lines each window is shifted; 0 unless another offset fits far better."""
    best = np.zeros(len(source) - WINDOW + 1, np.int8)
    for block in iterate_blocks(len(best)):
        lines = slice(block.start, block.stop + WINDOW - 1)
        unshifted = correlate_windows(source, target, lines, 0)
        highest = unshifted.copy()
        for offset in (sign * by for by in range(1, LARGEST_OFFSET + 1) for sign in (1, -1)):
            moved = correlate_windows(source, target, lines, offset)
            better = moved > highest
            highest[better], best[block][better] = moved[better], offset
        best[block][(highest < LEAST_CORRELATION) | (highest - unshifted < LEAST_GAIN)] = 0
    return best


def correlate_windows(source: IntArray, target: IntArray, lines: slice, offset: int) -> NDArray[np.float64]:
    """Returns, for each window within these `lines`, Pearson's correlation with the target `offset` lines later."""
    values, moved = take_logarithms(source, lines), take_logarithms(target, lines, offset)
    sums = [sum_windows(part) for part in (values, moved, values * values, moved * moved, values * moved)]
    covariance = sums[4] - sums[0] * sums[1] / WINDOW
    variances = (sums[2] - sums[0] ** 2 / WINDOW) * (sums[3] - sums[1] ** 2 / WINDOW)
    return np.asarray(covariance / np.sqrt(np.maximum(variances, 1e-6)))


def take_logarithms(lengths: IntArray, lines: slice, offset: int = 0) -> NDArray[np.float64]:
    """Returns the logarithms of the lengths `offset` lines after these `lines`; the first line follows the last."""
    rows = np.arange(lines.start + offset, lines.stop + offset)
    return np.asarray(np.log1p(lengths[rows % len(lengths)].astype(np.float64)))


def sum_windows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns (N - WINDOW + 1,): the sum of `values` (N,) in each window."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[WINDOW:] - total[:-WINDOW])


def find_runs(best: NDArray[np.int8]) -> list[tuple[int, int]]:
    """Returns the first and last window of each run of at least WINDOW / 2 windows with the same nonzero offset."""
    edges = np.flatnonzero(np.diff(best)) + 1
    bounds = [0, *edges.tolist(), len(best)]
    return [(first, end - 1) for first, end in pairwise(bounds) if best[first] and end - first >= WINDOW // 2]


def refine_shift(source: IntArray, target: IntArray, offset: int, first: int, end: int) -> tuple[int, int]:
    """Returns the bounds of a shift, within a few lines: where moved lengths start and stop fitting better."""

    def measure_gain(line: int) -> tuple[int, NDArray[np.float64]]:
        lines = slice(max(line - WINDOW, 0), min(line + WINDOW, len(source)))
        values, unmoved = take_logarithms(source, lines), take_logarithms(target, lines)
        moved = take_logarithms(target, lines, offset)
        return lines.start, np.abs(values - unmoved) - np.abs(
            values - moved
        )  # positive where the moved one fits better

    low, gain = measure_gain(first)
    start = low + int(np.argmin(np.cumsum(gain))) + 1
    start = 0 if first == 0 else start
    low, gain = measure_gain(end)
    stop = low + int(np.argmax(np.cumsum(gain))) + 1
    return start, (len(source) if end >= len(source) - 1 else stop)
