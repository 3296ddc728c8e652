"""Word swaps: rare words replace other words, with their translations on the other side.

Most words of a corpus are rare, and their two or three sentences say little about them. If a rare word replaces a
frequent one in a plausible context, the network has only that word to learn. Source: Fadaee, Bisazza, Monz (2017),
"Data Augmentation for Low-Resource Neural Machine Translation". They choose contexts with language models; here a
context is the pair of words before both, seen together in the corpus. Knows only text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.corpus.sides import SentencePair
from nmt_cli.training.data.lexicon import WordTable, find_words, learn_lexicon, truecase_words

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
