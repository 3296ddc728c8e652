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
from nmt_cli.translation.result import Link
from nmt_cli.translation.span_placement import Restored, carried_positions

Links = tuple[Link, ...]


class PieceWords(NamedTuple):
    """The words of a piece of a line as it stands there."""

    of_positions: FloatArray  # (S, W): 1 where a position stands in a word; none for the end
    carried: tuple[range, ...]  # of each carried span


def words_of_piece(piece: Piece, labels: Sequence[str], tokenizer: Tokenizer) -> PieceWords:
    """The words of `piece`, of which the network was given, or forced to, the positions `labels`."""
    written, found = piece.written, piece.masked.text
    words = list(re.finditer(r"\S+", found))
    starts = tokenizer.encode_all([found[: word.start()].rstrip() for word in words[1:]])
    firsts = [0, *map(len, starts)]  # position at which each word of the masked text begins
    places = np.cumsum([0, *(len(word[0]) for word in words)])
    carried = [range(written.word_at(one[0]), written.word_at(one[-1]) + 1) for one in written.carried]
    spans = dict(zip(carried_positions(piece.masked, labels), carried, strict=True))
    matrix = np.zeros((len(labels), len(written.text.split())))
    for word, (first, last) in enumerate(zip(firsts, [*firsts[1:], len(labels) - 1], strict=True)):
        number = written.word_at(written.places[min(places[word], len(written.places) - 1)])
        for position in range(first, min(last, len(labels) - 1)):
            own = spans.get(position, range(number, number + 1))
            matrix[position, own[0]] = 1
            number = own[-1]
    return PieceWords(matrix, tuple(carried))


def restored_links(restored: Restored, source: PieceWords) -> tuple[Link, ...]:
    """Of the words that the network said, in their order. Those of a carried span come from those of the span."""
    rows: dict[int, list[FloatArray]] = {}
    for unit, first in zip(restored.units, restored.words, strict=True):
        if unit.carried is None:
            rows.setdefault(first, []).append(unit.attention @ source.of_positions)
            continue
        own = source.carried[unit.carried]
        for place in range(len(unit.text.split())):
            sure = np.eye(source.of_positions.shape[1])[own[min(place, len(own) - 1)]]
            rows.setdefault(first + place, []).append(sure)
    return tuple((int(np.mean(found, axis=0).argmax()), word) for word, found in sorted(rows.items()))


def given_links(source: Piece, target: Piece, words: tuple[PieceWords, PieceWords], attention: FloatArray) -> Links:
    """Of the words of a translation that was given: `attention` (T, S) is that of its positions.

    Those of a carried span come from those of the same span; a word without a position of its own has no link.
    """
    of_source, of_target = words
    looked = of_target.of_positions.T @ attention @ of_source.of_positions  # (words of the target, W)
    found = {int(word): int(looked[word].argmax()) for word in np.flatnonzero(of_target.of_positions.any(axis=0))}
    places = dict(zip(source.masked.names, of_source.carried, strict=True))
    for name, own in zip(target.masked.names, of_target.carried, strict=True):
        found |= {word: places[name][min(place, len(places[name]) - 1)] for place, word in enumerate(own)}
    return tuple((found[word], word) for word in sorted(found))
