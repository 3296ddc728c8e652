"""A step model that is a table of probabilities, and search by trying everything: what search is tested against."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from nmt_cli.inference.protocol import FloatArray, IntArray, Step

START, END = 2, 3


@dataclass(frozen=True)
class TableState:
    """The table of each row, and the tokens it has so far as one number."""

    table: IntArray  # (N,)
    prefix: IntArray  # (N,)
    width: int

    def select(self, rows: IntArray) -> TableState:
        return TableState(self.table[rows], self.prefix[rows], self.width)


class TableModel:
    """log P(token | all tokens before) drawn from a seed; the sentence's first id is its seed.

    Tokens are END and `vocabulary` others from 4 on. Attention is one-hot at the number of the step, so that a
    hypothesis whose rows were mixed up shows it.
    """

    def __init__(self, vocabulary: int, sharpness: float = 1.0) -> None:
        self.tokens = np.array([END, *range(4, 4 + vocabulary)])
        self.sharpness = sharpness

    def encode(self, source_ids: IntArray) -> TableState:
        return TableState(source_ids[:, 0], np.zeros(len(source_ids), dtype=np.int64), source_ids.shape[1])

    def step(self, tokens: IntArray, state: TableState, candidates: int) -> Step[TableState]:
        prefix = state.prefix * 100 + tokens
        scores = np.stack([self.distribution(*key) for key in zip(state.table, prefix, strict=True)])
        order = np.argsort(-scores, axis=1)[:, :candidates]
        return Step(
            tokens=self.tokens[order],
            log_probabilities=np.take_along_axis(scores, order, axis=1),
            attention=(prefix[:, None] % 97 + np.arange(state.width)) / 1000.0,
            state=TableState(state.table, prefix, state.width),
        )

    def distribution(self, table: int, prefix: int) -> FloatArray:
        """log P over END and the others, after the tokens in `prefix`."""
        logits = np.random.default_rng([int(table), int(prefix)]).normal(size=len(self.tokens)) * self.sharpness
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def log_probability(self, table: int, tokens: tuple[int, ...]) -> float:
        """log P of a whole sequence."""
        total, prefix = 0.0, 0
        for previous, token in zip((START, *tokens[:-1]), tokens, strict=True):
            prefix = prefix * 100 + previous
            total += float(self.distribution(table, prefix)[list(self.tokens).index(token)])
        return total


def every_ended_sequence(model: TableModel, longest: int) -> list[tuple[int, ...]]:
    """All sequences that end with END and have at most `longest` tokens."""
    others = [int(token) for token in model.tokens if token != END]
    return [(*body, END) for length in range(longest) for body in itertools.product(others, repeat=length)]
