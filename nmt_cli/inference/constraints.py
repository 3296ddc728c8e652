"""What a hypothesis may go on with: a forced beginning, a ban on repetition. Knows no network and no text.

A constraint bars candidates; search asks for so many more that enough are left. A sampler (`sampling.py`) is the
constraint that leaves one. Letters: N rows, C candidates, T tokens so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.protocol import ALL, FloatArray, IntArray, StateT, Step
from nmt_cli.inference.sampling import Place, Sampler

NEVER = -np.inf


class Rows(NamedTuple):
    """The open hypotheses that a step continues."""

    history: IntArray  # (N, T) tokens so far
    sentences: IntArray  # (N,) the sentence of each, by its place in the batch
    places: IntArray  # (N,) the place of each among the rows of its sentence


class Constraint(Protocol):
    """Stateless: all it may look at is handed to it."""

    def candidates(self, wanted: int, length: int) -> int:
        """How many a step must give after `length` tokens, so that `wanted` are left, or all that are allowed."""
        ...

    def allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        """(N, C): which candidates may be taken; those that are barred already have a probability of NEVER."""
        ...


class Prefix(NamedTuple):
    """The target begins with these tokens."""

    tokens: tuple[int, ...]

    def candidates(self, wanted: int, length: int) -> int:
        return ALL if length < len(self.tokens) else wanted

    def allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        length = rows.history.shape[1]
        if length >= len(self.tokens):
            return np.ones(tokens.shape, dtype=bool)
        return np.asarray(tokens == self.tokens[length])


class NgramBan(NamedTuple):
    """No run of `size` tokens occurs twice; tokens before `after` are forced and free of the ban."""

    size: int
    after: int = 0

    def candidates(self, wanted: int, length: int) -> int:
        return wanted + max(0, length - self.size + 1)  # a run that ended earlier bars one token at most

    def allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        history, before = rows.history, self.size - 1
        starts = history.shape[1] - before  # places at which an earlier run of this size may begin
        if starts <= 0 or history.shape[1] < self.after:
            return np.ones(tokens.shape, dtype=bool)
        again = np.ones((len(history), starts), dtype=bool)
        for offset in range(before):
            again &= history[:, offset : offset + starts] == history[:, starts + offset, None]
        barred = np.where(again, history[:, before:], -1)  # (N, starts)
        return np.asarray(~(tokens[:, :, None] == barred[:, None, :]).any(axis=2))


class Guide(NamedTuple):
    """All that bars candidates in one search."""

    constraints: tuple[Constraint, ...] = ()
    forced: int = 0  # tokens that are given; the limit of a length counts from there
    vocabulary: int = ALL  # candidates that a step can give at most
    draws: bool = False  # whether the constraints leave each row one candidate

    @classmethod
    def of(
        cls,
        config: SearchConfig,
        *,
        prefix: Sequence[int] = (),
        places: Sequence[Place] = (),
        steps: int = 0,
        vocabulary: int = ALL,
    ) -> Self:
        """What `config` asks for; `prefix` in ids.

        For sampling, `places` are those of the sentences, by which they draw, and `steps` the most they take; raises
        ValueError without.
        """
        constraints: list[Constraint] = []
        if prefix:
            constraints.append(Prefix(tuple(prefix)))
        if config.no_repeat_ngram:
            constraints.append(NgramBan(config.no_repeat_ngram, after=len(prefix)))
        if config.sampling.sample:
            if not places:
                raise ValueError("sentences are sampled by their places, and none are given")
            constraints.append(Sampler.of(config.sampling, places, rows=config.rows, steps=steps))
        return cls(tuple(constraints), len(prefix), vocabulary, config.sampling.sample)

    def candidates(self, wanted: int, length: int) -> int:
        for constraint in reversed(self.constraints):
            wanted = min(ALL, constraint.candidates(wanted, length))
        return min(wanted, self.vocabulary)

    def narrowed(self, step: Step[StateT], rows: Rows, wanted: int) -> Step[StateT]:
        """`step` with the `wanted` best of the allowed candidates of each row."""
        values = step.log_probabilities
        for constraint in self.constraints:
            values = np.where(constraint.allowed(step.tokens, values, rows), values, NEVER)
        order = np.argsort(values == NEVER, axis=1, kind="stable")[:, :wanted]
        return step._replace(
            tokens=np.take_along_axis(step.tokens, order, axis=1),
            log_probabilities=np.take_along_axis(values, order, axis=1),
        )
