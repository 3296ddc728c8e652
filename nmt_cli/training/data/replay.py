"""Which pairs an epoch has: the new ones, or a part of them, and old ones, so that fine-tuning does not forget them.

Source: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods", mixed fine-tuning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus, Sentences
from nmt_cli.errors import OptionError
from nmt_cli.text.normalise import sentence_key


@dataclass(frozen=True)
class Replayed:
    """An old corpus, and the rows of its train pairs that may be replayed."""

    corpus: PreparedCorpus
    rows: NDArray[np.int64]

    @property
    def left_out(self) -> int:
        return self.corpus.manifest.counts.splits["train"] - len(self.rows)


class EpochRows:
    """The pairs of each epoch: all that are new, or at most `most` of them, in turn, and others of the old ones.

    Of the old ones so many that these make the given share (0 to 1) of it. `allowed` are those that may be taken, by
    their rows; all, where none are given.
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
    ) -> None:
        self.new_rows = len(new.source)
        self.allowed = np.arange(0 if old is None else len(old.source)) if allowed is None else allowed
        self.split = new if old is None else join_splits(new, old)
        self.share = share if len(self.allowed) else 0.0
        self.seed = seed
        self.parts = -(-self.new_rows // most) if most else 1  # epochs until each new pair was there once

    def select_rows(self, epoch: int) -> NDArray[np.int64]:
        """The rows of `split` that an epoch, from 1, has; an old pair a second time only once each was there."""
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
        """All that are new, and the old ones that go with the first part of them."""
        return self.new_rows + len(self.select_rows(1)) - len(self.select_part(1))

    def select_part(self, epoch: int) -> NDArray[np.int64]:
        """The new pairs of an epoch. Those of `parts` epochs are all of them, parted anew for the next so many."""
        if self.parts <= 1:
            return np.arange(self.new_rows)
        turn, part = divmod(epoch - 1, self.parts)
        order = np.random.default_rng([self.seed, turn, self.parts]).permutation(self.new_rows)
        return np.sort(np.array_split(order, self.parts)[part])


def clear_of(old: PreparedCorpus, new: PreparedCorpus) -> NDArray[np.int64]:
    """The train pairs of `old`, by their rows, of which no sentence stands in the dev or test split of `new`."""
    held_out = [pair for split in ("dev", "test") for pair in new.read_pairs(split)]
    sources, targets = ({sentence_key(pair[side]) for pair in held_out} for side in (0, 1))
    is_clear = [
        sentence_key(pair.source) not in sources and sentence_key(pair.target) not in targets
        for pair in old.read_pairs("train")
    ]
    return np.flatnonzero(is_clear)


def join_splits(new: EncodedSplit, old: EncodedSplit) -> EncodedSplit:
    """The pairs of both, one after the other. Raises OptionError where sources are pictures."""
    if not isinstance(new.source, Sentences) or not isinstance(old.source, Sentences):
        raise OptionError("--replay is for sentences; pictures cannot be replayed", hint="leave it out")
    return EncodedSplit(Sentences(*join_ragged(new.source, old.source)), Ragged(*join_ragged(new.target, old.target)))


def join_ragged(first: Ragged, second: Ragged) -> tuple[IntArray, NDArray[np.int64]]:
    """Ids and offsets of the sequences of both."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return np.concatenate([first.ids, second.ids]), offsets
