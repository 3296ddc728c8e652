"""Forced decoding: what a model thinks of a translation that is given to it. Knows no network and no files.

Works through the step-model protocol alone: a step is asked for as many candidates as there are tokens, which gives
the probability of every one. Letters: B sentences, S source positions, T target tokens (the last is END), V tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmt_cli.arrays.batching import padded
from nmt_cli.arrays.special_ids import START
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.search.step_model import StateT, StepModel


@dataclass(frozen=True)
class Forced:
    """A given target under a model."""

    tokens: tuple[int, ...]  # T, END included
    log_probabilities: tuple[float, ...]  # T, natural
    likeliest: tuple[bool, ...]  # T: whether no other token was more likely at its place
    attention: FloatArray  # (T, S)

    @property
    def log_probability(self) -> float:
        return sum(self.log_probabilities)


def force(model: StepModel[StateT], source: SourceArray, targets: Sequence[Sequence[int]], size: int) -> list[Forced]:
    """Scores `targets` (ids ending with END), one of each row of `source` (B, S, ...); `size` is V."""
    rows = np.arange(len(targets))
    wanted = padded(targets, rows.tolist())  # (B, longest T)
    lengths = np.array([len(target) for target in targets])
    state = model.encode(source)
    previous: IntArray = np.full(len(targets), START)
    found: list[list[float]] = [[] for _ in targets]
    best: list[list[bool]] = [[] for _ in targets]
    attention: list[list[FloatArray]] = [[] for _ in targets]
    for place in range(wanted.shape[1]):
        going = np.flatnonzero(lengths[rows] > place)  # rows of this step that have not ended
        if len(going) < len(rows):
            rows, state, previous = rows[going], state.select(going), previous[going]
        step = model.step(previous, state, size)
        previous = wanted[rows, place]
        column = (step.tokens == previous[:, None]).argmax(axis=1)
        chosen = step.log_probabilities[np.arange(len(rows)), column]
        hits = chosen >= step.log_probabilities[:, 0]
        for index, row in enumerate(rows.tolist()):
            found[row].append(float(chosen[index]))
            best[row].append(bool(hits[index]))
            attention[row].append(step.attention[index])
        state = step.state
    return [
        Forced(tuple(target), tuple(values), tuple(hits), np.stack(looks))
        for target, values, hits, looks in zip(targets, found, best, attention, strict=True)
    ]
