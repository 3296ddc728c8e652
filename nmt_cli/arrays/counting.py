"""Medians and quantiles of any number of values, exact and equal to those of numpy, from counts of the values.

Letters: V distinct values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HALF = np.uint32(16)  # bits of a float of 32 by which values are counted at a time
SIGN = np.uint32(1 << 31)
FloatParts = Callable[[], Iterable[NDArray[np.float32]]]


class ValueCounts(NamedTuple):
    """How often each of V values occurs."""

    values: NDArray[Any]  # (V,)
    counts: NDArray[np.int64]  # (V,)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def choose(self, is_chosen: NDArray[np.bool_]) -> ValueCounts:
        """Returns the counts of some of the values."""
        return ValueCounts(self.values[is_chosen], self.counts[is_chosen])

    def find_quantiles(self, shares: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the quantiles at these shares, 0 to 1, as `np.quantile` of all occurrences."""
        places = (self.total - 1) * np.asarray(shares, np.float64)
        lower = np.floor(places).astype(np.int64)
        low, high = self.find_ranks(lower), self.find_ranks(np.minimum(lower + 1, self.total - 1))
        pairs = zip(low, high, places - lower, strict=True)
        return np.array([np.quantile(neighbours, between) for *neighbours, between in pairs])

    def find_median(self) -> float:
        """Returns the median, as `np.median` of all occurrences."""
        return float(np.median(self.find_ranks(np.array([(self.total - 1) // 2, self.total // 2]))))

    def find_ranks(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Returns the values that stand at these places, counted from 0, among all occurrences in order."""
        order = np.argsort(self.values, kind="stable")
        return self.values[order][np.searchsorted(np.cumsum(self.counts[order]), ranks, side="right")]


def count_values(parts: Iterable[NDArray[Any]]) -> ValueCounts:
    """Counts the values of all parts; the distinct ones are in order."""
    values, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in parts:
        more, times = np.unique(part, return_counts=True)
        values, places = np.unique(np.concatenate([values, more]), return_inverse=True)
        old, counts = np.concatenate([counts, times]), np.zeros(len(values), np.int64)
        np.add.at(counts, places, old)
    return ValueCounts(values, counts)


def find_float_median(read_parts: FloatParts) -> np.float32:
    """Returns the median of all values, as `np.median`; `read_parts` is called anew for each pass over them."""
    total = sum(len(part) for part in read_parts())
    middle = [select_rank(read_parts, rank) for rank in ((total - 1) // 2, total // 2)]
    return np.float32(np.median(np.array(middle, np.float32)))


def select_rank(read_parts: FloatParts, rank: int) -> np.float32:
    """Returns the value at this place, from 0, in ascending order: first the upper half of its bits, then the lower."""
    upper, rank = find_digit((order_bits(part) >> HALF for part in read_parts()), rank)
    ordered = (order_bits(part) for part in read_parts())
    lower, _ = find_digit((bits[bits >> HALF == upper] & np.uint32(0xFFFF) for bits in ordered), rank)
    bits = np.array([upper << 16 | lower], np.uint32)
    return np.float32(np.where(bits & SIGN, bits ^ SIGN, ~bits).view(np.float32)[0])


def order_bits(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Returns numbers in the order of the values."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def find_digit(parts: Iterable[NDArray[np.uint32]], rank: int) -> tuple[int, int]:
    """Returns the number of 16 bits at this place, and the place among those that are equal to it."""
    counts = np.zeros(1 << 16, np.int64)
    for part in parts:
        counts += np.bincount(part, minlength=len(counts))
    ends = np.cumsum(counts)
    digit = int(np.searchsorted(ends, rank, side="right"))
    return digit, rank - int(ends[digit] - counts[digit])
