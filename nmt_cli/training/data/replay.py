"""Selects the pairs of each epoch: new pairs, or a part of them, and old ones, so that fine-tuning does not forget.

Source: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods", mixed fine-tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.sources.source import Sentences
from nmt_cli.text.normalise import make_sentence_key


@dataclass(frozen=True)
class Replayed:
    """An old corpus, and the rows of its training pairs that may be replayed."""

    corpus: PreparedCorpus
    rows: NDArray[np.int64]

    @property
    def left_out(self) -> int:
        """The number of training pairs that may not be replayed."""
        return self.corpus.manifest.counts.splits["train"] - len(self.rows)


class LanguageDraw(NamedTuple):
    """The pairs of one language, and how many of them an epoch has."""

    rows: NDArray[np.int64]
    drawn: int

    def select_rows(self, epoch: int, seed: int) -> NDArray[np.int64]:
        """Returns the rows of an epoch, from 1: the next of an endless series of permutations of all rows."""
        first, size = (epoch - 1) * self.drawn, len(self.rows)
        turns = range(first // size, -(-(first + self.drawn) // size))
        rows = [np.random.default_rng([seed, turn, size]).permutation(self.rows) for turn in turns]
        return np.concatenate(rows)[first - turns.start * size :][: self.drawn]


def plan_draws(languages: IntArray | None, temperature: float, total: int) -> list[LanguageDraw]:
    """Returns what an epoch of `total` pairs has of each language; none where all pairs are to be used once."""
    if languages is None or temperature == 1 or len(np.unique(languages)) < 2:
        return []
    rows = [np.flatnonzero(languages == language) for language in np.unique(languages)]
    shares = np.array([len(of_language) for of_language in rows]) ** (1 / temperature)
    counts = np.maximum(1, np.round(total * shares / shares.sum()).astype(int)).tolist()
    return [LanguageDraw(*draw) for draw in zip(rows, counts, strict=True)]


class EpochRows:
    """The pairs of each epoch: all new pairs, or at most `most` of them in turn, and old pairs.

    Old pairs make up `share` (0 to 1) of an epoch. `allowed` are the usable rows of the old pairs; None: all. If the
    new pairs (N,) have several `languages`, each language has its share to the power of 1 / `temperature`. Source:
    Arivazhagan et al. (2019), "Massively Multilingual Neural Machine Translation in the Wild", section 4.2.
    """

    def __init__(
        self,
        new: EncodedSplit,
        old: EncodedSplit | None,
        *,
        share: float,
        seed: int,
        allowed: NDArray[np.int64] | None = None,
        most: int | None = None,
        languages: IntArray | None = None,
        temperature: float = 1.0,
    ) -> None:
        self.new_rows = len(new.source)
        self.allowed = np.arange(0 if old is None else len(old.source)) if allowed is None else allowed
        self.split = new if old is None else join_splits(new, old)
        self.share = share if len(self.allowed) else 0.0
        self.seed = seed
        self.parts = -(-self.new_rows // most) if most else 1  # epochs in which every new pair occurs once
        self.draws = plan_draws(languages, temperature, min(most or self.new_rows, self.new_rows))

    def select_rows(self, epoch: int) -> NDArray[np.int64]:
        """Returns the rows of `split` for an epoch, from 1. Old pairs recur only after all others have occurred."""
        new = self.select_part(epoch)
        replayed = round(len(new) * self.share / (1 - self.share))
        if not replayed:
            return new
        generator = np.random.default_rng([self.seed, epoch, len(self.allowed)])
        rounds = -(-replayed // len(self.allowed))
        old = np.concatenate([generator.permutation(self.allowed) for _ in range(rounds)])[:replayed]
        return np.concatenate([new, self.new_rows + old])

    @property
    def pairs(self) -> int:
        """The number of all new pairs, and of the old ones of the first epoch."""
        return self.new_rows + len(self.select_rows(1)) - len(self.select_part(1))

    def select_part(self, epoch: int) -> NDArray[np.int64]:
        """Returns the rows of the new pairs of an epoch; `parts` epochs cover all of them, then the cycle restarts."""
        if self.draws:
            return np.sort(np.concatenate([draw.select_rows(epoch, self.seed) for draw in self.draws]))
        if self.parts <= 1:
            return np.arange(self.new_rows)
        turn, part = divmod(epoch - 1, self.parts)
        order = np.random.default_rng([self.seed, turn, self.parts]).permutation(self.new_rows)
        return np.sort(np.array_split(order, self.parts)[part])


def exclude_held_out(old: PreparedCorpus, new: PreparedCorpus) -> NDArray[np.int64]:
    """Returns the rows of the training pairs of `old` that share no sentence with the dev and test splits of `new`."""
    held_out = [pair for split in ("dev", "test") for pair in new.read_pairs(split)]
    sources, targets = ({make_sentence_key(pair[side]) for pair in held_out} for side in (0, 1))
    is_allowed = [
        make_sentence_key(pair.source) not in sources and make_sentence_key(pair.target) not in targets
        for pair in old.read_pairs("train")
    ]
    return np.flatnonzero(is_allowed)


def join_splits(new: EncodedSplit, old: EncodedSplit) -> EncodedSplit:
    """Concatenates both splits. Raises OptionError if sources are pictures."""
    sources = (split.source.require_sentences("--replay replays sentences", "leave it out") for split in (new, old))
    return EncodedSplit(Sentences(*join_ragged(*sources)), Ragged(*join_ragged(new.target, old.target)))


def join_ragged(first: Ragged, second: Ragged) -> tuple[IntArray, NDArray[np.int64]]:
    """Returns the ids and offsets of both, concatenated."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return np.concatenate([first.ids, second.ids]), offsets
