"""Combines the constraints of one search. Knows no network and no text. Letters: N rows, C candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np

from nmt_cli.search.config import SearchConfig
from nmt_cli.search.constraints import NEVER, Constraint, CopyLimit, NgramBan, Prefix, Rows
from nmt_cli.search.lead import Lead
from nmt_cli.search.sampling import Sampler, TextId
from nmt_cli.search.step_model import ALL, StateT, Step


class Guide(NamedTuple):
    """All constraints of one search, in the order in which they apply."""

    constraints: tuple[Constraint, ...] = ()
    prefix_length: int = 0  # forced tokens, which do not count towards the length limit
    vocabulary: int = ALL  # maximum number of candidates of a step
    is_sampling: bool = False  # whether a sampler leaves each row one candidate
    barred: int | None = None  # a token that is never written, except in a lead
    lead: Lead | None = None  # what targets begin with

    @classmethod
    def from_config(
        cls,
        config: SearchConfig,
        *,
        prefix: Sequence[int] = (),
        text_ids: Sequence[TextId] = (),
        steps: int = 0,
        vocabulary: int = ALL,
        copy_limit: CopyLimit | None = None,
        barred: int | None = None,
        lead: Lead | None = None,
    ) -> Self:
        """Returns the constraints requested by `config`, and the `copy_limit` if given; `prefix` is in ids.

        The token `barred` is never written, except in a `lead`. Sampling needs the ids of the texts, from which each
        text's random numbers follow, and `steps`, the maximum number of steps. Raises ValueError for sampling without
        text ids.
        """
        constraints: list[Constraint] = []
        if prefix:
            constraints.append(Prefix(tuple(prefix)))
        if config.no_repeat_ngram:
            constraints.append(NgramBan(config.no_repeat_ngram, after=len(prefix)))
        if copy_limit is not None:
            constraints.append(copy_limit)
        if config.sampling.sample:
            if not text_ids:
                raise ValueError("sampling needs the ids of the texts")
            constraints.append(Sampler.from_config(config.sampling, text_ids, rows=config.rows, steps=steps))
        return cls(tuple(constraints), len(prefix), vocabulary, config.sampling.sample, barred, lead)

    def count_candidates(self, needed: int, length: int) -> int:
        """Returns the number of candidates a step needs after `length` tokens so that `needed` remain."""
        needed += self.barred is not None
        for constraint in reversed(self.constraints):
            needed = min(ALL, constraint.count_candidates(needed, length))
        return min(needed, self.vocabulary)

    @property
    def narrows(self) -> bool:
        """Whether it bars any candidate."""
        return bool(self.constraints) or self.barred is not None

    def narrow_step(self, step: Step[StateT], describe_rows: Callable[[], Rows], needed: int) -> Step[StateT]:
        """Returns `step` with the `needed` best allowed candidates of each row; describing rows takes a while."""
        values = step.log_probabilities
        if self.barred is not None:
            values = np.where(step.tokens == self.barred, NEVER, values)
        if self.constraints:
            rows = describe_rows()
            for constraint in self.constraints:
                values = np.where(constraint.find_allowed(step.tokens, values, rows), values, NEVER)
        order = np.argsort(values == NEVER, axis=1, kind="stable")[:, :needed]
        return step._replace(
            tokens=np.take_along_axis(step.tokens, order, axis=1),
            log_probabilities=np.take_along_axis(values, order, axis=1),
        )
