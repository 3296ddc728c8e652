"""Forced decoding: computes the probability of a given translation under a model. Does not depend on networks or files.

Relies only on the step-model protocol: a step asked for as many candidates as there are tokens returns the probability
of every token. Few rows need that, and it takes several times as long as a step of search. Letters: N rows, B
sentences, S source positions, T target tokens (the last is END), V tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.arrays.types import START, FloatArray, IntArray, SourceArray
from nmt_cli.search.step_model import StateT, Step, StepModel

LIKELY = 64  # candidates of a step that have most target tokens among them


class ForcedTarget(NamedTuple):
    """A given target under a model: the probability and the attention of each of its tokens."""

    tokens: tuple[int, ...]  # T, END included
    log_probabilities: tuple[float, ...]  # T, natural
    likeliest: tuple[bool, ...]  # T: whether no other token was more likely at its position
    attention: FloatArray  # (T, S)

    @property
    def log_probability(self) -> float:
        return sum(self.log_probabilities)

    def trim(self, prefix: int, width: int) -> Self:
        """Returns the target without its first tokens, and its attention to the first positions."""
        tokens, values, likeliest, attention = self
        return type(self)(tokens[prefix:], values[prefix:], likeliest[prefix:], attention[prefix:, :width])


def force(
    model: StepModel[StateT], source: SourceArray, targets: Sequence[Sequence[int]], size: int
) -> list[ForcedTarget]:
    """Scores `targets` (ids that end with END), one for each row of `source` (B, S, ...); `size` is V."""
    rows = np.arange(len(targets))
    target_ids = pad_rows(targets)  # (B, longest T)
    lengths = np.array([len(target) for target in targets])
    state = model.encode(source)
    previous: IntArray = np.full(len(targets), START)
    log_probabilities: list[list[float]] = [[] for _ in targets]
    is_likeliest: list[list[bool]] = [[] for _ in targets]
    attention: list[list[FloatArray]] = [[] for _ in targets]
    for position in range(target_ids.shape[1]):
        # 1. Keep the targets that have a token at this position.
        open_rows = np.flatnonzero(lengths[rows] > position)
        if len(open_rows) < len(rows):
            rows, state, previous = rows[open_rows], state.select(open_rows), previous[open_rows]
        # 2. Ask for the probability of the target token.
        tokens = target_ids[rows, position]
        step, chosen = step_to_tokens(model, previous, state, tokens, size)
        hits, previous = chosen >= step.log_probabilities[:, 0], tokens
        # 3. Record it, whether it is the highest, and the attention.
        for index, row in enumerate(rows.tolist()):
            log_probabilities[row].append(float(chosen[index]))
            is_likeliest[row].append(bool(hits[index]))
            attention[row].append(step.attention[index])
        state = step.state
    return [
        ForcedTarget(tuple(target), tuple(values), tuple(hits), np.stack(matrix))
        for target, values, hits, matrix in zip(targets, log_probabilities, is_likeliest, attention, strict=True)
    ]


def find_as_likely(
    model: StepModel[StateT],
    source: SourceArray,
    targets: Sequence[Sequence[int]],
    least: Sequence[Sequence[float]],
    size: int,
) -> list[bool]:
    """Returns whether all tokens of each target have at least the log-probabilities `least`.

    Each target is dropped at its first token that falls short, so most take only part of the time of `force`.
    """
    rows = np.arange(len(targets))
    target_ids, limits = pad_rows(targets), np.full((len(targets), max(map(len, targets))), -np.inf)  # (B, longest T)
    for row, values in enumerate(least):
        limits[row, : len(values)] = values
    lengths = np.array([len(target) for target in targets])
    is_likely, previous = np.ones(len(targets), dtype=bool), np.full(len(targets), START)
    state = model.encode(source)
    for position in range(target_ids.shape[1]):
        open_rows = np.flatnonzero(is_likely[rows] & (lengths[rows] > position))
        if not len(open_rows):
            break
        if len(open_rows) < len(rows):
            rows, state, previous = rows[open_rows], state.select(open_rows), previous[open_rows]
        tokens, limit = target_ids[rows, position], limits[rows, position]
        step, chosen = step_to_tokens(model, previous, state, tokens, size, limit)
        is_likely[rows] = chosen >= limit
        state, previous = step.state, tokens
    return is_likely.tolist()


def step_to_tokens(
    model: StepModel[StateT],
    previous: IntArray,
    state: StateT,
    tokens: IntArray,
    size: int,
    least: FloatArray | float = -np.inf,
) -> tuple[Step[StateT], FloatArray]:
    """Returns a step of the likeliest candidates, and (N,): the log-probability of one token per row.

    It is -inf for a token that is not a candidate if even the last candidate is less likely than `least`.
    """
    step = model.step(previous, state, min(LIKELY, size))
    chosen = find_log_probabilities(step, tokens)
    is_other = np.isnan(chosen)
    others = np.flatnonzero(is_other & (step.log_probabilities[:, -1] >= least))
    chosen[is_other] = -np.inf
    if len(others):
        rest = deepcopy(state).select(others)  # which may reuse the memory that the next step needs
        whole = model.step(previous[others], rest, size)
        chosen[others] = find_log_probabilities(whole, tokens[others])
    return step, chosen


def find_log_probabilities(step: Step[Any], tokens: IntArray) -> FloatArray:
    """Returns (N,): the log-probability of one token per row; NaN for a token that is not a candidate."""
    is_token = step.tokens == tokens[:, None]
    values = step.log_probabilities[np.arange(len(tokens)), is_token.argmax(axis=1)]
    return np.where(is_token.any(axis=1), values, np.nan)
