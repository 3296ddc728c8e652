"""Checks of length: what is far longer, or far longer than its other side, than is usual in this corpus.

What is usual is learnt from the pairs themselves; `--max-length` and `--max-ratio` set fixed limits instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks.check import CorpusCheck, Found
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.pairs import BoolArray, Pairs

ENOUGH = 100  # pairs to learn what is usual from
CHARACTERS_PER_WORD = 20  # a sentence of more per allowed word is no sentence: a URL, a table, base64

# Words. In a corpus of short sentences a long one is rare and good; what costs memory in training is one of hundreds.
SHORTEST_LIMIT, LONGEST_LIMIT = 100, 1_000
SPREADS_TO_LONG = 5.0

SHORT_PAIR = 5  # words up to which a ratio says nothing: "Feierabend." is "Let's call it a day."
BINS = 20
SPREADS_TO_RATIO = 6.0
LEAST_SPREAD = 0.15  # of the logarithm of the ratio; a text is never so regular that 20 % more were impossible
LEAST_RATIO = 2.0


class TooLong(CorpusCheck):
    name = "too-long"
    problem = "one side is far longer than usual here"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        facts = pairs.facts
        words = np.maximum(facts.source_words, facts.target_words)
        characters = np.maximum(facts.source_lengths, facts.target_lengths)
        limit = config.max_length or usual_limit(words[among])
        rows = (words > limit) | (characters > limit * CHARACTERS_PER_WORD)
        return Found(rows & among, f"more than {limit:,} words")


def usual_limit(words: NDArray[np.int32]) -> int:
    """The words above which a sentence is no longer usual: five robust spreads of its logarithm over the median."""
    if len(words) < ENOUGH:
        return SHORTEST_LIMIT
    median, high = np.quantile(np.log(np.maximum(words, 1)), [0.5, 0.9])
    spread = (high - median) / 1.2816  # of a normal distribution with this 90th percentile
    return round(min(max(float(np.exp(median + SPREADS_TO_LONG * spread)), SHORTEST_LIMIT), LONGEST_LIMIT))


class Ratio(CorpusCheck):
    name = "length-ratio"
    problem = "source and target lengths do not match"

    def find(self, pairs: Pairs, among: BoolArray, config: PrepareConfig) -> Found:
        facts = pairs.facts
        shorter = np.minimum(facts.source_words, facts.target_words)
        longer = np.maximum(facts.source_words, facts.target_words)
        if config.max_ratio is not None:
            rows = (longer > SHORT_PAIR) & (longer > config.max_ratio * shorter)
            return Found(rows & among, f"more than {config.max_ratio:g} words for one")
        if among.sum() < ENOUGH:
            return Found((longer > SHORT_PAIR) & (longer > 3 * shorter) & among, "more than 3 words for one")
        ratios = np.log((facts.target_lengths + 1.0) / (facts.source_lengths + 1.0))
        usual = float(np.exp(np.median(ratios[among])))
        rows = find_unusual(ratios, facts.source_lengths * np.sqrt(usual), among) & (longer > SHORT_PAIR)
        return Found(rows & among, f"typical ratio here: {usual:.2f}")


def find_unusual(ratios: NDArray[np.float64], sizes: NDArray[np.float64], among: BoolArray) -> BoolArray:
    """(N,) whether the logarithm of a ratio lies far from that of the pairs of about its size.

    Short sentences vary more than long ones, so each twentieth of the corpus has its own middle and spread.
    """
    sizes = sizes * np.exp(
        ratios / 2
    )  # the middle of both sides, so that the pair with one long side is among its like
    bins = min(BINS, int(among.sum()) // ENOUGH)
    edges = np.unique(np.quantile(sizes[among], np.linspace(0, 1, bins + 1)[1:-1]))
    number = np.searchsorted(edges, sizes, side="right")
    is_unusual = np.zeros(len(ratios), dtype=np.bool_)
    for index in range(len(edges) + 1):
        here = among & (number == index)
        if here.sum() >= ENOUGH // 2:
            middle = np.median(ratios[here])
            spread = max(1.4826 * float(np.median(np.abs(ratios[here] - middle))), LEAST_SPREAD)
            far = np.abs(ratios - middle)
            is_unusual |= here & (far > SPREADS_TO_RATIO * spread) & (far > np.log(LEAST_RATIO))
    return is_unusual
