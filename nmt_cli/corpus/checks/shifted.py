"""The check of shifted lines: one side lost or gained a line, and from there on nothing belongs together.

Translations are about as long as their sources, so the lengths of both sides go up and down together. Where they do so
only with one side moved by some lines, the lines are shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CorpusCheck, Found
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs

WINDOW = 100  # lines whose lengths are compared
FARTHEST = 10  # lines that one side may be ahead
LEAST = 0.5  # correlation with the one side moved ...
MARGIN = 0.3  # ... and by how much more that is than without


@dataclass(frozen=True)
class Shift:
    """Rows from `first` up to `end` (not included) in which the target is `lines` too late (or too early, if < 0)."""

    first: int
    end: int
    lines: int


class Shifted(CorpusCheck):
    name = "shifted"
    problem = "lines shifted: source and target do not belong together"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        facts, is_shifted, notes = pairs.facts, np.zeros(len(pairs), dtype=np.bool_), []
        for number, name in enumerate(pairs.input_names):
            rows = np.flatnonzero(facts.input_numbers == number)
            for shift in find_shifts(facts.source_lengths[rows], facts.target_lengths[rows]):
                is_shifted[rows[shift.first : shift.end]] = True
                first, last = facts.line_numbers[rows[shift.first]], facts.line_numbers[rows[shift.end - 1]]
                by = f"{abs(shift.lines)} line{'s' if abs(shift.lines) > 1 else ''}"
                notes.append(f"{name} from about line {first:,} to {last:,}, by {by}")
        more = f" and {len(notes) - 5} more" if len(notes) > 5 else ""
        return Found(is_shifted & among, "; ".join(notes[:5]) + more)


def find_shifts(source: Sequence[int] | NDArray[np.int32], target: Sequence[int] | NDArray[np.int32]) -> list[Shift]:
    """The shifts in the lengths of two sides, in order."""
    number = min(len(source), len(target))
    if number < 2 * WINDOW:
        return []
    lengths = np.log1p(np.array([source[:number], target[:number]], np.float64))
    shifts = []
    best = best_offsets(lengths[0], lengths[1])
    for first, end in find_runs(best):
        start, stop = refine_shift(lengths[0], lengths[1], int(best[first]), first, end + WINDOW)
        shifts.append(Shift(start, stop, int(best[first])))
    return shifts


def best_offsets(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.int8]:
    """(N - WINDOW + 1,) by how many lines each window is shifted; 0 unless another offset fits far better."""
    unmoved = sliding_correlation(source, target, 0)
    highest, best = unmoved.copy(), np.zeros(len(unmoved), np.int8)
    for offset in (sign * lines for lines in range(1, FARTHEST + 1) for sign in (1, -1)):
        moved = sliding_correlation(source, target, offset)
        better = moved > highest
        highest[better], best[better] = moved[better], offset
    best[(highest < LEAST) | (highest - unmoved < MARGIN)] = 0
    return best


def sliding_correlation(source: NDArray[np.float64], target: NDArray[np.float64], offset: int) -> NDArray[np.float64]:
    """(N - WINDOW + 1,) Pearson's correlation in each window of the source with the target `offset` lines on."""
    moved = np.roll(target, -offset)
    sums = [window_sums(values) for values in (source, moved, source * source, moved * moved, source * moved)]
    covariance = sums[4] - sums[0] * sums[1] / WINDOW
    variances = (sums[2] - sums[0] ** 2 / WINDOW) * (sums[3] - sums[1] ** 2 / WINDOW)
    return np.asarray(covariance / np.sqrt(np.maximum(variances, 1e-6)))


def window_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.asarray(total[WINDOW:] - total[:-WINDOW])


def find_runs(best: NDArray[np.int8]) -> list[tuple[int, int]]:
    """First and last of the runs of windows with the same offset other than 0 that are half a window long or longer."""
    edges = np.flatnonzero(np.diff(best)) + 1
    bounds = [0, *edges.tolist(), len(best)]
    return [(first, end - 1) for first, end in pairwise(bounds) if best[first] and end - first >= WINDOW // 2]


def refine_shift(
    source: NDArray[np.float64], target: NDArray[np.float64], offset: int, first: int, end: int
) -> tuple[int, int]:
    """Where the shift begins and ends, to a few lines: where moved lengths begin, and cease, to fit better."""
    gain = np.abs(source - target) - np.abs(source - np.roll(target, -offset))  # > 0: moved fits better
    low, high = max(first - WINDOW, 0), min(first + WINDOW, len(source))
    start = low + int(np.argmin(np.cumsum(gain[low:high]))) + 1
    start = 0 if first == 0 else start
    low, high = max(end - WINDOW, 0), min(end + WINDOW, len(source))
    stop = low + int(np.argmax(np.cumsum(gain[low:high]))) + 1
    return start, (len(source) if end >= len(source) - 1 else stop)
