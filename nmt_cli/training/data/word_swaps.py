"""Word swaps: rare words replace other words, with their translations on the other side.

Most words of a corpus are rare, and their two or three sentences say little about them. If a rare word replaces a
frequent one in a plausible context, the network has only that word to learn. Source: Fadaee, Bisazza, Monz (2017),
"Data Augmentation for Low-Resource Neural Machine Translation". They choose contexts with language models; here a
context is the pair of words before both, seen together in the corpus. Knows only text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.corpus.manifest import SentencePair
from nmt_cli.text.words import choose_word_pattern

# A lexicon learned from sentence pairs: word translations on which both directions agree.
#
# Letters: P sentence pairs, N words of all sentences of one side, V distinct ones, L links (a source word and a target
# word of one pair), K distinct links. Knows only text.


ROUNDS = 4  # of expectation maximisation; later ones hardly change the best translation of a word
MIN_PROBABILITY = 0.2  # of a translation, in both directions
MIN_PROBABILITY_ONCE = 0.5  # the same for words that occur once
MOST_LINKS = 10_000_000  # that are learned from; each takes 80 bytes


@dataclass(frozen=True)
class WordTable:
    """The words of the texts of one side."""

    texts: list[list[str]]  # P
    vocabulary: list[str]  # (V,), in the order of first use
    indices: IntArray  # (N,), of the words of all texts, in the vocabulary
    lengths: IntArray  # (P,)
    within_counts: Counter[str]  # how often each word occurs in a text but as its first

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> WordTable:
        """Splits `texts` (P,) into words and counts them."""
        sentences = [[word[0] for word in find_words(text)] for text in texts]
        within_counts = Counter(word for words in sentences for word in words[1:])
        sentences = [truecase_words(words, within_counts) for words in sentences]
        vocabulary: dict[str, int] = {}
        indices = [vocabulary.setdefault(word, len(vocabulary)) for words in sentences for word in words]
        lengths = np.array([*map(len, sentences)], np.int64)
        return cls(sentences, list(vocabulary), np.array(indices, np.int64), lengths, within_counts)


def find_words(text: str) -> list[re.Match[str]]:
    """Finds the words and numbers of a text, but neither punctuation nor placeholders."""
    return [match for match in choose_word_pattern(text).finditer(text) if match[0][0].isalnum()]


def truecase_words(words: list[str], within_counts: Mapping[str, int]) -> list[str]:
    """Returns the words of a text, the first in its more frequent case within texts (`within_counts`)."""
    first = "".join(words[:1])
    small = first[:1].lower() + first[1:]
    return [small, *words[1:]] if within_counts[small] > within_counts[first] else words


def learn_lexicon(source: WordTable, target: WordTable) -> dict[str, str]:
    """Returns the translation of each source word that is in turn the likeliest translation of its translation.

    Source: Brown et al. (1993), "The Mathematics of Statistical Machine Translation", model 1, in both directions. The
    empty word, which explains words that no word of the other side explains, translates to each word with the relative
    frequency of that word.
    """
    # 1. Link every word of a source with every word of its target, and number the different links.
    source_positions, target_positions = link_all(source.lengths, target.lengths)  # (L,)
    width = len(target.vocabulary)
    pairs = source.indices[source_positions] * width + target.indices[target_positions]  # (L,)
    different, links = np.unique(pairs, return_inverse=True)
    source_words, target_words = different // width, different % width  # (K,)
    # 2. Estimate the probabilities of translations in both directions.
    forward = estimate_probabilities(source_words, target_words, links, target.indices, target_positions)
    backward = estimate_probabilities(target_words, source_words, links, source.indices, source_positions)
    # 3. Keep the links that both directions find best, and likely enough: more so for words that occur once.
    least = np.minimum(forward, backward)
    occurrences = np.minimum(np.bincount(source.indices)[source_words], np.bincount(target.indices)[target_words])
    threshold = np.where(occurrences > 1, MIN_PROBABILITY, MIN_PROBABILITY_ONCE)
    is_sure = is_likeliest(source_words, forward) & is_likeliest(target_words, backward) & (least >= threshold)
    return {
        source.vocabulary[source_words[link]]: target.vocabulary[target_words[link]] for link in np.flatnonzero(is_sure)
    }


def link_all(source_lengths: IntArray, target_lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Links every word of a source with every word of its target; lengths are (P,).

    Returns the positions (L,) of both words of each link among the words of all sentences. Only the first pairs, with
    MOST_LINKS links at most, are linked.
    """
    counts = source_lengths * target_lengths  # (P,)
    counts = np.where(np.cumsum(counts) <= MOST_LINKS, counts, 0)
    pair = np.repeat(np.arange(len(counts)), counts)  # (L,)
    link = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)  # (L,), within its pair
    starts = (np.cumsum(lengths) - lengths for lengths in (source_lengths, target_lengths))
    source_start, target_start = (start[pair] for start in starts)
    width = target_lengths[pair]
    return source_start + link // width, target_start + link % width


