"""Looks for sources that are already in the target language. Knows only text and the profiles of both sides."""

from __future__ import annotations

import math

from nmt_cli.translation.checks.context import CheckContext
from nmt_cli.translation.result import FailedCheck

FEWEST_WORDS = 3  # which tell a language surely
SURE = 15.0  # natural logarithm of how much likelier the words are in the target language
SMOOTHING = 0.5  # added to the count of each word


def check_language(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Looks for a source whose words belong to the target language."""
    profile = context.profile
    if profile is None or profile.source is None or context.same_language:
        return None
    if len(source.split()) < FEWEST_WORDS:
        return None
    counts = [*zip(profile.source.count_words(source), profile.target.count_words(source), strict=True)]
    likelier = sum(math.log((there + SMOOTHING) / (here + SMOOTHING)) for here, there in counts)
    is_sure = len(counts) >= FEWEST_WORDS and likelier >= SURE
    return FailedCheck("language", "the source is already in the target language") if is_sure else None
