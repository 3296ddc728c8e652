"""Careless spelling: sources as people type them into a translator. Knows text only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nmt_cli.corpus.dataset import SentencePair
from nmt_cli.text.characters import END_MARKS


@dataclass(frozen=True)
class CasualSpelling:
    """Writes sources without capitals and final marks; the targets stay as they are."""

    share: float

    def rewrite_pairs(self, pairs: Sequence[SentencePair], generator: np.random.Generator) -> list[SentencePair]:
        """Returns the pairs with the sources of `write_casually`; nothing is random here."""
        return [SentencePair(write_casually(source), target) for source, target in pairs]


def write_casually(text: str) -> str:
    """Returns `text` in lower case and without its final mark; a text that is nothing but marks keeps them."""
    return drop_final_marks(text.lower()) or text


def drop_final_marks(text: str) -> str:
    return text.rstrip(f"{END_MARKS} ")
