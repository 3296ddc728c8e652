"""Attention of pieces as attention of words, and as the links that it means. Takes pieces and arrays, no tokenizer.

Words are what stands between blanks, as in the Pharaoh format. Letters: T target and S source pieces; L layers,
H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nmt_cli.inference.protocol import FloatArray

# Those of `corpus.tokenizer`, which loads SentencePiece; the command line reads this module for `nmt --help`.
BLANK = "▁"
JOINER = "￭"
SENTENCE_END = "</s>"

Groups = list[list[int]]
Link = tuple[int, int]  # source word, target word, from 0


def word_links(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> tuple[Link, ...]:
    """Each target word with the source word it looked at most, in the order of the target.

    `attention` is that of the pieces, (T, S). The ends of the sentences are no words and linked to nothing.
    """
    source_words, target_words = (spoken(pieces, blank_separated(pieces)) for pieces in (source, target))
    if not (source_words and target_words):
        return ()
    best = merged(attention, source_words, target_words).argmax(axis=1)
    return tuple((int(word), place) for place, word in enumerate(best))


def spoken(pieces: Sequence[str], groups: Groups) -> Groups:
    """The groups without those of the sentence's start and end."""
    return [group for group in groups if not is_special(pieces[group[0]])]


def merged(attention: FloatArray, source: Groups, target: Groups) -> FloatArray:
    """Attention (..., T, S) of the groups: what a source word's pieces get is added, what a target's give averaged."""
    import numpy as np

    summed = np.stack([attention[..., group].sum(axis=-1) for group in source], axis=-1)
    return np.stack([summed[..., group, :].mean(axis=-2) for group in target], axis=-2)


def blank_separated(pieces: Sequence[str]) -> Groups:
    """The pieces between two blanks each; the end of the sentence stands alone."""
    marked = any(piece.startswith(BLANK) for piece in pieces)
    starts: Callable[[str], bool] = (
        (lambda piece: piece.startswith(BLANK)) if marked else (lambda piece: not piece.startswith(JOINER))
    )
    groups: Groups = []
    for place, piece in enumerate(pieces):
        if not groups or starts(piece) or is_special(piece):
            groups.append([])
        groups[-1].append(place)
    return groups


def is_special(piece: str) -> bool:
    return piece in (SENTENCE_END, "<s>")
