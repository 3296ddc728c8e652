"""The units of a text as the network reads and writes it: words, punctuation and placeholders, with their attention."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.words import Link, choose_word_pattern, has_word
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.segmentation.pieces import Piece

# Splits a translation into units: words, marks and placeholders, each with the attention of its tokens.
#
# Letters: T target tokens, S source positions, including the end.


class Unit(NamedTuple):
    """A word, punctuation mark or placeholder of a translation."""

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
        """Whether a space must separate it from another word."""
        return self.has_letters and not find_unspaced(self.text)


class Spelling(NamedTuple):
    """A hypothesis as text, and the T tokens that spell it."""

    text: str
    tokens: Sequence[int]
    target: Tokenizer
    unknown: Sequence[str] = ()  # the words that replace unknown tokens in `text`, in order, if any do

    @property
    def ends(self) -> list[int]:
        """The end of each token in the text; for a part of a character, that of the previous token."""
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
    """Yields the ranges of words and punctuation; in scripts without spaces, of each character with its accents."""
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


# The units of a source as read by the network, and their links to the units of a translation.
#
# Letters: U units of the translation, V of the source, S source positions, including the end.


class SourceUnits(NamedTuple):
    texts: Sequence[str]  # V
    ranges: Sequence[TextRange]  # their characters
    positions: Sequence[range]  # their source positions

    @classmethod
    def from_text(cls, text: str, tokenizer: Tokenizer, length: int) -> Self:
        """Returns the units of a text with `length` source positions.

        A unit without a token of its own shares the previous unit's: one token may cover several unknown words.
        """
        ranges = [TextRange(*unit) for unit in find_units(text)]
        tokens = tokenizer.encode_all([text[:start].rstrip() for start, _ in ranges])
        firsts = [min(len(before), length - 1) for before in tokens]
        ends = [max(last, 1) for last in [*firsts[1:], length - 1]]
        positions = [range(min(first, end - 1), end) for first, end in zip(firsts, ends, strict=True)]
        return cls([text[start:end] for start, end in ranges], ranges, positions)

    @property
    def words(self) -> list[int]:
        """The units that are words of the text."""
        pairs = enumerate(self.texts)
        return [index for index, text in pairs if has_word(text) and text not in PLACEHOLDERS]

    def sum_attention(self, rows: FloatArray) -> FloatArray:
        """Returns the attention (U, V) to each unit, given the attention to each position (U, S)."""
        sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
        starts, stops = ([getattr(part, edge) for part in self.positions] for edge in ("start", "stop"))
        result: FloatArray = sums[:, stops] - sums[:, starts]
        return result


class LinkedUnits(NamedTuple):
    units: list[Unit]  # with their source units
    attracted: list[int | None]  # the unit that each source unit attracts most, if it is a word


def link_units(units: Sequence[Unit], masked: MaskedText, source: SourceUnits, *, flat: bool) -> LinkedUnits:
    """Links each word to the source word that it attends to most, and each punctuation mark to the same mark.

    `flat` says that attention is uninformative, so that words are linked in order. Only units of masked spans link to
    placeholders: to those of their spans.
    """
    words = source.words
    spoken = [index for index, unit in enumerate(units) if unit.has_letters and unit.masked_span is None]
    if not (units and source.texts):
        return LinkedUnits(list(units), [None] * len(source.texts))
    weights = source.sum_attention(np.stack([unit.attention for unit in units]))
    linked = []
    for unit, row in zip(units, weights, strict=True):
        if unit.masked_span is not None:
            linked.append(unit._replace(source=source.texts.index(masked.placeholders[unit.masked_span]), weight=1.0))
            continue
        candidates = words if unit.has_letters else [i for i, text in enumerate(source.texts) if text == unit.text]
        best = choose_heaviest(candidates, row)
        weight = 0.0 if best is None else float(row[best])
        linked.append(unit._replace(source=int(row.argmax()) if best is None else best, weight=weight))
    if flat and words:
        for order, index in enumerate(spoken):
            linked[index] = linked[index]._replace(source=words[order * len(words) // len(spoken)], weight=1.0)
    attracted = {} if flat else {word: choose_heaviest(spoken, weights[:, word]) for word in words}
    return LinkedUnits(linked, [attracted.get(index) for index in range(len(source.texts))])


def choose_heaviest(indices: Sequence[int], weights: FloatArray) -> int | None:
    return max(indices, key=lambda index: float(weights[index]), default=None)


def find_line_words(piece: Piece, units: SourceUnits) -> list[range]:
    """Returns the words of each unit of a piece, counted in the line as written, where a span may be several words."""
    layout = piece.layout
    spans = (range(layout.find_word(span[0]), layout.find_word(span[-1]) + 1) for span in layout.masked)
    words_of_span = dict(zip(piece.masked.placeholders, spans, strict=True))
    result = []
    for name, (start, _) in zip(units.texts, units.ranges, strict=True):
        word = layout.find_word(layout.read.origins[start])
        result.append(words_of_span.get(name, range(word, word + 1)))
    return result


def link_words_of_units(units: Sequence[Unit], words: Sequence[int], source: Sequence[range]) -> tuple[Link, ...]:
    """Returns the word links of a translation; `words` gives the word in which each unit begins.

    A word has the link of its surest unit. The words of a masked span link in order to the span's words in the source;
    `source` gives the words that each source unit covers.
    """
    links: dict[int, Link] = {}
    surest: dict[int, float] = {}
    for unit, first in zip(units, words, strict=True):
        count = len(unit.text.split()) if unit.masked_span is not None else 1
        weight = unit.weight + unit.has_letters
        for word in range(first, first + count):
            if weight >= surest.get(word, 0.0) and source:
                surest[word] = weight
                spread = (word - first) * len(source[unit.source]) // count
                links[word] = source[unit.source][spread], word
    return tuple(links[word] for word in sorted(links))
