"""The steps of a search, as pointers from every row to the row that it continues, and how hypotheses are traced back.

Letters: N rows of a step, R rows traced back, T steps, S source positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.special_ids import END
from nmt_cli.arrays.types import FloatArray, IntArray


class Steps(NamedTuple):
    """The T steps that led to each of R rows; after its last step, a row is filled with END, 0 and its own number."""

    tokens: IntArray  # (R, T)
    log_probabilities: FloatArray  # (R, T), of each token alone
    parents: IntArray  # (R, T), the rows that they continue


@dataclass
class Backpointers:
    """The token and the parent of every row at every step, for tracing back hypotheses."""

    tokens: list[IntArray]  # one array per step: (N,)
    log_probabilities: list[FloatArray]  # one array per step: (N,), of the token alone
    parents: list[IntArray]  # one array per step: (N,), the row of the step before
    attention: list[FloatArray]  # one array per step: (rows of the step before, S)

    def backtrace(self, rows: IntArray, lengths: IntArray) -> Steps:
        """Returns the first `lengths` steps that led to `rows`; the longest hypothesis must come first."""
        shape = len(rows), int(lengths.max(initial=0)) + 1
        tokens, log_probabilities = np.full(shape, END, dtype=np.int64), np.zeros(shape)
        parents = np.repeat(rows[:, np.newaxis], shape[1], axis=1)
        here = rows.copy()
        for step in reversed(range(shape[1] - 1)):
            reaching = np.searchsorted(-lengths, -step)  # the number of rows that have this step
            reached = here[:reaching]
            tokens[:reaching, step] = self.tokens[step][reached]
            log_probabilities[:reaching, step] = self.log_probabilities[step][reached]
            here[:reaching] = parents[:reaching, step] = self.parents[step][reached]
        return Steps(tokens, log_probabilities, parents)

    def gather_attention(self, parents: IntArray, lengths: IntArray) -> FloatArray:
        """Returns (R, T, S): the attention of the rows `parents` (R, T) in the first `lengths` steps of each."""
        attention = np.zeros((*parents.shape, self.attention[0].shape[1]), dtype=self.attention[0].dtype)
        for step in range(parents.shape[1]):
            reaching = np.searchsorted(-lengths, -step)
            attention[:reaching, step] = self.attention[step][parents[:reaching, step]]
        return attention

    def read_history(self, rows: int) -> IntArray:
        """Returns (N, T): the tokens of each of the `rows` open rows."""
        return self.backtrace(np.arange(rows), np.full(rows, len(self.tokens))).tokens[:, :-1]

    def sum_attention(self, latest: FloatArray) -> FloatArray:
        """Returns (N, S): the attention of each row, summed over its previous steps and `latest`, the current one."""
        total = latest.astype(np.float64)
        here: IntArray = np.arange(len(latest))
        for step in reversed(range(len(self.tokens))):
            here = self.parents[step][here]
            total += self.attention[step][here]
        return total

    def prune(self, rows: IntArray) -> None:
        """Drops all rows of the last step except `rows`."""
        self.tokens[-1] = self.tokens[-1][rows]
        self.log_probabilities[-1] = self.log_probabilities[-1][rows]
        self.parents[-1] = self.parents[-1][rows]
