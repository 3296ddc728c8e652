"""Merges the attention between subword pieces into that between words: summed over source, averaged over target pieces.

Takes pieces and arrays; must not know tokenizers. Letters: T target and S source labels, L layers, H heads.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from nmt_cli.text.symbols import BLANK, JOINER
from nmt_cli.text.wrapping import is_wide
from nmt_cli.translation.placement.word_alignment import Groups, group_by_blanks, merge_attention
from nmt_cli.visuals.labels import SPACE, label_pieces, replace_controls

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation

BYTE = re.compile(r"<0x([0-9A-F]{2})>$")


@dataclass(frozen=True)
class LabelledAttention:
    """A sentence, its translation and the attention between them, with labels for drawing."""

    source: tuple[str, ...]  # S labels
    target: tuple[str, ...]  # T labels
    attention: FloatArray  # (T, S), or (L, H, T, S); sums to 1 over S
    probabilities: tuple[float, ...]  # T, 0-1: that of a word is the product of its pieces'
    source_text: str
    target_text: str


def label_attention(translation: Translation, *, merge: bool, heads: FloatArray | None = None) -> LabelledAttention:
    """Returns the best translation with its attention, by words if `merge`, else by subword pieces.

    `heads` (L, H, T, S) replaces the translation's own attention.
    """
    import numpy as np  # `nmt --help` does not need it

    best = translation.hypotheses[0]
    attention = best.attention if heads is None else heads
    source, target = group_words(translation.source_pieces), group_words(best.pieces)
    pieces = LabelledAttention(
        source=tuple(label_pieces(translation.source_pieces)),
        target=tuple(label_pieces(best.pieces)),
        attention=attention,
        probabilities=tuple(float(value) for value in np.exp(best.token_log_probabilities)),
        source_text=replace_controls(translation.source),
        target_text=replace_controls(best.text),
    )
    if not merge:
        return pieces
    return dataclasses.replace(
        pieces,
        source=tuple(spell_word(translation.source_pieces, group) for group in source),
        target=tuple(spell_word(best.pieces, group) for group in target),
        attention=merge_attention(attention, source, target),
        probabilities=tuple(
            float(np.exp(sum(best.token_log_probabilities[piece] for piece in group))) for group in target
        ),
    )


def group_words(pieces: Sequence[str]) -> Groups:
    """Returns the indices of the pieces of each word, in order; punctuation around a word is a group of its own.

    In scripts without spaces each piece is a word.
    """
    return [part for group in group_by_blanks(pieces) for part in split_word(pieces, group)]


def split_word(pieces: Sequence[str], group: list[int]) -> Groups:
    """Splits the text between spaces into preceding punctuation, the word, and following punctuation.

    In scripts without spaces it is split into its pieces.
    """
    if any(is_wide(character) for index in group for character in pieces[index]):
        return join_blanks(pieces, group_bytes(pieces, group))
    alphanumeric = [index for index in group if any(c.isalnum() for c in strip_marks(pieces[index]))]
    if not alphanumeric:
        return [group]
    first, last = alphanumeric[0], alphanumeric[-1]
    before, after = [index for index in group if index < first], [index for index in group if index > last]
    word = [index for index in group if first <= index <= last]
    if not any(strip_marks(pieces[index]) for index in before):  # a space alone belongs to the word
        before, word = [], before + word
    return [part for part in (before, word, after) if part]


def strip_marks(piece: str) -> str:
    """Removes the marks of spaces and joiners from a piece."""
    return piece.replace(BLANK, "").removeprefix(JOINER)


def group_bytes(pieces: Sequence[str], group: list[int]) -> Groups:
    """Groups consecutive byte pieces, which spell one or more characters; every other piece is a group of its own."""
    groups: Groups = []
    for are_bytes, run in groupby(group, key=lambda index: bool(BYTE.match(pieces[index]))):
        indices = list(run)
        groups += [indices] if are_bytes else [[index] for index in indices]
    return groups


def join_blanks(pieces: Sequence[str], groups: Groups) -> Groups:
    """Joins a first piece that is only a space with the group after it."""
    if len(groups) > 1 and not strip_marks(pieces[groups[0][0]]):
        return [groups[0] + groups[1], *groups[2:]]
    return groups


def spell_word(pieces: Sequence[str], group: Sequence[int]) -> str:
    """Returns the text of the pieces of a group; byte pieces are decoded to characters."""
    text = bytearray()
    for index in group:
        byte = BYTE.match(pieces[index])
        text += bytes([int(byte[1], 16)]) if byte else strip_marks(pieces[index]).encode("utf-8", "replace")
    return replace_controls(text.decode("utf-8", "replace")) or SPACE
