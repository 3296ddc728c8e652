"""Old pairs among the new ones of every epoch, so that fine-tuning does not forget them.

Source: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods", mixed fine-tuning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import EncodedSplit, Sentences
from nmt_cli.corpus.ragged import IntArray, Ragged
from nmt_cli.errors import OptionError


class Replay:
    """New pairs, and each epoch others of the old ones: so many that these make the given share (0 to 1) of it."""

    def __init__(self, new: EncodedSplit, old: EncodedSplit | None, *, share: float, seed: int) -> None:
        self.new_rows = len(new.source)
        self.old_rows = 0 if old is None else len(old.source)
        self.split = new if old is None else both(new, old)
        self.replayed = round(self.new_rows * share / (1 - share)) if old is not None else 0
        self.seed = seed

    def rows(self, epoch: int) -> NDArray[np.int64]:
        """The rows of `split` that an epoch has; an old pair a second time only once each was there."""
        every = np.arange(self.new_rows)
        if not self.replayed:
            return every
        generator = np.random.default_rng([self.seed, epoch, self.old_rows])
        rounds = -(-self.replayed // self.old_rows)
        old = np.concatenate([generator.permutation(self.old_rows) for _ in range(rounds)])[: self.replayed]
        return np.concatenate([every, self.new_rows + old])


def both(new: EncodedSplit, old: EncodedSplit) -> EncodedSplit:
    """The pairs of both, one after the other. Raises OptionError where sources are pictures."""
    if not isinstance(new.source, Sentences) or not isinstance(old.source, Sentences):
        raise OptionError("--replay is for sentences; pictures cannot be replayed", hint="leave it out")
    return EncodedSplit(Sentences(*joined(new.source, old.source)), Ragged(*joined(new.target, old.target)))


def joined(first: Ragged, second: Ragged) -> tuple[IntArray, NDArray[np.int64]]:
    """Ids and offsets of the sequences of both."""
    offsets = np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]])
    return np.concatenate([first.ids, second.ids]), offsets
