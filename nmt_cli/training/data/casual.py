"""Casual spelling: sources as people type them into a translator. Knows only text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmt_cli.corpus.sides import SentencePair
from nmt_cli.text.characters import END_MARKS


@dataclass(frozen=True)
class CasualSpelling:
    """Writes sources without capitals and final marks; the targets are unchanged."""

    share: float

    def rewrite_pairs(self, pairs: Sequence[SentencePair], generator: np.random.Generator) -> list[SentencePair]:
        """Applies `write_casually` to the sources; deterministic."""
        return [SentencePair(write_casually(source), target) for source, target in pairs]


def write_casually(text: str) -> str:
    """Returns `text` in lower case and without its final mark; a text of only marks keeps them."""
    return drop_final_marks(text.lower()) or text


def drop_final_marks(text: str) -> str:
    return text.rstrip(f"{END_MARKS} ")
