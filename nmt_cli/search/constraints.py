"""What a hypothesis may go on with: a forced beginning, a ban on repetition. Knows no network and no text.

A constraint bars candidates; search asks for so many more that enough are left. A sampler (`sampling.py`) is the
constraint that leaves one. Letters: N rows, C candidates, T tokens so far.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.step_model import ALL

NEVER = -np.inf


class Rows(NamedTuple):
    """The open hypotheses that a step continues."""

    history: IntArray  # (N, T) tokens so far
    sentences: IntArray  # (N,) the sentence of each, by its place in the batch
    ranks: IntArray  # (N,) the place of each among the rows of its sentence


class Constraint(Protocol):
    """Stateless: all it may look at is handed to it."""

    def count_candidates(self, needed: int, length: int) -> int:
        """How many a step must give after `length` tokens, so that `wanted` are left, or all that are allowed."""
        ...

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        """(N, C): which candidates may be taken; those that are barred already have a probability of NEVER."""
        ...


class Prefix(NamedTuple):
    """The target begins with these tokens."""

    tokens: tuple[int, ...]

    def count_candidates(self, needed: int, length: int) -> int:
        return ALL if length < len(self.tokens) else needed

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        length = rows.history.shape[1]
        if length >= len(self.tokens):
            return np.ones(tokens.shape, dtype=bool)
        return np.asarray(tokens == self.tokens[length])


class NgramBan(NamedTuple):
    """No run of `size` tokens occurs twice; tokens before `after` are forced and free of the ban."""

    size: int
    after: int = 0

    def count_candidates(self, needed: int, length: int) -> int:
        return needed + max(0, length - self.size + 1)  # a run that ended earlier bars one token at most

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        history, before = rows.history, self.size - 1
        starts = history.shape[1] - before  # places at which an earlier run of this size may begin
        if starts <= 0 or history.shape[1] < self.after:
            return np.ones(tokens.shape, dtype=bool)
        again = np.ones((len(history), starts), dtype=bool)
        for offset in range(before):
            again &= history[:, offset : offset + starts] == history[:, starts + offset, None]
        barred = np.where(again, history[:, before:], -1)  # (N, starts)
        return np.asarray(~(tokens[:, :, None] == barred[:, None, :]).any(axis=2))
