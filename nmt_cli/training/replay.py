"""Old pairs among the new ones of every epoch, so that fine-tuning does not forget them.

Source: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods", mixed fine-tuning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.dataset import EncodedSplit
from nmt_cli.corpus.ragged import Ragged


class Replay:
    """New pairs, and each epoch others of the old ones: so many that these make the given share (0 to 1) of it."""

    def __init__(self, new: EncodedSplit, old: EncodedSplit | None, *, share: float, seed: int) -> None:
        self.new_rows = len(new.source)
        self.old_rows = 0 if old is None else len(old.source)
        self.split = new if old is None else EncodedSplit(*map(joined, vars(new).values(), vars(old).values()))
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


def joined(first: Ragged, second: Ragged) -> Ragged:
    """The sequences of both, one after the other."""
    ids = np.concatenate([first.ids, second.ids])
    return type(first)(ids, np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]))
