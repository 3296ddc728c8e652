"""Attention of subword pieces as attention of words: sums over the pieces of a source word, means over a target's.

Takes pieces and arrays; must not know tokenizers. Letters: T target and S source pieces; L layers, H heads.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from nmt_cli.translation.word_alignment import JOINER, Groups, blank_separated, merged
from nmt_cli.visuals.labels import SPACE, WORD_START, is_wide, piece_labels, printable

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation

BYTE = re.compile(r"<0x([0-9A-F]{2})>$")


@dataclass(frozen=True)
class Attended:
    """A sentence, its translation and where the network looked, as it is to be drawn."""

    source: tuple[str, ...]  # S labels
    target: tuple[str, ...]  # T labels
    attention: FloatArray  # (T, S), or (L, H, T, S); over S it sums to 1
    probabilities: tuple[float, ...]  # T, 0-1: of a word, the product of its pieces'
    source_text: str
    target_text: str


def attended(translation: Translation, *, merge: bool) -> Attended:
    """The best translation with its attention, by words or by subword pieces."""
    import numpy as np  # which `nmt --help` does not need

    best = translation.hypotheses[0]
    source, target = words(translation.source_pieces), words(best.pieces)
    pieces = Attended(
        source=tuple(piece_labels(translation.source_pieces)),
        target=tuple(piece_labels(best.pieces)),
        attention=best.attention,
        probabilities=tuple(float(value) for value in np.exp(best.token_log_probabilities)),
        source_text=printable(translation.source),
        target_text=printable(best.text),
    )
    if not merge:
        return pieces
    return dataclasses.replace(
        pieces,
        source=tuple(label(translation.source_pieces, group) for group in source),
        target=tuple(label(best.pieces, group) for group in target),
        attention=merged(best.attention, source, target),
        probabilities=tuple(
            float(np.exp(sum(best.token_log_probabilities[piece] for piece in group))) for group in target
        ),
    )


def words(pieces: Sequence[str]) -> Groups:
    """The pieces of each word: what stands between blanks, less the punctuation around it.

    In scripts without blanks each piece is a word.
    """
    return [part for group in blank_separated(pieces) for part in parted(pieces, group)]


def parted(pieces: Sequence[str], group: list[int]) -> Groups:
    """A blank-separated word without the punctuation before and after it; each piece where the script has no blanks."""
    if any(is_wide(character) for place in group for character in pieces[place]):
        return joined_blanks(pieces, runs_of_bytes(pieces, group))
    lettered = [place for place in group if any(c.isalnum() for c in bare(pieces[place]))]
    if not lettered:
        return [group]
    first, last = lettered[0], lettered[-1]
    before, after = [place for place in group if place < first], [place for place in group if place > last]
    core = [place for place in group if first <= place <= last]
    if not any(bare(pieces[place]) for place in before):  # a blank alone belongs to the word
        before, core = [], before + core
    return [part for part in (before, core, after) if part]


def bare(piece: str) -> str:
    return piece.replace(WORD_START, "").removeprefix(JOINER)


def runs_of_bytes(pieces: Sequence[str], group: list[int]) -> Groups:
    """Each piece alone, but byte pieces that follow each other together: they spell one character or a few."""
    found: Groups = []
    for are_bytes, run in groupby(group, key=lambda place: bool(BYTE.match(pieces[place]))):
        own = list(run)
        found += [own] if are_bytes else [[place] for place in own]
    return found


def joined_blanks(pieces: Sequence[str], groups: Groups) -> Groups:
    """A piece that is nothing but a blank belongs to what follows it."""
    if len(groups) > 1 and not bare(pieces[groups[0][0]]):
        return [groups[0] + groups[1], *groups[2:]]
    return groups


def label(pieces: Sequence[str], group: Sequence[int]) -> str:
    """The text of some pieces, with byte pieces put together to characters."""
    text = bytearray()
    for place in group:
        byte = BYTE.match(pieces[place])
        text += bytes([int(byte[1], 16)]) if byte else bare(pieces[place]).encode("utf-8", "replace")
    return printable(text.decode("utf-8", "replace")) or SPACE
