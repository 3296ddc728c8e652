"""Lengths and frequencies of a prepared corpus. Must not know how they are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError
from nmt_cli.text.words import words_of


@dataclass(frozen=True)
class Side:
    """One language of the training split, and its words in the test split."""

    language: str
    words: NDArray[np.integer]  # (N,) of each sentence
    pieces: NDArray[np.integer]  # (N,) subwords of each sentence
    frequencies: NDArray[np.integer]  # of each distinct word, greatest first
    commonest: tuple[tuple[str, int], ...]
    unseen_share: float  # of the words of the test split, 0-1: in no training sentence

    @property
    def once_share(self) -> float:
        """Share of the distinct words that occur a single time, 0-1."""
        return float((self.frequencies == 1).mean()) if self.frequencies.size else 0.0


@dataclass(frozen=True)
class CorpusStatistics:
    splits: dict[str, int]  # sentence pairs
    source: Side
    target: Side


def statistics(corpus: PreparedCorpus) -> CorpusStatistics:
    """Raises OptionError where the sources are pictures."""
    if corpus.has_pictures:
        raise OptionError(
            f"{corpus.directory}/ has pictures on its source side, and no two texts to compare",
            hint="`nmt prepare -v` tells how many pictures there are, and how long their captions",
        )
    train, test = corpus.pairs("train"), corpus.pairs("test")
    encoded = corpus.encoded("train")
    splits = {split: len(corpus.encoded(split).source) for split in ("train", "dev", "test")}
    source = side(
        corpus.source_language, [pair.source for pair in train], [pair.source for pair in test], encoded.source.lengths
    )
    target = side(
        corpus.target_language, [pair.target for pair in train], [pair.target for pair in test], encoded.target.lengths
    )
    return CorpusStatistics(splits, source, target)


def side(language: str, train: Sequence[str], test: Sequence[str], pieces: NDArray[np.integer]) -> Side:
    counts: Counter[str] = Counter()
    lengths = []
    for sentence in train:
        words = words_of(sentence)
        counts.update(words)
        lengths.append(len(words))
    tested = [word for sentence in test for word in words_of(sentence)]
    unseen = sum(word not in counts for word in tested)
    return Side(
        language=language,
        words=np.array(lengths),
        pieces=np.asarray(pieces),
        frequencies=np.array(sorted(counts.values(), reverse=True)),
        commonest=tuple(counts.most_common(12)),
        unseen_share=unseen / max(1, len(tested)),
    )
