"""Perplexity and token accuracy: how a model judges the references themselves. Must not know how it was asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.score import Score, Statistics, ratio_statistics

if TYPE_CHECKING:
    from nmt_cli.search.forced import Forced


def signature(material: Material) -> str:
    """Names the subwords: these scores are of one token each, and only those of the same tokens compare."""
    return f"nrefs:1|forced:first-reference|tokens:{material.subwords or 'subwords'}+end"


def perplexity(material: Material, config: ScoreConfig) -> Score:
    """exp of the mean negative log-probability of the references' tokens. Lower is better, 1 is certainty.

    A perplexity per subword: only models with the same subword vocabulary can be compared by it.
    """
    import numpy as np  # which `nmt --help` does not need

    forced = forced_of(material)
    losses = [-one.log_probability for one in forced]
    lengths = [float(len(one.tokens)) for one in forced]
    mean = ratio_statistics(losses, lengths)
    return Score(
        name="perplexity",
        value=math.exp(sum(losses) / sum(lengths)),
        signature=signature(material),
        sentence_values=tuple(math.exp(min(700, loss / length)) for loss, length in zip(losses, lengths, strict=True)),
        statistics=Statistics(mean.counts, lambda sums: np.exp(mean.combine(sums))),
        lower_is_better=True,
    )


def token_accuracy(material: Material, config: ScoreConfig) -> Score:
    """Per cent of the references' tokens that were the model's first choice, given the reference's tokens before them.

    Says how well the model predicts, not how well it translates: teacher forcing hides every error that follows
    from an error.
    """
    forced = forced_of(material)
    hits = [float(sum(one.likeliest)) for one in forced]
    lengths = [float(len(one.likeliest)) for one in forced]
    return Score(
        name="accuracy",
        value=100 * sum(hits) / sum(lengths),
        signature=signature(material),
        sentence_values=tuple(100 * hit / length for hit, length in zip(hits, lengths, strict=True)),
        statistics=ratio_statistics(hits, lengths, scale=100),
    )


def forced_of(material: Material) -> Sequence[Forced]:
    if not material.forced:
        raise OptionError("perplexity and accuracy need a model and the sources", hint="leave --hypothesis out")
    return material.forced
