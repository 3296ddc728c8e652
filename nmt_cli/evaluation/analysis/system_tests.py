"""Tests every pair of systems on the same sentences, and names the groups without significant differences.

1. `compare_pairs` resamples the sentences once for all systems and tests every pair (paired bootstrap, Koehn 2004).
2. `correct_by_holm` corrects the p-values for their number (Holm 1979).
3. `assign_letters` gives a letter to each group of systems without a significant difference (Piepho 2004).

Works on the counts of any metric; must not know which. Letters: M systems, R resamples.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

from nmt_cli.evaluation.analysis.significance import (
    SEED,
    compute_bootstrap_p,
    randomise_difference,
    resample_sums,
)
from nmt_cli.evaluation.metrics.score import Score

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
    """Tests every pair of M systems, each given by the same metric for the same sentences; two systems in both ways.

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