def estimate_probabilities(
    conditions: IntArray, outcomes: IntArray, links: IntArray, words: IntArray, positions: IntArray
) -> FloatArray:
    """Estimates the probability of each word of `outcomes` (K,) as the translation of that of `conditions` (K,).

    `links` (L,) is the index in K of each link, and `positions` (L,) that of the word in `words` (N,) it explains.
    """
    frequency = np.bincount(words) / len(words)
    by_empty_word = frequency[words]  # (N,)
    probabilities: FloatArray = frequency[outcomes]  # (K,)
    for _ in range(ROUNDS):
        # 1. Share each word among the links that may explain it, and the empty word.
        weights = probabilities[links]  # (L,)
        totals = by_empty_word + np.bincount(positions, weights, minlength=len(words))  # (N,)
        expected = np.bincount(links, weights / totals[positions])  # (K,)
        # 2. Normalise the expected counts of each condition.
        probabilities = expected / np.bincount(conditions, expected)[conditions]
    return probabilities


def is_likeliest(conditions: IntArray, probabilities: FloatArray) -> NDArray[np.bool_]:
    """Whether each of `probabilities` (K,) is the highest with its condition; among equals, the last."""
    order = np.lexsort((probabilities, conditions))
    is_last = np.diff(conditions[order], append=-1) != 0
    best = np.zeros(len(conditions), dtype=bool)
    best[order[is_last]] = True
    return best


RARE_WORD_SHARE = 0.003  # largest share of the sentences with a word that replaces others
REPLACED = 0.02  # largest share of the sentences with a word that is replaced: more frequent ones are words of grammar


class SwapContext(NamedTuple):
    """The context that decides which words may replace each other: the preceding words, and capitalisation."""

    before_source: str
    before_target: str
    source_capital: bool
    target_capital: bool


class Swap(NamedTuple):
    """A replaceable word and its translation: the indices of both among the words of their texts."""

    context: SwapContext
    source: int
    target: int


class WordSwaps:
    """The words of a corpus that may replace each other, learned from its own sentence pairs."""

    def __init__(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        # 1. Learn which words are translations of each other, and how frequent they are.
        source, target = WordTable.from_texts(sources), WordTable.from_texts(targets)
        self.translations = learn_lexicon(source, target)
        self.within_counts = source.within_counts, target.within_counts
        self.counts = Counter(word for words in source.texts for word in words)
        self.sentences = len(sources)
        # 2. Collect the rare words of each context, in the order of their first use.
        candidates: dict[SwapContext, dict[str, None]] = defaultdict(dict)
        for source_words, target_words in zip(source.texts, target.texts, strict=True):
            for swap in self.find_swaps(source_words, target_words, RARE_WORD_SHARE):
                candidates[swap.context][source_words[swap.source]] = None
        self.candidates = {context: list(words) for context, words in candidates.items()}

    @property
    def is_empty(self) -> bool:
        """Whether the corpus has no word that may replace others."""
        return not self.candidates

    def find_swaps(self, source: Sequence[str], target: Sequence[str], share: float) -> Iterator[Swap]:
        """Finds replaceable words of a pair: each occurs once, has its translation, and is not the first word.

        No such word occurs in more than this share of the sentences.
        """
        most = share * self.sentences
        for source_index, word in enumerate(source[1:], start=1):
            translation = self.translations.get(word)
            if translation is None or self.counts[word] > most:
                continue
            if source.count(word) == target.count(translation) == 1 and (target_index := target.index(translation)):
                capitals = word[0].isupper(), translation[0].isupper()
                context = SwapContext(source[source_index - 1], target[target_index - 1], *capitals)
                yield Swap(context, source_index, target_index)

    def swap_words(self, source: str, target: str, generator: np.random.Generator) -> SentencePair:
        """Replaces one word and its translation by others; a pair without such a word is unchanged."""
        source_words, target_words = (
            truecase_words([word[0] for word in find_words(text)], counts)
            for text, counts in zip((source, target), self.within_counts, strict=True)
        )
        swaps = [
            swap for swap in self.find_swaps(source_words, target_words, REPLACED) if swap.context in self.candidates
        ]
        if not swaps:
            return SentencePair(source, target)
        context, source_index, target_index = swaps[int(generator.integers(len(swaps)))]
        candidates = self.candidates[context]
        word = candidates[int(generator.integers(len(candidates)))]
        return SentencePair(
            replace_word(source, source_index, word), replace_word(target, target_index, self.translations[word])
        )


def replace_word(text: str, index: int, word: str) -> str:
    """Returns `text` with its word at `index`, from 0, replaced by another."""
    start, end = find_words(text)[index].span()
    return text[:start] + word + text[end:]
