"""Length checks: sides far longer than typical of the corpus, and pairs whose lengths do not match.

The pairs themselves show what is typical; `--max-length` and `--max-ratio` set fixed limits instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.counting import ValueCounts, count_values
from nmt_cli.arrays.scratch import find_members, iterate_blocks, judge_blocks
from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import PairFacts, Pairs
from nmt_cli.text.wrapping import format_count

MINIMUM_PAIRS = 100  # for learning what is typical
CHARACTERS_PER_WORD = 20  # text with more characters per word of the limit is no sentence: a URL, a table, base64

# Words. In a corpus of short sentences, long ones are rare and good; only one of hundreds of words costs memory.
SHORTEST_LIMIT, LONGEST_LIMIT = 100, 1_000
SPREADS_TO_LONG = 5.0

SHORT_PAIR = 5  # words; up to here a ratio says nothing: "Feierabend." is "Let's call it a day."
BINS = 20
SPREADS_TO_RATIO = 6.0
LEAST_SPREAD = 0.15  # of the log ratio; no corpus is so regular that 20 % more would be a problem
LEAST_RATIO = 2.0
FEW_PAIRS_RATIO = 3  # words for one, where pairs are too few to learn from

HALF, LOWER_HALF = 32, 2**32 - 1  # two lengths make one number of 64 bits


class TooLong(CorpusCheck):
    name = "too-long"
    problem = "one side is far longer than is typical here"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        facts = pairs.facts

        def measure_words(block: slice) -> NDArray[np.int32]:
            return np.maximum(facts.source_words[block], facts.target_words[block])

        blocks = iterate_blocks(len(pairs))
        limit = config.max_length or learn_length_limit(
            count_values(measure_words(block)[candidates[block]] for block in blocks)
        )

        def is_too_long(block: slice) -> BoolArray:
            characters = np.maximum(facts.source_lengths[block], facts.target_lengths[block])
            return (measure_words(block) > limit) | (characters > limit * CHARACTERS_PER_WORD)

        rows = judge_blocks(len(pairs), lambda block: is_too_long(block) & candidates[block])
        return CheckResult(rows, f"more than {format_count(limit, 'word')}")


def learn_length_limit(words: ValueCounts) -> int:
    """Returns the maximum number of words of a typical sentence: in logarithms, five spreads above the median."""
    if words.total < MINIMUM_PAIRS:
        return SHORTEST_LIMIT
    logarithms = ValueCounts(np.log(np.maximum(words.values, 1)), words.counts)
    median, high = logarithms.find_quantiles([0.5, 0.9])
    spread = (high - median) / 1.2816  # of a normal distribution with the same 90th percentile
    return round(min(max(float(np.exp(median + SPREADS_TO_LONG * spread)), SHORTEST_LIMIT), LONGEST_LIMIT))


class Ratio(CorpusCheck):
    name = "length-ratio"
    problem = "source and target lengths do not match"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        facts = pairs.facts
        if config.max_ratio is not None:
            return judge_words(facts, candidates, config.max_ratio)
        if np.count_nonzero(candidates) < MINIMUM_PAIRS:
            return judge_words(facts, candidates, FEW_PAIRS_RATIO)
        # 1. Whether a ratio is unusual depends on the two lengths alone, of which there are few.
        blocks = iterate_blocks(len(pairs))
        lengths = count_values(join_lengths(facts, block)[candidates[block]] for block in blocks)
        source_lengths, target_lengths = lengths.values >> HALF, lengths.values & LOWER_HALF
        ratios = np.log((target_lengths + 1.0) / (source_lengths + 1.0))
        typical = float(np.exp(ValueCounts(ratios, lengths.counts).find_median()))
        is_unusual = find_unusual(ratios, source_lengths * np.sqrt(typical), lengths.counts)
        # 2. Find the pairs with such lengths.
        unusual = lengths.values[is_unusual]

        def is_unlike(block: slice) -> BoolArray:
            longer = np.maximum(facts.source_words[block], facts.target_words[block])
            return find_members(join_lengths(facts, block), unusual) & (longer > SHORT_PAIR)

        rows = judge_blocks(len(pairs), lambda block: is_unlike(block) & candidates[block])
        return CheckResult(rows, f"typical ratio here: {typical:.2f}")


def join_lengths(facts: PairFacts, block: slice) -> NDArray[np.int64]:
    """Returns both lengths of each pair as one number."""
    return facts.source_lengths[block].astype(np.int64) << HALF | facts.target_lengths[block]


def judge_words(facts: PairFacts, candidates: BoolArray, most: float) -> CheckResult:
    """Finds the pairs, except short ones, with more than `most` words for one of the other side."""

    def is_unlike(block: slice) -> BoolArray:
        words = facts.source_words[block], facts.target_words[block]
        longer = np.maximum(*words)
        return (longer > SHORT_PAIR) & (longer > most * np.minimum(*words)) & candidates[block]

    return CheckResult(judge_blocks(len(candidates), is_unlike), f"more than {most:g} words for one")


def find_unusual(ratios: NDArray[np.float64], sizes: NDArray[np.float64], counts: NDArray[np.int64]) -> BoolArray:
    """Returns (V,) whether a log ratio is far from those of pairs of about the same size.

    `counts` are those of the pairs with that ratio and size. The ratios of short sentences vary more than those of long
    ones. Pairs are therefore sorted into up to twenty bins with equal numbers of pairs, each with its own median and
    spread.
    """
    # 1. The size of a pair is the mean of both sides, so that a pair with one long side is compared with pairs like it.
    sizes = sizes * np.exp(ratios / 2)
    # 2. Sort the pairs into bins.
    bins = min(BINS, int(counts.sum()) // MINIMUM_PAIRS)
    edges = np.unique(ValueCounts(sizes, counts).find_quantiles(np.linspace(0, 1, bins + 1)[1:-1]))
    bin_numbers = np.searchsorted(edges, sizes, side="right")
    # 3. In each bin, find the ratios far from its median.
    is_unusual = np.zeros(len(ratios), dtype=np.bool_)
    for index in range(len(edges) + 1):
        in_bin = bin_numbers == index
        if counts[in_bin].sum() >= MINIMUM_PAIRS // 2:
            median = ValueCounts(ratios[in_bin], counts[in_bin]).find_median()
            distance = np.abs(ratios - median)
            spread = max(1.4826 * ValueCounts(distance[in_bin], counts[in_bin]).find_median(), LEAST_SPREAD)
            is_unusual |= in_bin & (distance > SPREADS_TO_RATIO * spread) & (distance > np.log(LEAST_RATIO))
    return is_unusual
