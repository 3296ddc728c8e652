"""Samples the next token of each row: a constraint that leaves one candidate. Knows no search.

Letters: B sentences, K rows per sentence, N rows of a step, C candidates, T tokens.
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
    """The position of an independently translated text in the whole input; both numbers count from 0."""

    line: int
    piece: int


class Sampler(NamedTuple):
    """Draws one candidate per row. Each sentence has its own random numbers, whatever the rest of its batch."""

    config: SamplingConfig
    draws: FloatArray  # (B, T, K), 0 to 1: one for each token of each sample

    @classmethod
    def from_config(cls, config: SamplingConfig, text_ids: Sequence[TextId], *, rows: int, steps: int) -> Self:
        """Returns the sampler of a batch; a text id always gives the same random numbers."""
        draws = [np.random.default_rng([config.seed, *text_id]).random((steps, rows)) for text_id in text_ids]
        return cls(config, np.stack(draws))

    def count_candidates(self, needed: int, length: int) -> int:
        return self.config.top_k or ALL

    def find_allowed(self, tokens: IntArray, log_probabilities: FloatArray, rows: Rows) -> NDArray[np.bool_]:
        draws = self.draws[rows.sentences, rows.history.shape[1], rows.ranks]
        columns = draw_columns(log_probabilities, draws, self.config)
        return np.asarray(np.arange(tokens.shape[1]) == columns[:, None])


def draw_columns(log_probabilities: FloatArray, draws: FloatArray, config: SamplingConfig) -> IntArray:
    """Returns (N,): the column of `log_probabilities` (N, C), best first, that each of `draws` (N,) selects."""
    # 1. Divide the log-probabilities by the temperature.
    scaled = log_probabilities.astype(np.float64) / config.temperature
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    # 2. Keep the `top_k` best of the allowed candidates.
    if config.top_k:
        weights[np.cumsum(weights > 0, axis=1) > config.top_k] = 0.0
    # 3. Of these, keep the nucleus: the smallest set that reaches `top_p`, and at least the best.
    cumulative = np.cumsum(weights, axis=1)
    nucleus = cumulative - weights < config.top_p * cumulative[:, -1:]
    # 4. Select the column in which the draw falls.
    cumulative = np.cumsum(np.where(nucleus, weights, 0.0), axis=1)
    return np.asarray((cumulative <= draws[:, None] * cumulative[:, -1:]).sum(axis=1))
