"""Noise: sources as people type them, so that a network learns to read these. Knows only text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.text.characters import END_MARKS
from nmt_cli.training.config import TrainConfig

TYPING_ERRORS = 0.05  # share of the letters of a sentence with typing errors
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: other for row in KEYS for pair in pairwise(row) for key, other in (pair, pair[::-1])}


@dataclass(frozen=True)
class SourceNoise:
    """Changes sources in one way; the targets are unchanged."""

    share: float
    change: Callable[[str, np.random.Generator], str]

    def rewrite_pairs(self, pairs: Sequence[SentencePair], generator: np.random.Generator) -> list[SentencePair]:
        """Returns the pairs with changed sources; a source that would become empty is unchanged."""
        return [SentencePair(self.change(source, generator) or source, target) for source, target in pairs]


def make_noise(config: TrainConfig) -> tuple[SourceNoise, ...]:
    """Returns typing errors, if requested, and casual spelling."""
    typing_errors = SourceNoise(config.typing_errors, add_typing_errors)
    casual_spelling = SourceNoise(config.careless, lambda text, _: write_casually(text))
    return (typing_errors, casual_spelling) if config.typing_errors else (casual_spelling,)


def write_casually(text: str) -> str:
    """Returns `text` in lower case and without its final mark."""
    return text.lower().rstrip(f"{END_MARKS} ")


def add_typing_errors(text: str, generator: np.random.Generator) -> str:
    """Returns a text with typing errors in one of twenty letters."""
    protected = {index for match in PLACEHOLDER_PATTERN.finditer(text) for index in range(*match.span())}
    hits = np.flatnonzero(generator.random(len(text)) < TYPING_ERRORS).tolist()
    letters = list(text)
    for index, kind in zip(hits, generator.integers(0, 4, len(hits)).tolist(), strict=True):
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
