"""Context: the sentence before, which a network may read in front of a sentence, with its translation.

Knows no vocabulary, no corpus and no documents.
"""

from __future__ import annotations

from typing import NamedTuple

from nmt_cli.text.normalise import is_solid

LONGEST_CONTEXT = 50  # words of a sentence, on either side, that is read as context


class SentenceContext(NamedTuple):
    """The sentence before as a network reads it, and the ids of its translation, which end with the separator."""

    source: str
    target: tuple[int, ...]


def join_sentences(first: str, second: str) -> str:
    """Returns two sentences as one line."""
    needs_blank = first and second and not (is_solid(first[-1]) and is_solid(second[0]))
    return first + (" " if needs_blank else "") + second
