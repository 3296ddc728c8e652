"""Splits a translation into units: words, marks and placeholders, each with the attention of its tokens.

Letters: T target tokens, S source positions, including the end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.words import choose_word_pattern, has_word


class Unit(NamedTuple):
    """A word, a mark or a placeholder of a translation."""

    text: str
    blank_before: bool
    attention: FloatArray  # (S,)
    masked_span: int | None = None  # the number of the masked span that it stands for
    source: int = 0  # the source unit to which it attends most
    weight: float = 0.0  # how sure it is that it comes from that; 0 if it does not

    @property
    def has_letters(self) -> bool:
        return has_word(self.text)

    @property
    def is_word(self) -> bool:
        """Whether a blank must separate it from another word."""
        return self.has_letters and not find_unspaced(self.text)


class Spelling(NamedTuple):
    """A hypothesis as text, and the T tokens that spell it."""

    text: str
    tokens: Sequence[int]
    target: Tokenizer
    unknown: Sequence[str] = ()  # the words that replace unknown tokens in `text`, in order, if any do

    @property
    def ends(self) -> list[int]:
        """The end of each token in the text; for a part of a character, the previous token's."""
        prefixes = (self.tokens[:count] for count in range(1, len(self.tokens) + 1))
        if self.unknown:
            texts = [self.target.decode_with_unknown(prefix, self.unknown) for prefix in prefixes]
        else:
            texts = self.target.decode_all(prefixes)
        ends, position = [], 0
        for prefix in texts:
            if self.text.startswith(prefix):
                position = max(position, len(prefix))
            ends.append(position)
        return ends

    @property
    def is_trusted(self) -> bool:
        """Whether everything that looks like a placeholder is a placeholder token: other tokens can spell the same."""
        pieces = self.target.spell_pieces(self.tokens)
        return [piece for piece in pieces if piece in PLACEHOLDERS] == PLACEHOLDER_PATTERN.findall(self.text)


def measure_units(spelling: Spelling, attention: FloatArray) -> list[Unit]:
    """Returns the units of a translation, each with the mean attention of its tokens; `attention` is (T, S)."""
    text, ends = spelling.text, spelling.ends
    starts = [0, *ends[:-1]]
    units = []
    for start, end in find_units(text):
        rows = [t for t, (first, last) in enumerate(zip(starts, ends, strict=True)) if first < end and start < last]
        mean = attention[rows].mean(axis=0) if rows else np.full(attention.shape[1], 1 / attention.shape[1])
        units.append(Unit(text[start:end], start > 0 and text[start - 1] == " ", mean))
    return units


def find_units(text: str) -> Iterable[tuple[int, int]]:
    """Yields the ranges of words and marks; each character of a script without blanks is a unit, with its accents."""
    for match in choose_word_pattern(text).finditer(text):
        if not find_unspaced(match[0]):
            yield match.span()
            continue
        start = match.start()
        for position in range(match.start() + 1, match.end()):
            if unicodedata.category(text[position])[0] != "M":
                yield start, position
                start = position
        yield start, match.end()
