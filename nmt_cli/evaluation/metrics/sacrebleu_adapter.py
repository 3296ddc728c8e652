"""Shared by the metrics computed by sacreBLEU (Post 2018). Must not know which they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nmt_cli.evaluation.metrics.score import (
    Hypotheses,
    References,
    Score,
    Statistics,
    check_pairing,
    transpose_references,
)


def score_with_sacrebleu(
    metric: Any,
    name: str,
    hypotheses: Hypotheses,
    references: References,
    *,
    sentence_value: Callable[[list[float]], float] | None = None,
    corpus_value: Callable[[list[float]], float] | None = None,
    signature: Callable[[str], str] = str,
    lower_is_better: bool = False,
) -> Score:
    """Computes the score of sacreBLEU's `metric`, and keeps its counts for resampling.

    `corpus_value` returns the value of summed counts, `sentence_value` that of one sentence's counts; None: its own.
    `signature` may change sacreBLEU's. The counts come from the methods that sacreBLEU's significance tests use.
    """
    import numpy as np  # which `nmt --help` does not need

    check_pairing(hypotheses, references)
    value_of = corpus_value or (lambda row: float(metric._compute_score_from_stats(row).score))
    rows: list[list[float]] = metric._extract_corpus_statistics(hypotheses, transpose_references(references))
    sums = [sum(column) for column in zip(*rows, strict=True)]
    values = map(sentence_value or value_of, (list(row) for row in rows))

    def combine(resampled: Any) -> Any:
        return np.array([value_of(row) for row in resampled.tolist()])

    return Score(
        name=name,
        value=value_of(sums),
        signature=signature(str(metric.get_signature())),
        sentence_values=tuple(values),
        statistics=Statistics(np.asarray(rows, dtype=float), combine),
        lower_is_better=lower_is_better,
    )
