"""Noise: sources as people type them, so that a network learns to read these. Knows only text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.text.characters import END_MARKS

TYPING_ERRORS = 0.05  # share of the letters of a sentence with typing errors
KINDS = 4  # of typing errors
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: other for row in KEYS for pair in pairwise(row) for key, other in (pair, pair[::-1])}


def mistype_source(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Puts typing errors into the source; one that would become empty is unchanged."""
    return SentencePair(add_typing_errors(source, generator) or source, target)


def write_source_casually(source: str, target: str, generator: np.random.Generator) -> SentencePair:
    """Writes the source without capitals and its final mark; one of marks alone is unchanged."""
    return SentencePair(write_casually(source) or source, target)


def write_casually(text: str) -> str:
    """Returns `text` in lower case and without its final mark."""
    return text.lower().rstrip(f"{END_MARKS} ")


def add_typing_errors(text: str, generator: np.random.Generator) -> str:
    """Returns a text with typing errors in one of twenty letters."""
    protected = {index for match in PLACEHOLDER_PATTERN.finditer(text) for index in range(*match.span())}
    draws = generator.random(len(text))
    hits = np.flatnonzero(draws < TYPING_ERRORS)
    kinds = (draws[hits] * (KINDS / TYPING_ERRORS)).astype(int)
    letters = list(text)
    for index, kind in zip(hits.tolist(), kinds.tolist(), strict=True):
        if text[index].isalpha() and index not in protected:
            mistype_letter(letters, index, kind)
    return "".join(letters)


def mistype_letter(letters: list[str], index: int, kind: int) -> None:
    """Drops a letter, doubles it, swaps it with the next one, or hits an adjacent key."""
    letter = letters[index]
    if kind == 0:
        letters[index] = ""
    elif kind == 1:
        letters[index] = letter * 2
    elif kind == 2 and index + 1 < len(letters) and letters[index + 1].isalpha():
        letters[index], letters[index + 1] = letters[index + 1], letter
    elif kind == 3:
        beside = NEIGHBOURS.get(letter.lower(), letter)
        letters[index] = beside.upper() if letter.isupper() else beside
