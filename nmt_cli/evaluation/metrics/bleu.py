"""BLEU (Papineni et al. 2002), computed by sacreBLEU (Post 2018). Must not know where the sentences come from."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.bleu_tokenizers import make_bleu_metric
from nmt_cli.evaluation.metrics.sacrebleu_adapter import score_with_sacrebleu
from nmt_cli.evaluation.metrics.score import Hypotheses, MetricFunction, References, Score, cap_percent


def compute_bleu(
    hypotheses: Hypotheses,
    references: References,
    config: ScoreConfig = DEFAULT,
    /,
    *,
    order: int = 4,
    name: str = "BLEU",
) -> Score:
    """Computes corpus BLEU of n-grams up to `order`; by default of detokenised, cased text, 13a tokens, exp smoothing.

    Sentence values use the effective order, as sacreBLEU recommends. Its signature lacks the order, which `name` has.
    """
    smoothing = config.smoothing
    epsilon = smoothing.value if smoothing.method == "epsilon" else None  # which sacreBLEU does not offer
    options: dict[str, Any] = {
        "max_ngram_order": order,
        "force": True,  # no warning of tokenised text: `analysis.warnings` reports it
        "lowercase": config.lowercase,
        "smooth_method": smoothing.method if epsilon is None else "none",
        "smooth_value": smoothing.value if epsilon is None else None,
    }
    corpus, sentence = make_bleu_metric(config, **options), make_bleu_metric(config, **options, effective_order=True)

    def compute_value(row: list[float], metric: Any) -> float:
        if epsilon is not None:
            return 100 * combine_with_epsilon(row, epsilon, effective=metric.effective_order)
        return cap_percent(metric._compute_score_from_stats(row).score)

    smooth = "none" if epsilon is None else f"epsilon[{epsilon:g}]"
    score = score_with_sacrebleu(
        corpus,
        name,
        hypotheses,
        references,
        corpus_value=partial(compute_value, metric=corpus),
        sentence_value=partial(compute_value, metric=sentence),
        signature=lambda text: text.replace("smooth:none", f"smooth:{smooth}"),
    )
    return add_details(score, corpus)


def add_details(score: Score, metric: Any) -> Score:
    """Returns the score with its n-gram precisions, brevity penalty and lengths in words, as sacreBLEU prints them."""
    if score.statistics is None:
        return score
    parts = metric._compute_score_from_stats(score.statistics.counts.sum(axis=0).tolist())
    lengths = int(parts.sys_len), int(parts.ref_len)
    ratio = lengths[0] / lengths[1] if lengths[1] else 0.0
    details = {
        "precisions": list(parts.precisions),
        "brevity_penalty": parts.bp,
        "length_ratio": ratio,
        "hypothesis_length": lengths[0],
        "reference_length": lengths[1],
    }
    precisions = "/".join(f"{precision:.1f}" for precision in parts.precisions)
    text = f"{precisions} (BP = {parts.bp:.3f} ratio = {ratio:.3f} hyp_len = {lengths[0]} ref_len = {lengths[1]})"
    return dataclasses.replace(score, details=details, detail_text=text)


def combine_with_epsilon(row: Sequence[float], epsilon: float, *, effective: bool = False) -> float:
    """Computes BLEU, 0-1, with `epsilon` in place of a precision of 0.

    `row` is sacreBLEU's: hypothesis length, reference length, matches of each order, n-grams of each order. With
    `effective`, orders without an n-gram in the hypothesis are left out.
    """
    (length, reference), counts = row[:2], row[2:]
    order = len(counts) // 2
    pairs = [
        (correct, total)
        for correct, total in zip(counts[:order], counts[order:], strict=True)
        if total > 0 or not effective
    ]
    if not length or not pairs:
        return 0.0
    precisions = [correct / total if correct > 0 else epsilon for correct, total in pairs]
    mean = sum(map(math.log, precisions)) / len(precisions)
    return compute_brevity_penalty(length, reference) * math.exp(mean)


def compute_brevity_penalty(length: float, reference: float) -> float:
    """Returns 1 if the hypothesis is at least as long as the reference, else exp(1 - r / c) (Papineni et al., 2.3)."""
    if length <= 0:
        return 0.0
    return 1.0 if length >= reference else math.exp(1 - reference / length)


def make_bleu(order: int) -> MetricFunction:
    """Returns BLEU-`order` as a metric for the registry."""
    return partial(compute_bleu, order=order, name=f"BLEU-{order}")
