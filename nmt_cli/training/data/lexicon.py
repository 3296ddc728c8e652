"""A dictionary learned from sentence pairs: which word stands for which, as far as both languages agree on it.

Letters: P sentence pairs, N words of all sentences of one side, V different ones, L links (a source word and a target
word of one pair), K different links. Knows text only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.text.words import word_pattern

ROUNDS = 4  # of expectation maximisation; after these the best translation of a word hardly changes
LEAST = 0.2  # probability, in both directions, of a translation
LEAST_OF_ONE = 0.5  # the same of words that were seen once
MOST_LINKS = 10_000_000  # that are learned from; they take 80 bytes each


@dataclass(frozen=True)
class WordTable:
    """The words of the texts of one side."""

    texts: list[list[str]]  # P
    vocabulary: list[str]  # (V,), in the order of their first use
    numbers: IntArray  # (N,): of the words of all texts, in the vocabulary
    lengths: IntArray  # (P,)
    within: Counter[str]  # how often each word stands within texts, and not first

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> WordTable:
        sentences = [[word[0] for word in find_words(text)] for text in texts]
        within = Counter(word for words in sentences for word in words[1:])
        sentences = [without_capital(words, within) for words in sentences]
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(word, len(numbers)) for words in sentences for word in words]
        return cls(
            sentences, list(numbers), np.array(flat, np.int64), np.array([*map(len, sentences)], np.int64), within
        )


def find_words(text: str) -> list[re.Match[str]]:
    """Words and numbers, where they stand; neither punctuation nor placeholders."""
    return [match for match in word_pattern(text).finditer(text) if match[0][0].isalnum()]


def without_capital(words: list[str], within: Counter[str]) -> list[str]:
    """The words of a text; the first without its capital where that is more frequent `within` texts."""
    first = "".join(words[:1])
    small = first[:1].lower() + first[1:]
    return [small, *words[1:]] if within[small] > within[first] else words


def learn_lexicon(source: WordTable, target: WordTable) -> dict[str, str]:
    """The translation of each source word that is the likeliest of its translation, too.

    Source: Brown et al. (1993), "The Mathematics of Statistical Machine Translation", model 1, in both directions. What
    no word of the other side explains (there, the empty word) has the word's share of all words for a probability.
    """
    of_source, of_target = link_all(source.lengths, target.lengths)
    width = len(target.vocabulary)
    together, link = np.unique(source.numbers[of_source] * width + target.numbers[of_target], return_inverse=True)
    ours, theirs = together // width, together % width  # (K,)
    forward = estimate_probabilities(ours, theirs, link, target.numbers, of_target)
    backward = estimate_probabilities(theirs, ours, link, source.numbers, of_source)
    least = np.minimum(forward, backward)
    seen = np.minimum(np.bincount(source.numbers)[ours], np.bincount(target.numbers)[theirs])
    sure = (
        is_likeliest(ours, forward)
        & is_likeliest(theirs, backward)
        & (least >= np.where(seen > 1, LEAST, LEAST_OF_ONE))
    )
    return {source.vocabulary[ours[pair]]: target.vocabulary[theirs[pair]] for pair in np.flatnonzero(sure)}


def link_all(source_lengths: IntArray, target_lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Every word of a source with every word of its target: where both stand (L,) among the words of all sentences.

    Of the first pairs, as many as make no more than MOST_LINKS.
    """
    counts = source_lengths * target_lengths  # (P,)
    counts = np.where(np.cumsum(counts) <= MOST_LINKS, counts, 0)
    pair = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = (np.cumsum(lengths) - lengths for lengths in (source_lengths, target_lengths))
    of_source, of_target = (start[pair] for start in starts)
    width = target_lengths[pair]
    return of_source + within // width, of_target + within % width


def estimate_probabilities(
    condition: IntArray, made: IntArray, link: IntArray, words: IntArray, at: IntArray
) -> FloatArray:
    """(K,): how likely each `made` word is as the translation of the word `given` (K,).

    `link` (L,) says which of the K each link is, `at` (L,) which of the `words` (N,) it explains.
    """
    share = np.bincount(words) / len(words)
    of_none = share[words]  # (N,)
    probabilities: FloatArray = share[made]
    for _ in range(ROUNDS):
        chances = probabilities[link]
        explained = of_none + np.bincount(at, chances, minlength=len(words))
        expected = np.bincount(link, chances / explained[at])
        probabilities = expected / np.bincount(condition, expected)[condition]
    return probabilities


def is_likeliest(condition: IntArray, probabilities: FloatArray) -> NDArray[np.bool_]:
    """(K,): which is the best of all with the same `given` word."""
    order = np.lexsort((probabilities, condition))
    last = np.diff(condition[order], append=-1) != 0
    best = np.zeros(len(condition), dtype=bool)
    best[order[last]] = True
    return best
