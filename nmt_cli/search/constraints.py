"""Restricts the tokens that may follow a hypothesis: a forced prefix, a ban on repeated n-grams, a limit on copies.

Knows no network and no text. A constraint bars candidates; search requests enough of them for some to remain. A sampler
(`sampling.py`) is a constraint that leaves one. Letters: N rows, C candidates, T tokens so far.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.step_model import ALL

NEVER = -np.inf


class Rows(NamedTuple):
    """The open hypotheses that a step extends."""

    history: IntArray  # (N, T) tokens so far; those of a lead are negative, and all different
    sentences: IntArray  # (N,) the sentence of each row, by its index in the batch
    ranks: IntArray  # (N,) the rank of each row among those of its sentence


class Constraint(Protocol):
    """Bars candidates. Stateless: everything it may look at is passed to it."""

    def count_candidates(self, needed: int, length: int) -> int:
        """Returns the number of candidates a step needs after `length` tokens so that `needed`, or all allowed ones,
        remain.
        """
        ...

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        """Returns (N, C): which candidates are allowed; already barred ones have a log-probability of NEVER."""
        ...


class Prefix(NamedTuple):
    """Forces the target to begin with these tokens."""

    tokens: tuple[int, ...]

    def count_candidates(self, needed: int, length: int) -> int:
        return ALL if length < len(self.tokens) else needed

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        length = rows.history.shape[1]
        if length >= len(self.tokens):
            return np.ones(tokens.shape, dtype=bool)
        return np.asarray(tokens == self.tokens[length])


class NgramBan(NamedTuple):
    """Forbids any n-gram of `size` tokens to occur twice; the first `after` tokens are forced and exempt."""

    size: int
    after: int = 0

    def count_candidates(self, needed: int, length: int) -> int:
        return needed + max(0, length - self.size + 1)  # each earlier n-gram bars at most one token

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        history, before = rows.history, self.size - 1
        starts = history.shape[1] - before  # positions at which an earlier n-gram may begin
        if starts <= 0 or history.shape[1] < self.after:
            return np.ones(tokens.shape, dtype=bool)
        is_repeated = np.ones((len(history), starts), dtype=bool)  # whether its first tokens are the latest ones
        for offset in range(before):
            is_repeated &= history[:, offset : offset + starts] == history[:, starts + offset, None]
        barred = np.where(is_repeated, history[:, before:], -1)  # (N, starts)
        return np.asarray(~(tokens[:, :, None] == barred[:, None, :]).any(axis=2))


class CopyLimit(NamedTuple):
    """Allows certain tokens only as often as they occur in the source. Letters: B sentences, P tokens."""

    tokens: IntArray  # (P,)
    counts: IntArray  # (B, P) how often each may be written

    def count_candidates(self, needed: int, length: int) -> int:
        return needed + len(self.tokens)

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        written = (rows.history[:, :, None] == self.tokens).sum(axis=1)  # (N, P)
        is_used_up = written >= self.counts[rows.sentences]  # (N, P)
        is_barred = (tokens[:, :, None] == self.tokens) & is_used_up[:, None, :]  # (N, C, P)
        return np.asarray(~is_barred.any(axis=2))
