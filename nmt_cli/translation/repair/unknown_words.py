"""Replaces unknown target tokens by source words, chosen by attention (Luong et al. 2015)."""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.sources.source import Source
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.result import Hypothesis, Translation


def replace_unknown(translation: Translation, source: Source, target: Tokenizer) -> Translation:
    """Replaces each unknown token of a translation by the source word that it attended to most.

    Returns it unchanged if the source side has no unknown words.
    """
    if source.subwords is None or not source.subwords.has_unknown:
        return translation
    surfaces = source.subwords.list_surfaces(normalise(translation.source))[: len(translation.source_pieces) - 1]
    hypotheses = (replace_in_hypothesis(hypothesis, surfaces, target) for hypothesis in translation.hypotheses)
    return translation._replace(hypotheses=tuple(hypotheses))


def replace_in_hypothesis(hypothesis: Hypothesis, surfaces: list[str], target: Tokenizer) -> Hypothesis:
    """Replaces unknown tokens in one hypothesis; `surfaces` are the source words as written."""
    unknown = [index for index, token in enumerate(hypothesis.tokens) if token == UNKNOWN]
    # Leave out the end of the sentence, and placeholders: each stands for one span, which must not occur twice.
    words = [index for index, surface in enumerate(surfaces) if not PLACEHOLDER_PATTERN.search(surface)]
    if not (unknown and words):
        return hypothesis
    most_attended = hypothesis.attention[np.ix_(unknown, words)].argmax(axis=1)
    replacements = tuple(surfaces[words[column]] for column in most_attended.tolist())
    return hypothesis._replace(text=target.decode_with_unknown(hypothesis.tokens, replacements), unknown=replacements)
