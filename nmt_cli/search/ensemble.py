"""Makes one step model of several: averages their probabilities. Knows no files and no text.

Letters: N rows, S source positions, C candidates, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.search.step_model import Step, StepModel


class EnsembleState(NamedTuple):
    """The state of each model, for the same rows."""

    members: tuple[Any, ...]

    def select(self, rows: IntArray) -> EnsembleState:
        return EnsembleState(tuple(member.select(rows) for member in self.members))


class Ensemble:
    """Implements `StepModel`. All models use the same ids; `vocabulary` is the number of target ids."""

    def __init__(self, models: Sequence[StepModel[Any]], vocabulary: int) -> None:
        self.models = tuple(models)
        self.vocabulary = vocabulary

    def encode(self, source: SourceArray) -> EnsembleState:
        return EnsembleState(tuple(model.encode(source) for model in self.models))

    def step(
        self, tokens: IntArray, state: EnsembleState, candidates: int, *, scored: bool = True
    ) -> Step[EnsembleState]:
        """Extends each row exactly: asks every model for all V tokens, since the mean needs them all."""
        steps = [
            model.step(tokens, member, self.vocabulary)
            for model, member in zip(self.models, state.members, strict=True)
        ]
        total = np.zeros((len(tokens), self.vocabulary))
        for step in steps:
            columns = np.argsort(step.tokens, axis=1)  # (N, V): that of each token, since a row holds every token once
            total += np.take_along_axis(np.exp(step.log_probabilities, dtype=np.float64), columns, axis=1)
        best = np.argsort(-total, axis=1, kind="stable")[:, :candidates]
        with np.errstate(divide="ignore"):  # a probability of 0 in all models is -inf
            log_probabilities = np.log(np.take_along_axis(total, best, axis=1) / len(steps))
        return Step(
            tokens=best,
            log_probabilities=log_probabilities,
            attention=average_attention([step.attention for step in steps]),
            state=EnsembleState(tuple(step.state for step in steps)),
        )


def average_attention(attentions: Sequence[FloatArray]) -> FloatArray:
    """Returns (N, S): the mean over the models with attention; 0 everywhere for a model without attention."""
    with_attention = [attention for attention in attentions if attention.any()]
    return np.asarray(np.mean(with_attention or attentions, axis=0))
