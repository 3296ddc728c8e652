"""Counts the requests that were answered, and how long they took."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)  # seconds


class RequestCounts:
    """The requests that were answered, by path and status, and how long they took; used in one event loop."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.durations = [0] * (len(BOUNDS) + 1)  # of those up to each bound, and of the rest
        self.seconds = 0.0

    def add(self, path: str, status: int, seconds: float) -> None:
        self.answers[path, status] += 1
        self.durations[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def write_histogram(self) -> Iterator[tuple[str, float]]:
        """Yields the number of requests up to each bound, the sum of their seconds, and their number."""
        totals = list(accumulate(self.durations))
        for bound, total in zip((*map(str, BOUNDS), "+Inf"), totals, strict=True):
            yield f'_bucket{{le="{bound}"}}', total
        yield "_sum", round(self.seconds, 6)
        yield "_count", totals[-1]
