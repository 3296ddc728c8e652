"""How sure a score is: bootstrap intervals, and two paired tests of one system against another.

The same resampling as sacreBLEU's (its generator, seed, percentiles and p-values), which is in turn that of Moses and
MultEval; a test holds that the numbers are equal. They differ only where resampling makes differences as great as the
real one: see `p_value`.
Works on the counts of any metric; must not know which.
Letters: N sentences, R resamples, K counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.evaluation.metrics.score import Score, Statistics

SEED = 12345  # sacreBLEU's
TRIALS = 10_000  # of the randomisation test, as in sacreBLEU
ROUNDING = 1e-9  # of scores (0-100) that are equal but for the order in which they were added up
CELLS = 20_000_000  # sentences x resamples drawn at once, which bounds memory


@dataclass(frozen=True)
class Interval:
    """Where the middle 95 % of the resampled scores lie."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """What is written behind ±."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Comparison:
    """One score against that of another system on the same sentences.

    The p-values are the chances of a difference at least this great were both systems equally good.
    """

    other: float
    difference: float  # this less the other
    bootstrap_p: float | None  # None where it cannot be known: without resamples, of one sentence
    randomisation_p: float
    interval: Interval | None = None  # of the other

    @property
    def p_values(self) -> str:
        """As they are told."""
        bootstrap = "" if self.bootstrap_p is None else f"p = {self.bootstrap_p:.4f} (paired bootstrap), "
        return f"{bootstrap}p = {self.randomisation_p:.4f} (approximate randomisation)"


def bootstrap_interval(statistics: Statistics, resamples: int, seed: int = SEED) -> Interval | None:
    """The 95 % interval by resampling sentences with replacement (Koehn 2004); None where it cannot be known."""
    if resamples < 2 or len(statistics.counts) < 2:
        return None
    return find_percentiles(statistics.combine(resample_sums(statistics.counts, resamples, seed)))


def find_percentiles(values: FloatArray) -> Interval:
    """The bounds that sacreBLEU takes: one fortieth of the sorted values lies beyond each."""
    ordered = np.sort(values)
    beyond = len(ordered) // 40
    return Interval(float(ordered[beyond]), float(ordered[len(ordered) - beyond - 1]))


def resample_sums(counts: FloatArray, resamples: int, seed: int) -> FloatArray:
    """(R, K): the counts of N sentences drawn with replacement, added up, R times."""

    def draw(generator: np.random.Generator, rows: int) -> FloatArray:
        chosen = generator.choice(len(counts), size=(rows, len(counts)), replace=True)
        return np.stack([np.bincount(rows, minlength=len(counts)) @ counts for rows in chosen])

    return np.concatenate(list(draw_in_chunks(draw, resamples, len(counts), seed)))


def draw_in_chunks(
    draw: Callable[[np.random.Generator, int], Any], resamples: int, sentences: int, seed: int
) -> Iterator[Any]:
    """What `draw` makes of one generator, so many rows at a time that memory suffices."""
    generator = np.random.default_rng(seed)
    at_once = max(32, CELLS // sentences // 32 * 32)  # bits are drawn 32 at a time: so no part leaves any of them over
    for first in range(0, resamples, at_once):
        yield draw(generator, min(at_once, resamples - first))


def compare(score: Score, other: Score, *, resamples: int, trials: int = TRIALS, seed: int = SEED) -> Comparison | None:
    """Both tests of `score` against `other`, which must be of the same metric and sentences; None without counts."""
    if score.statistics is None or other.statistics is None:
        return None
    interval = bootstrap_interval(other.statistics, resamples, seed)  # None where resamples say nothing, here and below
    return Comparison(
        other=other.value,
        difference=score.value - other.value,
        bootstrap_p=bootstrap_difference(score.statistics, other.statistics, resamples, seed) if interval else None,
        randomisation_p=randomise_difference(score.statistics, other.statistics, trials, seed),
        interval=interval,
    )


def sum_all(statistics: Statistics) -> float:
    return statistics.score_sentences(range(len(statistics.counts)))


def compute_p_value(differences: FloatArray, observed: float) -> float:
    """How often chance alone gives at least the real difference; one is added to both counts (MultEval).

    sacreBLEU counts what is greater, and so finds two systems that differ in one sentence, or in none, to be certainly
    different: however that sentence is swapped, the difference is as great.
    """
    if observed <= ROUNDING:
        return 1.0
    return (int((differences >= observed - ROUNDING).sum()) + 1) / (len(differences) + 1)


def bootstrap_difference(statistics: Statistics, other: Statistics, resamples: int, seed: int = SEED) -> float:
    """p of the difference by resampling the same sentences of both systems (Koehn 2004, as in Moses)."""
    values = [system.combine(resample_sums(system.counts, resamples, seed)) for system in (statistics, other)]
    differences = np.abs(values[0] - values[1])
    return compute_p_value(differences - differences.mean(), abs(sum_all(statistics) - sum_all(other)))


def randomise_difference(statistics: Statistics, other: Statistics, trials: int, seed: int = SEED) -> float:
    """p of the difference by swapping the two systems' sentences at random (Riezler and Maxwell 2005)."""
    both = statistics.counts + other.counts

    def draw(generator: np.random.Generator, rows: int) -> FloatArray:
        swapped = generator.integers(2, size=(rows, len(both)), dtype=bool)
        sums = swapped.astype(np.float64) @ other.counts + ~swapped @ statistics.counts
        rest = both.sum(axis=0) - sums
        return np.abs(statistics.combine(sums) - statistics.combine(rest))

    differences = np.concatenate(list(draw_in_chunks(draw, trials, len(both), seed)))
    return compute_p_value(differences, abs(sum_all(statistics) - sum_all(other)))
