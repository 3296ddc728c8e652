"""Ranks hypotheses of different lengths by s(Y, X) = log P(Y | X) / lp(Y) + cp(X; Y). Knows no search.

Source: Wu et al. (2016), equation 14. Letters: N rows, S source positions.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import FloatArray, IntArray
from nmt_cli.search.config import SearchConfig

# Attention can underflow to 0 in 32 bits; the logarithm of 0 would make every score of the sentence -inf.
MIN_ATTENTION = 1e-6


class LengthPenalty(NamedTuple):
    """lp: length^alpha, with which a score at alpha 1 is the mean per token, or ((5 + length) / 6)^alpha (Wu et al.).

    Positive and non-decreasing in the number of tokens; `Ranking.bound_score` relies on that.
    """

    alpha: float
    averages: bool = True

    def __call__(self, length: int | IntArray) -> FloatArray:
        base = np.asarray(length, dtype=np.float64)
        return np.asarray((base if self.averages else (5.0 + base) / 6.0) ** self.alpha)


class CoveragePenalty(NamedTuple):
    """beta * sum over the source of log(min(a, 1)), where a is the attention of a position, summed over the target."""

    beta: float

    def __call__(self, attention_sum: FloatArray, is_real: NDArray[np.bool_]) -> FloatArray:
        """Returns (N,), at most 0. `attention_sum` (N, S) is summed over the target; `is_real` (N, S) excludes padding.

        The penalty is 0 if no position has attention, as in a network without attention.
        """
        is_real = is_real & attention_sum.any(axis=1, keepdims=True)
        share = np.log(np.clip(attention_sum, MIN_ATTENTION, 1.0))
        # A running sum adds from left to right, so padding changes no digit; `sum` adds in blocks.
        return np.asarray(self.beta * np.cumsum(np.where(is_real, share, 0.0), axis=1)[:, -1])


class Ranking(NamedTuple):
    """Computes the score by which finished hypotheses are ranked."""

    length: LengthPenalty
    coverage: CoveragePenalty

    @classmethod
    def from_config(cls, config: SearchConfig) -> Self:
        length = LengthPenalty(config.length_penalty, averages=config.length_normalisation == "average")
        return cls(length, CoveragePenalty(config.coverage_penalty))

    def score(self, log_probability: FloatArray, length: int | IntArray, coverage: FloatArray | float) -> FloatArray:
        """Returns the scores of hypotheses of `length` tokens with these coverage penalties."""
        return np.asarray(log_probability / self.length(length) + coverage)

    def bound_score(self, log_probability: FloatArray, limit: IntArray) -> FloatArray:
        """Returns an upper bound on the scores of all continuations of open hypotheses.

        Further tokens only lower a log-probability, which is at most 0, so the largest divisor, that of `limit` tokens,
        gives the highest quotient. Coverage adds at most 0.
        """
        return np.asarray(log_probability / self.length(limit))
