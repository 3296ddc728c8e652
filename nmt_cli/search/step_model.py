"""The network as search sees it: `encode`, `step`, a state that can be reordered; and what a search finds."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray

# Defines the network as search sees it: `encode`, `step`, and a state that can be reordered.
#
# Letters: B sentences, S source positions, N rows (open hypotheses), C candidates per row. Implementations:
# `runtime.onnx_engine.OnnxEngine` (an exported model), `training.keras_engine.KerasEngine`, `ensemble.Ensemble`
# (several step models), and a table of probabilities in the tests.


ALL = int(np.iinfo(np.int32).max)  # a number of candidates: all tokens; search lowers it to the size of the vocabulary


class State(Protocol):
    """The state of a network for N hypotheses. `step` returns the next one."""

    def select(self, rows: IntArray) -> Self:
        """Returns the state whose row i is row `rows[i]` of this one: reorders, repeats and drops rows.

        The new state may reuse the memory of this one, which must not be used afterwards.
        """


StateT = TypeVar("StateT", bound=State)


class Step(NamedTuple, Generic[StateT]):
    """One decoding step of N rows: the C best candidates of each, best first."""

    tokens: IntArray  # (N, C)
    log_probabilities: FloatArray  # (N, C), natural logarithm
    attention: FloatArray  # (N, S), rows sum to 1 over the true source positions
    state: StateT


class StepModel(Protocol[StateT]):
    """A translation model as search sees it. Axis 0 is the batch; there is no hidden state between calls."""

    def encode(self, source: SourceArray) -> StateT:
        """Returns the state before the first target token, one row per sentence; `source` is a batch of `sources`."""

    def step(self, tokens: IntArray, state: StateT, candidates: int, *, scored: bool = True) -> Step[StateT]:
        """Feeds the previous token of each row, (N,), and returns the `candidates` best next ones.

        If `scored` is false, only their order matters: the log-probabilities of a row may be off by a constant if that
        is faster.
        """


@runtime_checkable
class FedModel(Protocol):
    """A step model that can be fed tokens before the search, which then takes no steps for them."""

    def feed(self, tokens: IntArray, lengths: IntArray, state: Any) -> Any | None:
        """Returns the state of `encode` after the first `lengths` (B,) of the tokens (B, T) of each sentence.

        Returns None if sentences that were fed different tokens cannot be searched together.
        """


# What a search finds. Letters: T target tokens, with the end-of-sentence token; S source positions.


class SearchResult(NamedTuple):
    """A hypothesis in ids; its last token is END if the network ended it (`finished`)."""

    tokens: tuple[int, ...]  # T
    log_probability: float
    score: float  # by which hypotheses are ranked (`ranking.Ranking`)
    token_log_probabilities: tuple[float, ...]  # T
    attention: FloatArray  # (T, S)
    finished: bool
