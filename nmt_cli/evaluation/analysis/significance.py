"""Estimates how certain a score is: bootstrap intervals, and two paired tests of one system against another.

Resamples as sacreBLEU does (same generator, seed and percentiles); a test checks that the numbers are equal. p-values
differ in two cases: `compute_bootstrap_p` is two-sided, and `compute_p_value` also counts equal differences. Works on
the counts of any metric; must not know which. Letters: N sentences, R resamples, K counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import Any

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.evaluation.metrics.score import Score, Statistics

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
    """Returns the 95 % confidence interval by resampling sentences with replacement (Koehn 2004); None if undefined."""
    if resamples < 2 or len(statistics.counts) < 2:
        return None
    return find_percentiles(statistics.combine(resample_sums(statistics.counts, resamples, seed)))


def find_percentiles(values: FloatArray) -> Interval:
    """Returns the bounds that sacreBLEU uses: one fortieth of the sorted values lies beyond each."""
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

    sacreBLEU counts only greater differences. It therefore calls systems that differ in at most one sentence certainly
    different: swapping that sentence leaves the difference equally large.
    """
    if observed <= ROUNDING:
        return 1.0
    return (int((differences >= observed - ROUNDING).sum()) + 1) / (len(differences) + 1)


def compute_bootstrap_p(values: FloatArray, others: FloatArray, difference: float) -> float:
    """Returns the p-value of the difference of two systems, given their scores (R,) on the same resampled sentences.

    It is two-sided: resampled differences, less their mean, are distributed like those of equally good systems, and
    both tails count. sacreBLEU subtracts the mean of the absolute values, which leaves one tail and halves p.
    """
    differences = values - others
    return compute_p_value(np.abs(differences - differences.mean()), abs(difference))


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


# Tests every pair of systems on the same sentences, and names the groups without significant differences.
#
# 1. `compare_pairs` resamples the sentences once for all systems and tests every pair (paired bootstrap, Koehn 2004).
# 2. `correct_by_holm` corrects the p-values for their number (Holm 1979).
# 3. `assign_letters` gives a letter to each group of systems without a significant difference (Piepho 2004).
#
# Works on the counts of any metric; must not know which. Letters: M systems, R resamples.


SIGNIFICANT = 0.05
RESAMPLES_PER_PAIR = 100  # so that even the smallest p-value, times the number of pairs, can be significant
SystemPair = tuple[int, int]


@dataclass(frozen=True)
class PairTest:
    """The test of two systems, given by position.

    The p-values are the probabilities of a difference at least as large if the two systems were equally good.
    """

    first: int
    second: int
    difference: float  # score of the first minus that of the second
    p: float | None  # by paired bootstrap; None if it cannot be estimated: without resamples, or from one sentence
    corrected_p: float | None  # for the number of pairs
    randomisation_p: float | None  # of two systems alone: among several, it would have to be corrected too

    @property
    def is_significant(self) -> bool:
        return self.corrected_p is not None and self.corrected_p < SIGNIFICANT

    @property
    def p_values(self) -> str:
        """The p-values as printed."""
        values = {"paired bootstrap": self.corrected_p, "approximate randomisation": self.randomisation_p}
        return ", ".join(f"p = {value:.4f} ({name})" for name, value in values.items() if value is not None)


def compare_pairs(scores: Sequence[Score], resamples: int) -> tuple[PairTest, ...]:
    """Tests every pair of M systems, scored by one metric on the same sentences; if M is 2, applies both tests.

    Returns nothing for a metric without counts.
    """
    pairs = list(combinations(range(len(scores)), 2))
    statistics = [score.statistics for score in scores if score.statistics is not None]
    if len(statistics) < max(2, len(scores)):
        return ()
    differences = [scores[first].value - scores[second].value for first, second in pairs]
    p_values: list[float | None] = [None] * len(pairs)
    corrected, randomised = p_values, None
    if len(pairs) == 1:
        randomised = randomise_difference(statistics[0], statistics[1])
    if resamples > 1 and len(statistics[0].counts) > 1:
        draws = max(resamples, RESAMPLES_PER_PAIR * len(pairs))
        values = [counts.combine(resample_sums(counts.counts, draws, SEED)) for counts in statistics]  # M of (R,)
        resampled = [
            compute_bootstrap_p(values[first], values[second], difference)
            for (first, second), difference in zip(pairs, differences, strict=True)
        ]
        p_values, corrected = [*resampled], [*correct_by_holm(resampled)]
    rows = zip(pairs, differences, p_values, corrected, strict=True)
    return tuple(PairTest(*pair, difference, p, by_holm, randomised) for pair, difference, p, by_holm in rows)


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Returns the p-values, in order, corrected so that any false alarm is as rare as in a single test.

    The smallest is multiplied by their number, the next by one less, and so on; no value falls below its predecessor.
    """
    corrected = [0.0] * len(p_values)
    greatest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = greatest
    return corrected


def assign_letters(order: Sequence[int], different: Collection[SystemPair]) -> tuple[str, ...]:
    """Returns the letters of each system, by position: two systems share a letter if and only if they do not differ.

    `order` ranks the systems from best to worst; `different` holds the pairs that differ significantly.
    """
    groups: list[frozenset[int]] = [frozenset(order)]
    # 1. Split every group that holds a pair which differs: one goes without the first, one without the second.
    for pair in different:
        split = [group - {position} for group in groups if group.issuperset(pair) for position in pair]
        groups = [group for group in groups if not group.issuperset(pair)] + split
        # 2. A group within another says nothing new.
        groups = [
            group
            for index, group in enumerate(groups)
            if not any(group < other for other in groups) and group not in groups[:index]
        ]
    # 3. The group of the best system is a, and so on.
    ranks = {position: rank for rank, position in enumerate(order)}
    groups.sort(key=lambda group: sorted(ranks[position] for position in group))
    names = [name_group(index) for index in range(len(groups))]
    return tuple(
        "".join(name for name, group in zip(names, groups, strict=True) if position in group)
        for position in range(len(order))
    )


def name_group(index: int) -> str:
    """Returns a, b, ... z, then a2, b2 and so on."""
    turn, letter = divmod(index, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(turn + 1) if turn else "")
