"""Which source word each word of a translation with protected spans comes from: by attention, and by what was carried.

A span may be several words, or none of its own, so that words are counted in the texts and not in the pieces.
Letters: S source positions (the end among them), W words of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nmt_cli.arrays.types import FloatArray
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.pieces import Piece
from nmt_cli.translation.placement.slots import find_placeholder_positions
from nmt_cli.translation.result import Link
from nmt_cli.translation.span_placement import Restored

Links = tuple[Link, ...]


class PieceWords(NamedTuple):
    """The words of a piece of a line as it stands there."""

    of_positions: FloatArray  # (S, W): 1 where a position stands in a word; none for the end
    carried: tuple[range, ...]  # of each carried span


def map_words(piece: Piece, labels: Sequence[str], tokenizer: Tokenizer) -> PieceWords:
    """Returns the words of `piece`; the network read it, or was forced to write it, as the positions `labels`."""
    written, masked = piece.written, piece.masked.text
    words = list(re.finditer(r"\S+", masked))
    starts = tokenizer.encode_all([masked[: word.start()].rstrip() for word in words[1:]])
    firsts = [0, *map(len, starts)]  # position at which each word of the masked text begins
    places = np.cumsum([0, *(len(word[0]) for word in words)])
    carried = [
        range(written.find_word(positions[0]), written.find_word(positions[-1]) + 1) for positions in written.carried
    ]
    spans = dict(zip(find_placeholder_positions(piece.masked, labels), carried, strict=True))
    matrix = np.zeros((len(labels), len(written.text.split())))
    for word, (first, last) in enumerate(zip(firsts, [*firsts[1:], len(labels) - 1], strict=True)):
        number = written.find_word(written.places[min(places[word], len(written.places) - 1)])
        for position in range(first, min(last, len(labels) - 1)):
            span = spans.get(position, range(number, number + 1))
            matrix[position, span[0]] = 1
            number = span[-1]
    return PieceWords(matrix, tuple(carried))


def restore_links(restored: Restored, source: PieceWords) -> tuple[Link, ...]:
    """Returns the links of the words of a translation, in order; the words of a span link to those of the span."""
    rows: dict[int, list[FloatArray]] = {}
    for unit, first in zip(restored.units, restored.words, strict=True):
        if unit.carried is None:
            rows.setdefault(first, []).append(unit.attention @ source.of_positions)
            continue
        words = source.carried[unit.carried]
        for index in range(len(unit.text.split())):
            sure = np.eye(source.of_positions.shape[1])[words[min(index, len(words) - 1)]]
            rows.setdefault(first + index, []).append(sure)
    return tuple((int(np.mean(rows_of_word, axis=0).argmax()), word) for word, rows_of_word in sorted(rows.items()))


def link_given(source: Piece, target: Piece, words: tuple[PieceWords, PieceWords], attention: FloatArray) -> Links:
    """Returns the links of the words of a given translation; `attention` (T, S) is that of its positions.

    The words of a span link to those of the same span; a word without a position of its own has no link.
    """
    of_source, of_target = words
    attended = of_target.of_positions.T @ attention @ of_source.of_positions  # (words of the target, W)
    links = {int(word): int(attended[word].argmax()) for word in np.flatnonzero(of_target.of_positions.any(axis=0))}
    places = dict(zip(source.masked.names, of_source.carried, strict=True))
    for name, span in zip(target.masked.names, of_target.carried, strict=True):
        links |= {word: places[name][min(index, len(places[name]) - 1)] for index, word in enumerate(span)}
    return tuple((links[word], word) for word in sorted(links))
