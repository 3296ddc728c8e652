"""Estimates how certain a score is: bootstrap intervals, and two paired tests of one system against another.

Resamples as sacreBLEU does (same generator, seed, percentiles and p-values), which follows Moses and MultEval; a
test holds that the numbers are equal. They differ only if resampling produces a difference equal to the observed one:
see `compute_p_value`.
Works on the counts of any metric; must not know which.
Letters: N sentences, R resamples, K counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.evaluation.metrics.score import Statistics

SEED = 12345  # sacreBLEU's
TRIALS = 10_000  # of the randomisation test, as in sacreBLEU
ROUNDING = 1e-9  # difference between equal scores (0-100) that were summed in different orders
CELLS = 20_000_000  # most sentences x resamples drawn at once, which bounds memory


@dataclass(frozen=True)
class Interval:
    """The range of the middle 95 % of the resampled scores."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The number after ±."""
        return (self.high - self.low) / 2


def bootstrap_interval(statistics: Statistics, resamples: int, seed: int = SEED) -> Interval | None:
    """Returns the 95 % interval by resampling sentences with replacement (Koehn 2004); None if undefined."""
    if resamples < 2 or len(statistics.counts) < 2:
        return None
    return find_percentiles(statistics.combine(resample_sums(statistics.counts, resamples, seed)))


def find_percentiles(values: FloatArray) -> Interval:
    """Returns the bounds that sacreBLEU uses: one fortieth of the sorted values is beyond each."""
    ordered = np.sort(values)
    beyond = len(ordered) // 40
    return Interval(float(ordered[beyond]), float(ordered[len(ordered) - beyond - 1]))


def resample_sums(counts: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Returns R sums (R, K) of the counts of N sentences drawn with replacement."""

    def draw(generator: np.random.Generator, rows: int) -> FloatArray:
        chosen = generator.choice(len(counts), size=(rows, len(counts)), replace=True)
        return np.stack([np.bincount(rows, minlength=len(counts)) @ counts for rows in chosen])

    return np.concatenate(list(draw_in_chunks(draw, resamples, len(counts), seed)))


def draw_in_chunks(
    draw: Callable[[np.random.Generator, int], Any], resamples: int, sentences: int, seed: int
) -> Iterator[Any]:
    """Yields the results of `draw` from one generator, in chunks of as many rows as fit in memory."""
    generator = np.random.default_rng(seed)
    size = max(32, CELLS // sentences // 32 * 32)  # bits are drawn 32 at a time: a multiple of 32 leaves none over
    for first in range(0, resamples, size):
        yield draw(generator, min(size, resamples - first))


def score_all(statistics: Statistics) -> float:
    """Returns the score of all sentences."""
    return statistics.score_sentences(range(len(statistics.counts)))


def compute_p_value(differences: FloatArray, observed: float) -> float:
    """Returns how often chance alone gives at least the observed difference; one is added to both counts (MultEval).

    sacreBLEU counts only greater differences and therefore finds two systems that differ in one sentence, or in none,
    certainly different: however that sentence is swapped, the difference is the same.
    """
    if observed <= ROUNDING:
        return 1.0
    return (int((differences >= observed - ROUNDING).sum()) + 1) / (len(differences) + 1)


def compute_bootstrap_p(values: FloatArray, others: FloatArray, difference: float) -> float:
    """Returns the p-value of the difference of two systems, given their scores (R,) on the same resampled sentences."""
    differences = np.abs(values - others)
    return compute_p_value(differences - differences.mean(), abs(difference))


def randomise_difference(statistics: Statistics, other: Statistics, trials: int = TRIALS, seed: int = SEED) -> float:
    """Returns the p-value by swapping the two systems' sentences at random (Riezler and Maxwell 2005)."""
    pooled = statistics.counts + other.counts

    def draw(generator: np.random.Generator, rows: int) -> FloatArray:
        swapped = generator.integers(2, size=(rows, len(pooled)), dtype=bool)
        sums = swapped.astype(np.float64) @ other.counts + ~swapped @ statistics.counts
        other_sums = pooled.sum(axis=0) - sums
        return np.abs(statistics.combine(sums) - statistics.combine(other_sums))

    differences = np.concatenate(list(draw_in_chunks(draw, trials, len(pooled), seed)))
    return compute_p_value(differences, abs(score_all(statistics) - score_all(other)))
