"""The lead of a target: given tokens that it begins with, such as the translation of the sentence before.

They are no part of a hypothesis: they count towards no score, no limit and no constraint. Letters: B sentences, P
tokens, N rows, C candidates, T tokens so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Self

import numpy as np

from nmt_cli.arrays.padding import pad_rows
from nmt_cli.arrays.special_ids import START
from nmt_cli.arrays.types import IntArray
from nmt_cli.search.constraints import NEVER
from nmt_cli.search.result import SearchResult
from nmt_cli.search.step_model import FedModel, StateT, Step, StepModel


class FedTargets(NamedTuple, Generic[StateT]):
    """The state of sentences behind their leads, and the token (B,) that is to be fed next."""

    state: StateT
    previous: IntArray


@dataclass(frozen=True)
class Lead:
    """The leads of the sentences of a batch, which may be empty, and the source positions that they translate."""

    tokens: IntArray  # (B, P)
    lengths: IntArray  # (B,)
    source_lengths: IntArray  # (B,)

    @classmethod
    def from_tokens(cls, leads: Sequence[Sequence[int]], source_lengths: Sequence[int]) -> Self | None:
        """Returns the leads of a batch; None if all are empty."""
        if not any(leads):
            return None
        lengths = np.array([len(lead) for lead in leads])
        return cls(pad_rows([*leads]), lengths, np.where(lengths, source_lengths, 0))

    def feed(self, model: StepModel[StateT], state: StateT) -> FedTargets[StateT] | None:
        """Feeds the leads to a model that takes them before the search; None for any other."""
        tokens = np.pad(self.tokens, ((0, 0), (1, 0)), constant_values=START)
        behind = model.feed(tokens, self.lengths, state) if isinstance(model, FedModel) else None
        return None if behind is None else FedTargets(behind, tokens[np.arange(len(tokens)), self.lengths])

    def is_over(self, sentences: IntArray, length: int) -> bool:
        """Whether the leads of any of the `sentences` are over after `length` tokens."""
        return bool((self.lengths[sentences] <= length).any())

    def force(self, step: Step[StateT], sentences: IntArray, length: int) -> Step[StateT]:
        """Returns a step after `length` tokens, in which rows (N,) of these sentences have but the token of a lead."""
        rows = np.flatnonzero(self.lengths[sentences] > length)
        if not len(rows):
            return step
        tokens, log_probabilities = step.tokens.copy(), step.log_probabilities.copy()
        tokens[rows] = self.tokens[sentences[rows], length][:, np.newaxis]
        log_probabilities[rows], log_probabilities[rows, 0] = NEVER, 0.0
        return step._replace(tokens=tokens, log_probabilities=log_probabilities)

    def mask(self, history: IntArray, sentences: IntArray) -> IntArray:
        """Returns the tokens so far (N, T) of rows of these sentences, with other numbers for each token of a lead."""
        positions = np.arange(history.shape[1])
        return np.where(positions < self.lengths[sentences, np.newaxis], -1 - positions, history)

    def remove(self, results: Sequence[Sequence[SearchResult]]) -> list[list[SearchResult]]:
        """Returns the hypotheses of each sentence without its lead."""
        return [
            [
                result._replace(
                    tokens=result.tokens[length:],
                    token_log_probabilities=result.token_log_probabilities[length:],
                    attention=result.attention[length:],
                )
                for result in group
            ]
            for group, length in zip(results, self.lengths.tolist(), strict=True)
        ]
