"""What a search finds. Letters: T target tokens, with the end-of-sentence token; S source positions."""

from __future__ import annotations

from typing import NamedTuple

from nmt_cli.arrays.types import FloatArray


class SearchResult(NamedTuple):
    """A hypothesis in ids; its last token is END if the network ended it (`finished`)."""

    tokens: tuple[int, ...]  # T
    log_probability: float
    score: float  # by which hypotheses are ranked (`ranking.Ranking`)
    token_log_probabilities: tuple[float, ...]  # T
    attention: FloatArray  # (T, S)
    finished: bool
