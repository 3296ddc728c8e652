"""Context: the sentence before, which a network may read in front of a sentence, with its translation.

Knows no vocabulary, no corpus and no documents.
"""

from __future__ import annotations

from typing import NamedTuple

LONGEST_CONTEXT = 50  # words of a sentence, on either side, that is read as context


class SentenceContext(NamedTuple):
    """The sentence before as a network reads it, and the ids of its translation, which end with the separator."""

    source: str
    target: tuple[int, ...]
