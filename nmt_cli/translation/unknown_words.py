"""Source words in place of unknown target tokens (Luong et al. 2015), chosen by attention."""

from __future__ import annotations

import numpy as np

from nmt_cli.arrays.special_ids import UNKNOWN
from nmt_cli.sources.source import Source, TextSource
from nmt_cli.text.masking import PLACEHOLDER
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.result import Hypothesis, Translation


def replace_unknown(translation: Translation, source: Source, target: Tokenizer) -> Translation:
    """Returns the translation with the source word that each unknown token attended to most in its place.

    Returns it as it is where the source side has no unknown words.
    """
    if not (isinstance(source, TextSource) and source.tokenizer.has_unknown):
        return translation
    surfaces = source.tokenizer.read_surfaces(normalise(translation.source))[: len(translation.source_pieces) - 1]
    hypotheses = (replace_in_hypothesis(hypothesis, surfaces, target) for hypothesis in translation.hypotheses)
    return translation._replace(hypotheses=tuple(hypotheses))


def replace_in_hypothesis(hypothesis: Hypothesis, surfaces: list[str], target: Tokenizer) -> Hypothesis:
    unknown = [index for index, token in enumerate(hypothesis.tokens) if token == UNKNOWN]
    # Neither the end of the sentence nor a placeholder, which stands for one span and not for two.
    words = [index for index, surface in enumerate(surfaces) if not PLACEHOLDER.search(surface)]
    if not (unknown and words):
        return hypothesis
    most_attended = hypothesis.attention[np.ix_(unknown, words)].argmax(axis=1)
    replacements = tuple(surfaces[words[column]] for column in most_attended.tolist())
    return hypothesis._replace(text=target.decode_replaced(hypothesis.tokens, replacements), unknown=replacements)
