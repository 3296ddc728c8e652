"""Perplexity and token accuracy: how well a model predicts the references. Must not know how they were scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.score import Score, Statistics, make_ratio_statistics

if TYPE_CHECKING:
    from nmt_cli.search.forced import ForcedTarget


def format_signature(material: Material) -> str:
    """Returns a signature that names the subwords: scores per token only compare if the tokens are the same."""
    return f"nrefs:1|forced:first-reference|tokens:{material.subwords or 'subwords'}+end"


def compute_perplexity(material: Material, config: ScoreConfig) -> Score:
    """Computes exp of the mean negative log-probability of the references' tokens; lower is better, 1 is certainty.

    This is perplexity per subword: it only compares models with the same subwords. Raises OptionError without the
    model's scores.
    """
    import numpy as np  # which `nmt --help` does not need

    forced = require_forced(material)
    losses = [-target.log_probability for target in forced]
    lengths = [float(len(target.tokens)) for target in forced]
    mean = make_ratio_statistics(losses, lengths)
    return Score(
        name="perplexity",
        value=math.exp(sum(losses) / max(1, sum(lengths))),
        signature=format_signature(material),
        sentence_values=tuple(
            math.exp(min(700, loss / max(1, length))) for loss, length in zip(losses, lengths, strict=True)
        ),
        statistics=Statistics(mean.counts, lambda sums: np.exp(mean.combine(sums))),
        lower_is_better=True,
    )


def compute_token_accuracy(material: Material, config: ScoreConfig) -> Score:
    """Computes the percentage of reference tokens that are the model's first choice, given the preceding tokens.

    Measures prediction, not translation: teacher forcing hides every error that follows from another. Raises
    OptionError without the model's scores.
    """
    forced = require_forced(material)
    hits = [float(sum(target.likeliest)) for target in forced]
    lengths = [float(len(target.likeliest)) for target in forced]
    return Score(
        name="accuracy",
        value=100 * sum(hits) / max(1, sum(lengths)),
        signature=format_signature(material),
        sentence_values=tuple(100 * hit / max(1, length) for hit, length in zip(hits, lengths, strict=True)),
        statistics=make_ratio_statistics(hits, lengths, scale=100),
    )


def require_forced(material: Material) -> Sequence[ForcedTarget]:
    """Returns the references as scored by the model. Raises OptionError if they were not scored."""
    if not material.forced:
        raise OptionError("perplexity and accuracy need a model and the sources", hint="leave --hypothesis out")
    return material.forced
