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


def split_ranges(parts: Iterable[str]) -> Iterator[range]:
    """The words of each part among those of all; two that no blank parts share one."""
    end = 0
    for part in parts:
        start = end - (end > 0 and bool(part) and not part[0].isspace())
        end = start + len(part.split())
        yield range(start, end)


def find_links(translation: Translation, hypothesis: Hypothesis) -> tuple[Link, ...]:
    """Returns the word links of a hypothesis, piece by piece of its line.

    Returns none for a network without attention, and where the source is no text.
    """
    if translation.source_pieces[-1:] != (SENTENCE_END,):
        return ()
    links: dict[Link, None] = {}
    row = column = 0
    pieces = hypothesis.words or (Words.from_texts(normalise(translation.source), hypothesis.text),)
    for words, attention in zip(pieces, hypothesis.attentions, strict=True):
        last_row, last_column = row + attention.shape[0], column + attention.shape[1]
        source, target = translation.source_pieces[column:last_column], hypothesis.pieces[row:last_row]
        near = link_words(source, target, attention) if words.links is None else words.links
        if (
            attention.any() and words.source
        ):  # pieces can seem more words than they spell: what is unknown has no joiner
            known = ((min(s, len(words.source) - 1), t) for s, t in near if t < len(words.target))
            links |= dict.fromkeys((words.source[s], words.target[t]) for s, t in known)
        row, column = last_row, last_column
    return tuple(links)


def link_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> tuple[Link, ...]:
    """Each target word with the source word it looked at most, in the order of the target.

    `attention` is that of the pieces, (T, S). The ends of the sentences are no words and linked to nothing.
    """
    source_words, target_words = (drop_silent(pieces, group_by_blanks(pieces)) for pieces in (source, target))
    if not (source_words and target_words):
        return ()
    best = merge_attention(attention, source_words, target_words).argmax(axis=1)
    return tuple((int(word), column) for column, word in enumerate(best))


def drop_silent(pieces: Sequence[str], groups: Groups) -> Groups:
    """The groups without those of the sentence's start and end, and those that spell nothing but a blank."""
    return [
        group
        for group in groups
        if not is_special(pieces[group[0]]) and any(pieces[index].strip(BLANK) for index in group)
    ]


def merge_attention(attention: FloatArray, source: Groups, target: Groups) -> FloatArray:
    """Attention (..., T, S) of the groups: what a source word's pieces get is added, what a target's give averaged."""
    import numpy as np

    summed = np.stack([attention[..., group].sum(axis=-1) for group in source], axis=-1)
    return np.stack([summed[..., group, :].mean(axis=-2) for group in target], axis=-2)


def group_by_blanks(pieces: Sequence[str]) -> Groups:
    """The pieces between two blanks each; the end of the sentence stands alone."""
    marked = any(piece.startswith(BLANK) for piece in pieces)
    starts: Callable[[str], bool] = (
        (lambda piece: piece.startswith(BLANK)) if marked else (lambda piece: not piece.startswith(JOINER))
    )
    groups: Groups = []
    for index, piece in enumerate(pieces):
        if not groups or starts(piece) or is_special(piece):
            groups.append([])
        groups[-1].append(index)
    return groups


def is_special(piece: str) -> bool:
    return piece in (SENTENCE_END, "<s>")
