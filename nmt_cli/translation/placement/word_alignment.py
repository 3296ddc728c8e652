"""Merges subword attention into word attention, and links words by it. Knows no tokenizer.

Words are separated by blanks, as in the Pharaoh format. Letters: T target and S source subwords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.symbols import BLANK, JOINER, SENTENCE_END
from nmt_cli.text.words import Link, choose_word_pattern
from nmt_cli.translation.result import WordLinks

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Hypothesis, Translation


Groups = list[list[int]]  # the indices of the subwords of each word


def split_ranges(parts: Iterable[str]) -> Iterator[range]:
    """Yields the word range of each part in the whole text; parts without a blank between them share a word."""
    end, is_apart = 0, True
    for part in parts:
        start = end - (not is_apart and bool(part) and not part[0].isspace())
        end = start + len(part.split())
        is_apart = part[-1].isspace() if part else is_apart
        yield range(start, end)


def find_links(translation: Translation, hypothesis: Hypothesis) -> tuple[Link, ...]:
    """Returns the word links of a hypothesis, piece by piece of its line.

    Empty for a network without attention, or for a source that is not text.
    """
    if translation.source_pieces[-1:] != (SENTENCE_END,):
        return ()
    links: dict[Link, None] = {}
    row = column = 0
    pieces = hypothesis.words or (WordLinks.from_texts(normalise(translation.source), hypothesis.text),)
    for words, attention in zip(pieces, hypothesis.attentions, strict=True):
        last_row, last_column = row + attention.shape[0], column + attention.shape[1]
        source, target = translation.source_pieces[column:last_column], hypothesis.pieces[row:last_row]
        piece_links = link_words(source, target, attention) if words.links is None else words.links
        if attention.any() and words.source:
            # Subwords can seem to be more words than they spell, since unknown ones have no joiner.
            valid = ((min(s, len(words.source) - 1), t) for s, t in piece_links if t < len(words.target))
            links |= dict.fromkeys((words.source[s], words.target[t]) for s, t in valid)
        row, column = last_row, last_column
    return tuple(links)


def link_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> tuple[Link, ...]:
    """Links each target word to the source word that it attended to most, in target order.

    `attention` (T, S) is between subwords. The ends of the sentences are not words and have no links.
    """
    source_words, target_words = (drop_silent(pieces, group_by_blanks(pieces)) for pieces in (source, target))
    if not (source_words and target_words):
        return ()
    best = merge_attention(attention, source_words, target_words).argmax(axis=1)
    return tuple((int(word), column) for column, word in enumerate(best))


def drop_silent(pieces: Sequence[str], groups: Groups) -> Groups:
    """Returns the groups without the start and end of the sentence, and without those that spell only a blank."""
    return [
        group
        for group in groups
        if not is_special(pieces[group[0]]) and any(pieces[index].strip(BLANK) for index in group)
    ]


def merge_attention(attention: FloatArray, source: Groups, target: Groups) -> FloatArray:
    """Returns the attention (..., T, S) of the groups: summed over source subwords, averaged over target subwords."""
    import numpy as np

    summed = np.stack([attention[..., group].sum(axis=-1) for group in source], axis=-1)
    return np.stack([summed[..., group, :].mean(axis=-2) for group in target], axis=-2)


def group_by_blanks(pieces: Sequence[str]) -> Groups:
    """Groups subwords into blank-separated words; the end of the sentence is a group of its own."""
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


def spell_word(pieces: Sequence[str], group: Sequence[int]) -> str:
    """Returns the word that a group of subwords spells, without the marks around it; empty if it is not just one."""
    text = "".join(pieces[index].removeprefix(JOINER) for index in group).replace(BLANK, " ")
    words = [word for word in choose_word_pattern(text).findall(text) if word[0].isalnum()]
    return words[0] if len(words) == 1 and not find_unspaced(text) else ""


def is_special(piece: str) -> bool:
    return piece in (SENTENCE_END, "<s>")
