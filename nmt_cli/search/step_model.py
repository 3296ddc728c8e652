"""What search may know of a network: `encode`, `step`, and a state that can be reordered.

Letters: B sentences, S source positions, N rows (hypotheses under way), C candidates of a row.
Implementations: `onnx_engine.OnnxEngine` (from an exported model), `training.engine.KerasEngine`,
`ensemble.Ensemble` (of several others), and a probability table in the tests.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray

ALL = int(np.iinfo(np.int32).max)  # candidates: as many as there are tokens; search lowers it to the vocabulary


class State(Protocol):
    """What a network remembers of N hypotheses. `step` returns another."""

    def select(self, rows: IntArray) -> Self:
        """The state whose row i is row `rows[i]` of this one: reorders, repeats and drops rows.

        It may take over this one's memory: only the state that is returned may be used from then on.
        """
        ...


StateT = TypeVar("StateT", bound=State)


class Step(NamedTuple, Generic[StateT]):
    """One decoding step of N rows: the C best candidates of each, best first."""

    tokens: IntArray  # (N, C)
    log_probabilities: FloatArray  # (N, C), natural logarithm
    attention: FloatArray  # (N, S), rows sum to 1 over the true source positions
    state: StateT


class StepModel(Protocol[StateT]):
    """A translation model as search sees it. Batch is axis 0; nothing is remembered between calls."""

    def encode(self, source: SourceArray) -> StateT:
        """The state before the first target token, one row a sentence; `source` is what `corpus.source` batches."""
        ...

    def step(self, tokens: IntArray, state: StateT, candidates: int, *, scored: bool = True) -> Step[StateT]:
        """Feeds the previous token of each row, (N,), and gives the `candidates` best next ones.

        Who asks for them not `scored` wants their order alone: what they have of log-probabilities may then lack a
        constant for each row, where leaving it out is faster.
        """
        ...
