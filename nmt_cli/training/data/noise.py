"""Noise: sources as people type and set them, so that a network learns to read these. Knows only text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.corpus.sides import SentencePair
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.casual import CasualSpelling, drop_final_marks
from nmt_cli.training.data.text_rewrite import TextRewrite

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


def make_noise(config: TrainConfig) -> tuple[TextRewrite, ...]:
    """Returns the requested noise, typing errors first; casual spelling is always included."""
    kinds = (
        SourceNoise(config.typing_errors, add_typing_errors),
        SourceNoise(config.title_case, lambda text, _: write_title(text)),
        SourceNoise(config.upper_case, lambda text, _: text.upper()),
        SourceNoise(config.lower_case, lambda text, _: text.lower()),
        SourceNoise(config.missing_mark, lambda text, _: drop_final_marks(text)),
    )
    return (*(kind for kind in kinds if kind.share), CasualSpelling(config.careless))


def write_title(text: str) -> str:
    """Capitalises each word of a text, as in headings."""
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


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
