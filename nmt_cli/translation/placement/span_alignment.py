"""Links the words of a translation with protected spans to source words: by attention, and by masked spans.

A span may be several words, or a part of one, so words are counted in the texts and not in the subwords.
Letters: S source positions, the end among them; W words of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.words import Link
from nmt_cli.translation.placement.slots import find_placeholder_positions
from nmt_cli.translation.placement.span_placement import RestoredText
from nmt_cli.translation.segmentation.pieces import Piece

Links = tuple[Link, ...]  # in the order of the target


class PieceLinks(NamedTuple):
    """The words of a piece as it stands in its line."""

    by_position: FloatArray  # (S, W): 1 where a position belongs to a word; the end belongs to none
    masked: tuple[range, ...]  # the words of each masked span


def map_words(piece: Piece, labels: Sequence[str], tokenizer: Tokenizer) -> PieceLinks:
    """Returns the words of `piece`, which the network read, or was forced to write, as the positions `labels`."""
    layout, masked = piece.layout, piece.masked.text
    words = list(re.finditer(r"\S+", masked))
    starts = tokenizer.encode_all([masked[: word.start()].rstrip() for word in words[1:]])
    firsts = [0, *map(len, starts)]  # the position at which each word of the masked text begins
    masked_words = [range(layout.find_word(span[0]), layout.find_word(span[-1]) + 1) for span in layout.masked]
    words_of_placeholder = dict(zip(find_placeholder_positions(piece.masked, labels), masked_words, strict=True))
    matrix = np.zeros((len(labels), len(layout.text.split())))
    for word, first, last in zip(words, firsts, [*firsts[1:], len(labels) - 1], strict=True):
        index = layout.find_word(layout.read.origins[word.start()])
        for position in range(first, min(last, len(labels) - 1)):
            span = words_of_placeholder.get(position, range(index, index + 1))
            matrix[position, span[0]] = 1
            index = span[-1]
    return PieceLinks(matrix, tuple(masked_words))


def restore_links(restored: RestoredText, source: PieceLinks) -> Links:
    """Returns the links of the words of a translation; the words of a masked span link to those of the span."""
    rows: dict[int, list[FloatArray]] = {}
    for unit, first in zip(restored.units, restored.words, strict=True):
        if unit.masked_span is None:
            rows.setdefault(first, []).append(unit.attention @ source.by_position)
            continue
        words = source.masked[unit.masked_span]
        for index in range(len(unit.text.split())):
            certain = np.eye(source.by_position.shape[1])[words[min(index, len(words) - 1)]]
            rows.setdefault(first + index, []).append(certain)
    return tuple((int(np.mean(rows_of_word, axis=0).argmax()), word) for word, rows_of_word in sorted(rows.items()))


def link_masked_sides(
    source: Piece, target: Piece, words: tuple[PieceLinks, PieceLinks], attention: FloatArray
) -> Links:
    """Returns the links between the words of a source and a given target; `attention` is (T, S).

    The words of a masked span link to those of the same span; a word without a position of its own has no link.
    """
    source_words, target_words = words
    attended = target_words.by_position.T @ attention @ source_words.by_position  # (words of the target, W)
    links = {int(word): int(attended[word].argmax()) for word in np.flatnonzero(target_words.by_position.any(axis=0))}
    source_spans = dict(zip(source.masked.placeholders, source_words.masked, strict=True))
    for name, target_span in zip(target.masked.placeholders, target_words.masked, strict=True):
        span = source_spans[name]
        links |= {word: span[min(index, len(span) - 1)] for index, word in enumerate(target_span)}
    return tuple((links[word], word) for word in sorted(links))
