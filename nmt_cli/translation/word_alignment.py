"""Attention of pieces as attention of words, and as the links that it means. Knows no tokenizer.

Words are what stands between blanks, as in the Pharaoh format. Letters: T target and S source pieces; L layers,
H heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.translation.result import Link, Words

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Hypothesis, Translation

# Those of `corpus.tokenizer`, which loads SentencePiece; the command line reads this module for `nmt --help`.
BLANK = "▁"
JOINER = "￭"

Groups = list[list[int]]


def word_ranges(parts: Iterable[str]) -> Iterator[range]:
    """The words of each part among those of all; two that no blank parts share one."""
    end = 0
    for part in parts:
        start = end - (end > 0 and bool(part) and not part[0].isspace())
        end = start + len(part.split())
        yield range(start, end)


def links(translation: Translation, hypothesis: Hypothesis) -> tuple[Link, ...]:
    """The links of one of the hypotheses of a line, piece by piece of it: none looks at another.

    None for a network without attention, which looks at nothing, and where the source is no text.
    """
    if translation.source_pieces[-1:] != (SENTENCE_END,):
        return ()
    found: dict[Link, None] = {}
    row = column = 0
    words = hypothesis.words or (Words.of(normalise(translation.source), hypothesis.text),)
    for own, attention in zip(words, hypothesis.attentions, strict=True):
        last_row, last_column = row + attention.shape[0], column + attention.shape[1]
        source, target = translation.source_pieces[column:last_column], hypothesis.pieces[row:last_row]
        near = word_links(source, target, attention) if own.links is None else own.links
        if attention.any() and own.source:  # pieces can seem more words than they spell: what is unknown has no joiner
            known = ((min(s, len(own.source) - 1), t) for s, t in near if t < len(own.target))
            found |= dict.fromkeys((own.source[s], own.target[t]) for s, t in known)
        row, column = last_row, last_column
    return tuple(found)


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
    """The groups without those of the sentence's start and end, and those that spell nothing but a blank."""
    return [
        group
        for group in groups
        if not is_special(pieces[group[0]]) and any(pieces[place].strip(BLANK) for place in group)
    ]


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
