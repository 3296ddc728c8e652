"""A step model that is a table of probabilities, and search by trying everything: what search is tested against."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.step_model import SearchResult, Step

START, END = 2, 3


@dataclass(frozen=True)
class TableState:
    """The table of each row, and the tokens it has so far as one number."""

    table: IntArray  # (N,)
    prefix: IntArray  # (N,)
    width: int

    def select(self, rows: IntArray) -> TableState:
        """Leaves nothing of this one: whoever uses it again is told wrong."""
        chosen = TableState(self.table[rows], self.prefix[rows], self.width)
        self.table[:], self.prefix[:] = -1, -1
        return chosen


class TableModel:
    """log P(token | all tokens before) drawn from a seed; the sentence's first id is its seed.

    Tokens are END and `vocabulary` others from 4 on. Attention tells the tokens before the step, so that a hypothesis
    whose rows were mixed up shows it.
    With a share `attention` it also differs from position to position, so that coverage matters.
    """

    def __init__(self, vocabulary: int, sharpness: float = 1.0, attention: float = 0.0) -> None:
        self.tokens = np.array([END, *range(4, 4 + vocabulary)])
        self.sharpness = sharpness
        self.attention = attention

    def encode(self, source_ids: IntArray) -> TableState:
        return TableState(source_ids[:, 0].copy(), np.zeros(len(source_ids), dtype=np.int64), source_ids.shape[1])

    def step(self, tokens: IntArray, state: TableState, candidates: int, *, scored: bool = True) -> Step[TableState]:
        prefix = state.prefix * 100 + tokens
        scores = np.stack([self.distribution(*key) for key in zip(state.table, prefix, strict=True)])
        if not scored:
            scores += prefix[:, None] % 7  # any constant of the row, which `StepModel` allows then
        order = np.argsort(-scores, axis=1)[:, :candidates]
        return Step(
            tokens=self.tokens[order],
            log_probabilities=np.take_along_axis(scores, order, axis=1),
            attention=self.look(prefix, state.width),
            state=TableState(state.table, prefix, state.width),
        )

    def look(self, prefix: IntArray, width: int) -> FloatArray:
        """(N, S): what stands for attention; with a share `attention` it differs from position to position."""
        if not self.attention:
            return np.asarray((prefix[:, None] % 97 + np.arange(width)) / 1000.0)
        return np.asarray(self.attention * ((prefix[:, None] * (3 + np.arange(width))) % 11) / 10.0)

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


class FedTable(TableModel):
    """A table that takes leads before the search."""

    def feed(self, tokens: IntArray, lengths: IntArray, state: TableState) -> TableState:
        prefix = [
            sum(int(token) * 100 ** (length - 1 - place) for place, token in enumerate(row[:length]))
            for row, length in zip(tokens, lengths.tolist(), strict=True)
        ]
        return TableState(state.table, np.array(prefix), state.width)


def every_ended_sequence(model: TableModel, longest: int) -> list[tuple[int, ...]]:
    """All sequences that end with END and have at most `longest` tokens."""
    others = [int(token) for token in model.tokens if token != END]
    return [(*body, END) for length in range(longest) for body in itertools.product(others, repeat=length)]


def looked_at(model: TableModel, tokens: tuple[int, ...], width: int = 3) -> FloatArray:
    """(S,): the attention of a whole hypothesis, summed over its tokens."""
    total, prefix = np.zeros(width), 0
    for previous in (START, *tokens[:-1]):
        prefix = prefix * 100 + previous
        total += model.look(np.array([prefix]), width)[0]
    return total


def outline(results: list[SearchResult]) -> list[tuple[tuple[int, ...], float]]:
    return [(result.tokens, result.score) for result in results]


def sources(*seeds: int, width: int = 3) -> IntArray:
    """(B, S): a sentence for each seed, whose table the seed chooses."""
    rows = np.full((len(seeds), width), 9)
    rows[:, 0] = [seed + 10 for seed in seeds]
    rows[:, -1] = END
    return rows
