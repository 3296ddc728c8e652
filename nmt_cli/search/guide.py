"""All constraints of one search, as one. Knows no network and no text. Letters: N rows, C candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import NEVER, Constraint, NgramBan, Prefix, Rows
from nmt_cli.search.sampling import Sampler, TextId
from nmt_cli.search.step_model import ALL, StateT, Step


class Guide(NamedTuple):
    """All that bars candidates in one search."""

    constraints: tuple[Constraint, ...] = ()
    prefix_length: int = 0  # tokens that are given; the limit of a length counts from there
    vocabulary: int = ALL  # candidates that a step can give at most
    is_sampling: bool = False  # whether the constraints leave each row one candidate

    @classmethod
    def from_config(
        cls,
        config: SearchConfig,
        *,
        prefix: Sequence[int] = (),
        text_ids: Sequence[TextId] = (),
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
            if not text_ids:
                raise ValueError("sentences are sampled by their places, and none are given")
            constraints.append(Sampler.from_config(config.sampling, text_ids, rows=config.rows, steps=steps))
        return cls(tuple(constraints), len(prefix), vocabulary, config.sampling.sample)

    def count_candidates(self, needed: int, length: int) -> int:
        for constraint in reversed(self.constraints):
            needed = min(ALL, constraint.count_candidates(needed, length))
        return min(needed, self.vocabulary)

    def narrow_step(self, step: Step[StateT], rows: Rows, needed: int) -> Step[StateT]:
        """`step` with the `wanted` best of the allowed candidates of each row."""
        values = step.log_probabilities
        for constraint in self.constraints:
            values = np.where(constraint.find_allowed(step.tokens, values, rows), values, NEVER)
        order = np.argsort(values == NEVER, axis=1, kind="stable")[:, :needed]
        return step._replace(
            tokens=np.take_along_axis(step.tokens, order, axis=1),
            log_probabilities=np.take_along_axis(values, order, axis=1),
        )
