"""Length checks: sides far longer than typical of the corpus, and pairs whose lengths do not match.

The pairs themselves show what is typical; `--max-length` and `--max-ratio` set fixed limits instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs
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


class TooLong(CorpusCheck):
    name = "too-long"
    problem = "one side is far longer than is typical here"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        facts = pairs.facts
        words = np.maximum(facts.source_words, facts.target_words)
        characters = np.maximum(facts.source_lengths, facts.target_lengths)
        limit = config.max_length or learn_length_limit(words[candidates])
        rows = (words > limit) | (characters > limit * CHARACTERS_PER_WORD)
        return CheckResult(rows & candidates, f"more than {format_count(limit, 'word')}")


def learn_length_limit(words: NDArray[np.int32]) -> int:
    """Returns the maximum number of words of a typical sentence: in logarithms, five spreads above the median."""
    if len(words) < MINIMUM_PAIRS:
        return SHORTEST_LIMIT
    median, high = np.quantile(np.log(np.maximum(words, 1)), [0.5, 0.9])
    spread = (high - median) / 1.2816  # of a normal distribution with the same 90th percentile
    return round(min(max(float(np.exp(median + SPREADS_TO_LONG * spread)), SHORTEST_LIMIT), LONGEST_LIMIT))


class Ratio(CorpusCheck):
    name = "length-ratio"
    problem = "source and target lengths do not match"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareConfig) -> CheckResult:
        facts = pairs.facts
        shorter = np.minimum(facts.source_words, facts.target_words)
        longer = np.maximum(facts.source_words, facts.target_words)
        if config.max_ratio is not None:
            rows = (longer > SHORT_PAIR) & (longer > config.max_ratio * shorter)
            return CheckResult(rows & candidates, f"more than {config.max_ratio:g} words for one")
        if candidates.sum() < MINIMUM_PAIRS:
            return CheckResult((longer > SHORT_PAIR) & (longer > 3 * shorter) & candidates, "more than 3 words for one")
        ratios = np.log((facts.target_lengths + 1.0) / (facts.source_lengths + 1.0))
        typical = float(np.exp(np.median(ratios[candidates])))
        rows = find_unusual(ratios, facts.source_lengths * np.sqrt(typical), candidates) & (longer > SHORT_PAIR)
        return CheckResult(rows & candidates, f"typical ratio here: {typical:.2f}")


def find_unusual(ratios: NDArray[np.float64], sizes: NDArray[np.float64], candidates: BoolArray) -> BoolArray:
    """Returns (N,) whether a log ratio is far from those of pairs of about the same size.

    The ratios of short sentences vary more than those of long ones. Pairs are therefore sorted into up to twenty bins
    with equal numbers of pairs, each with its own median and spread.
    """
    # 1. The size of a pair is the mean of both sides, so that a pair with one long side is compared with pairs like it.
    sizes = sizes * np.exp(ratios / 2)
    # 2. Sort the pairs into bins.
    bins = min(BINS, int(candidates.sum()) // MINIMUM_PAIRS)
    edges = np.unique(np.quantile(sizes[candidates], np.linspace(0, 1, bins + 1)[1:-1]))
    bin_numbers = np.searchsorted(edges, sizes, side="right")
    # 3. In each bin, find the ratios far from its median.
    is_unusual = np.zeros(len(ratios), dtype=np.bool_)
    for index in range(len(edges) + 1):
        in_bin = candidates & (bin_numbers == index)
        if in_bin.sum() >= MINIMUM_PAIRS // 2:
            median = np.median(ratios[in_bin])
            spread = max(1.4826 * float(np.median(np.abs(ratios[in_bin] - median))), LEAST_SPREAD)
            distance = np.abs(ratios - median)
            is_unusual |= in_bin & (distance > SPREADS_TO_RATIO * spread) & (distance > np.log(LEAST_RATIO))
    return is_unusual
