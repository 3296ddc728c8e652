"""What teaches a network rare words: they stand in for others, with their translation on the other side.

Most words of a corpus are rare, and what stands around them in two or three sentences says little about them. Where one
of them stands in for a frequent word, in a place in which it may stand, it is all that is new to the network.
Source: Fadaee, Bisazza, Monz (2017), "Data Augmentation for Low-Resource Neural Machine Translation". They find places
with language models; here it is the words before both that were seen together before. Knows text only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.training.data.lexicon import WordTable, find_words, learn_lexicon, without_capital

RARE = 0.003  # of the sentences at most have a word that stands in for others
REPLACED = 0.02  # of the sentences at most have a word that others stand in for: the rest are words of grammar


class SwapContext(NamedTuple):
    """What decides which words may stand somewhere: those before them, and whether they have capitals."""

    before_source: str
    before_target: str
    source_capital: bool
    target_capital: bool


class Swap(NamedTuple):
    """A word that others may stand in for: the how manieth of the source, and its translation of the target."""

    context: SwapContext
    source: int
    target: int


class WordSwaps:
    """Which words of a corpus may stand in for which, learned from its own sentence pairs."""

    def __init__(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        source, target = WordTable.from_texts(sources), WordTable.from_texts(targets)
        self.translations = learn_lexicon(source, target)
        self.within = source.within, target.within
        self.counts = Counter(word for words in source.texts for word in words)
        self.sentences = len(sources)
        standing: dict[SwapContext, dict[str, None]] = defaultdict(dict)  # in the order of their first use
        for ours, theirs in zip(source.texts, target.texts, strict=True):
            for swap in self.find_swaps(ours, theirs, RARE):
                standing[swap.context][ours[swap.source]] = None
        self.standing = {context: list(words) for context, words in standing.items()}

    @property
    def is_empty(self) -> bool:
        """Whether the corpus has no word that may stand in for others."""
        return not self.standing

    def find_swaps(self, source: list[str], target: list[str], share: float) -> Iterator[Swap]:
        """Words, but for the first, that stand once on either side, and in no more than this share of the sentences."""
        most = share * self.sentences
        for at, word in enumerate(source[1:], start=1):
            translation = self.translations.get(word)
            if translation is None or self.counts[word] > most:
                continue
            if source.count(word) == target.count(translation) == 1 and (there := target.index(translation)):
                capitals = word[0].isupper(), translation[0].isupper()
                yield Swap(SwapContext(source[at - 1], target[there - 1], *capitals), at, there)

    def swap_words(self, source: str, target: str, generator: np.random.Generator) -> tuple[str, str]:
        """The pair with one word and its translation replaced by others, or as it is where it has no such word."""
        ours, theirs = (
            without_capital([word[0] for word in find_words(text)], within)
            for text, within in zip((source, target), self.within, strict=True)
        )
        swaps = [swap for swap in self.find_swaps(ours, theirs, REPLACED) if swap.context in self.standing]
        if not swaps:
            return source, target
        context, at, there = swaps[int(generator.integers(len(swaps)))]
        others = self.standing[context]
        other = others[int(generator.integers(len(others)))]
        return with_word(source, at, other), with_word(target, there, self.translations[other])


def with_word(text: str, number: int, word: str) -> str:
    """`text` with its word of this number, from 0, replaced by another."""
    start, end = find_words(text)[number].span()
    return text[:start] + word + text[end:]
