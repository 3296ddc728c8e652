"""Drawing the next token at random. Knows no search: as a constraint it leaves each row one candidate.

Letters: B sentences, K rows of a sentence, N rows of a step, C candidates, T tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.config import SamplingConfig
from nmt_cli.search.step_model import ALL

if TYPE_CHECKING:
    from nmt_cli.search.constraints import Rows


class TextId(NamedTuple):
    """Where in the whole input a text stands that is translated on its own; both count from 0."""

    line: int
    piece: int


class Sampler(NamedTuple):
    """Draws one candidate of each row. A sentence has its own random numbers, whatever stands beside it."""

    config: SamplingConfig
    draws: FloatArray  # (B, T, K), 0 to 1: one for every token of every sample

    @classmethod
    def from_config(cls, config: SamplingConfig, text_ids: Sequence[TextId], *, rows: int, steps: int) -> Self:
        """`places` are those of the sentences of the batch: the same place draws the same."""
        draws = [np.random.default_rng([config.seed, *text_id]).random((steps, rows)) for text_id in text_ids]
        return cls(config, np.stack(draws))

    def count_candidates(self, needed: int, length: int) -> int:
        return self.config.top_k or ALL

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        draws = self.draws[rows.sentences, rows.history.shape[1], rows.ranks]
        chosen = draw_columns(log_probabilities, draws, self.config)
        return np.asarray(np.arange(tokens.shape[1]) == chosen[:, None])


def draw_columns(log_probabilities: FloatArray, draws: FloatArray, config: SamplingConfig) -> IntArray:
    """(N,): the column that each of `draws` (N,), 0 to 1, falls on; columns of (N, C) come best first.

    In this order: temperature, the `top_k` best that are allowed, of these the nucleus of `top_p`.
    """
    scaled = log_probabilities.astype(np.float64) / config.temperature
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    if config.top_k:
        weights[np.cumsum(weights > 0, axis=1) > config.top_k] = 0.0
    reached = np.cumsum(weights, axis=1)
    before = reached - weights
    nucleus = before < config.top_p * reached[:, -1:]  # what is needed to reach top_p; the best always is
    reached = np.cumsum(np.where(nucleus, weights, 0.0), axis=1)
    return np.asarray((reached <= draws[:, None] * reached[:, -1:]).sum(axis=1))
