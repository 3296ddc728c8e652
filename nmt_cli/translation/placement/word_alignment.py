"""Merges subword attention into word attention, and links words by it. Knows no tokenizer.

Words are separated by blanks, as in the Pharaoh format. Letters: T target and S source subwords.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.symbols import BLANK, JOINER, SENTENCE_END
from nmt_cli.text.words import Link, choose_word_pattern
from nmt_cli.translation.result import WordLinks

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Hypothesis, Translation


ATTRACTION = 0.1  # smallest attention to a source word that says where its translation is
SENTENCE_ENDS = (SENTENCE_END, "<s>")
Groups = list[list[int]]  # the indices of the subwords of each word


def split_ranges(parts: Iterable[str]) -> Iterator[range]:
    """Yields the word range of each part in the whole text; parts without a blank between them share a word."""
    end, is_apart = 0, True
    for part in parts:
        start = end - (not is_apart and bool(part) and not part[0].isspace())
        end = start + len(part.split())
        is_apart = part[-1].isspace() if part else is_apart
        yield range(start, end)


class AlignedPart(NamedTuple):
    """A piece of a line and of its translation."""

    words: WordLinks
    source: Sequence[str]  # S subwords
    target: Sequence[str]  # T subwords
    attention: FloatArray  # (T, S)


def list_parts(translation: Translation, hypothesis: Hypothesis) -> Iterator[AlignedPart]:
    """Yields the pieces of a line; none for a network without attention, or for a source that is not text."""
    if translation.source_pieces[-1:] != (SENTENCE_END,):
        return
    row = column = 0
    pieces = hypothesis.words or (WordLinks.from_texts(normalise(translation.source), hypothesis.text),)
    for words, attention in zip(pieces, hypothesis.attentions, strict=True):
        last_row, last_column = row + attention.shape[0], column + attention.shape[1]
        source, target = translation.source_pieces[column:last_column], hypothesis.pieces[row:last_row]
        if attention.any() and words.source:
            yield AlignedPart(words, source, target, attention)
        row, column = last_row, last_column


def find_links(translation: Translation, hypothesis: Hypothesis) -> tuple[Link, ...]:
    """Returns the word links of a hypothesis, piece by piece of its line."""
    links: dict[Link, None] = {}
    for words, source, target, attention in list_parts(translation, hypothesis):
        piece_links = link_words(source, target, attention) if words.links is None else words.links
        # Subwords can seem to be more words than they spell, since unknown ones have no joiner.
        valid = ((min(s, len(words.source) - 1), t) for s, t in piece_links if t < len(words.target))
        links |= dict.fromkeys((words.source[s], words.target[t]) for s, t in valid)
    return tuple(links)


def find_attracted(translation: Translation, hypothesis: Hypothesis) -> dict[int, int]:
    """Returns the target word that attends most to each source word, in pieces linked by their subwords."""
    attracted: dict[int, int] = {}
    for words, source, target, attention in list_parts(translation, hypothesis):
        if words.links is None and (weights := weigh_words(source, target, attention)) is not None:
            weights = weights[: len(words.target)]
            best = zip(words.source, weights.argmax(axis=0), weights.max(axis=0), strict=False)
            attracted |= {word: words.target[int(index)] for word, index, weight in best if weight >= ATTRACTION}
    return attracted


def find_weights(translation: Translation, hypothesis: Hypothesis) -> dict[int, float]:
    """Returns the highest attention of each target word to a source word, in pieces linked by their subwords."""
    highest: dict[int, float] = {}
    for words, source, target, attention in list_parts(translation, hypothesis):
        if words.links is None and (weights := weigh_words(source, target, attention)) is not None:
            highest |= zip(words.target, weights.max(axis=1).tolist(), strict=False)
    return highest


def link_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> tuple[Link, ...]:
    """Links each target word to the source word that it attended to most, in target order.

    `attention` (T, S) is between subwords. The ends of the sentences are not words and have no links.
    """
    weights = weigh_words(source, target, attention)
    best = () if weights is None else weights.argmax(axis=1)
    return tuple((int(word), column) for column, word in enumerate(best))


def weigh_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> FloatArray | None:
    """Returns the attention between the words of both sides; None if either has none."""
    source_words, target_words = (drop_silent(pieces, group_by_blanks(pieces)) for pieces in (source, target))
    return merge_attention(attention, source_words, target_words) if source_words and target_words else None


def drop_silent(pieces: Sequence[str], groups: Groups) -> Groups:
    """Returns the groups without the start and end of the sentence, and without those that spell only a blank."""
    return [
        group
        for group in groups
        if pieces[group[0]] not in SENTENCE_ENDS and "".join(pieces[group[0] : group[-1] + 1]).strip(BLANK)
    ]


def merge_attention(attention: FloatArray, source: Groups, target: Groups) -> FloatArray:
    """Returns the attention (..., T, S) of the groups: summed over source subwords, averaged over target subwords."""
    import numpy as np

    summed = np.stack([attention[..., group].sum(axis=-1) for group in source], axis=-1)
    return np.stack([summed[..., group, :].mean(axis=-2) for group in target], axis=-2)


def group_by_blanks(pieces: Sequence[str]) -> Groups:
    """Groups subwords into blank-separated words; the end of the sentence is a group of its own."""
    marked = any(piece.startswith(BLANK) for piece in pieces)
    mark = BLANK if marked else JOINER
    starts = [
        index
        for index, piece in enumerate(pieces)
        if not index or piece.startswith(mark) == marked or piece in SENTENCE_ENDS
    ]
    return [list(range(start, end)) for start, end in pairwise([*starts, len(pieces)])]


def spell_word(pieces: Sequence[str], group: Sequence[int]) -> str:
    """Returns the word that a group of subwords spells, without the marks around it; empty if it is not just one."""
    text = "".join(pieces[index].removeprefix(JOINER) for index in group).replace(BLANK, " ")
    words = [word for word in choose_word_pattern(text).findall(text) if word[0].isalnum()]
    return words[0] if len(words) == 1 and not find_unspaced(text) else ""
