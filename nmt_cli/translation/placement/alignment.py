"""Computes word attention and word links, and traces each character of a translation to its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.text.normalise import drop_invisible, find_unspaced, normalise
from nmt_cli.text.symbols import BLANK, JOINER, SENTENCE_END
from nmt_cli.text.words import Link, choose_word_pattern, count_strings, has_word
from nmt_cli.translation.placement.traced_text import (
    UNALIGNED,
    WORD_CLOSERS,
    MarkedRanges,
    TextRange,
    TracedText,
    find_mark,
)
from nmt_cli.translation.result import WordLinks, WordSpan

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Hypothesis, Translation


# Merges subword attention into word attention, and links words by it. Does not depend on tokenizers.
#
# Words are separated by blanks, as in the Pharaoh format. Letters: T target and S source subwords.


ATTRACTION = 0.1  # smallest attention to a source word that says where its translation is
SENTENCE_ENDS = (SENTENCE_END, "<s>")
Groups = list[list[int]]  # the indices of the subwords of each word


def split_ranges(parts: Iterable[str]) -> Iterator[range]:
    """Yields the word range of each part in the whole text; parts without a space between them share a word."""
    end, is_apart = 0, True
    for part in parts:
        start = end - (not is_apart and bool(part) and not part[0].isspace())
        end = start + len(part.split())
        is_apart = part[-1].isspace() if part else is_apart
        yield range(start, end)


class AlignedPart(NamedTuple):
    """A piece of a line with its part of the translation."""

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


def weigh_links(translation: Translation, hypothesis: Hypothesis) -> tuple[dict[int, int], dict[int, float]]:
    """Returns the target word that attends most to each source word, and the highest attention of each target word.

    Only words of pieces linked by their subwords have any.
    """
    attracted: dict[int, int] = {}
    highest: dict[int, float] = {}
    for words, source, target, attention in list_parts(translation, hypothesis):
        if words.links is None and (weights := weigh_words(source, target, attention)) is not None:
            highest |= zip(words.target, weights.max(axis=1).tolist(), strict=False)
            weights = weights[: len(words.target)]
            best = zip(words.source, weights.argmax(axis=0), weights.max(axis=0), strict=False)
            attracted |= {word: words.target[int(index)] for word, index, weight in best if weight >= ATTRACTION}
    return attracted, highest


def link_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> tuple[Link, ...]:
    """Links each target word to the source word that it attended to most, in target order.

    `attention` (T, S) is between subwords. The ends of the sentences are not words and have no links.
    """
    weights = weigh_words(source, target, attention)
    best = () if weights is None else weights.argmax(axis=1)
    return tuple((int(word), column) for column, word in enumerate(best))


def weigh_words(source: Sequence[str], target: Sequence[str], attention: FloatArray) -> FloatArray | None:
    """Returns the attention between the words of both sides; None if either side has no words."""
    source_words, target_words = (drop_silent(pieces, group_by_blanks(pieces)) for pieces in (source, target))
    return merge_attention(attention, source_words, target_words) if source_words and target_words else None


def drop_silent(pieces: Sequence[str], groups: Groups) -> Groups:
    """Returns the groups, except the start and end of the sentence and groups that spell only a space."""
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
    """Groups subwords into space-separated words; the end of the sentence is a group of its own."""
    marked = any(piece.startswith(BLANK) for piece in pieces)
    mark = BLANK if marked else JOINER
    starts = [
        index
        for index, piece in enumerate(pieces)
        if not index or piece.startswith(mark) == marked or piece in SENTENCE_ENDS
    ]
    return [list(range(start, end)) for start, end in pairwise([*starts, len(pieces)])]


def spell_word(pieces: Sequence[str], group: Sequence[int]) -> str:
    """Returns the one word that a group of subwords spells, without punctuation around it; empty if it is not one."""
    text = "".join(pieces[index].removeprefix(JOINER) for index in group).replace(BLANK, " ")
    words = [word for word in choose_word_pattern(text).findall(text) if word[0].isalnum()]
    return words[0] if len(words) == 1 and not find_unspaced(text) else ""


# Traces each character of a translation to its source character.
#
# Attention links words; marks begin and end at characters, also inside words (`H<sub>2</sub>O`). Therefore:
#
# 1. Each word of the translation is linked to a source word: by attention, or because the same word occurs once in
# both.
# 2. In a linked pair, a word that occurs unchanged in the other is traced character by character; of two different
# words,
#    punctuation is traced to punctuation, and the rest to the middle of the source word.
# 3. The blanks between two words whose source words are adjacent too come from those between the latter.
#
# A translation that equals its source, except for its blanks, becomes its source. Does not depend on marks or formats.


NOT_BLANK = re.compile(r"\S+")
NUMBER_AT_START = re.compile(r"\d+(?=[^\W\d_])")
WORD_EDGES = re.compile(r"\A([^\w\s]*)(.*?)([^\w\s]*)\Z", re.DOTALL)


class TracedWord:
    """A word of the source with its position in the text; its edges are computed only once."""

    def __init__(self, source: str, word: TextRange) -> None:
        self.text, self.start, self.following = source[slice(*word)], word.start, min(word.end, len(source) - 1)

    @cached_property
    def edges(self) -> Sequence[str]:
        """The punctuation before the core, the core, and the punctuation after it."""
        edges: Sequence[str] = WORD_EDGES.findall(self.text)[0]
        return edges


def trace_translation(source: str, translation: Translation) -> TracedText:
    """Returns the best translation of `source`, traced to it."""
    source_words, target_words = find_word_ranges(source), find_word_ranges(translation.text)
    links = find_word_links(translation, len(source_words))
    seen = [index for index, word in enumerate(translation.text.split()) if drop_invisible(word)]
    rewritten = find_rewritten_words(source, translation)
    visible = [links[index] for index in seen]
    linked = link_equal_words(source, source_words, translation.text, target_words, visible, rewritten)
    numbers, best = {index: number for number, index in enumerate(seen)}, translation.hypotheses[:1]
    attracted, highest = weigh_links(translation, best[0]) if best else ({}, {})
    nearest = [numbers.get(attracted.get(word, -1)) for word in range(len(source_words) if best else 0)]
    weights = [highest.get(index, 1.0) for index in seen]
    traced = trace_words(source, source_words, translation.text, target_words, linked, weights, nearest)
    marked = locate_marked(source, translation.text, translation)
    return traced.bind(marked) if marked else traced


def locate_marked(source: str, target: str, translation: Translation) -> list[MarkedRanges]:
    """Returns the characters of both sides that marks enclose, as far as they are known of a translation."""
    pairs: list[MarkedRanges] = []
    for words in translation.hypotheses[0].words if translation.hypotheses else ():
        texts = (source, target) if words.marked else ()  # most are no recalled ones
        sides = [[TextRange(*match.span()) for match in NOT_BLANK.finditer(text)] for text in texts]
        for pair in words.marked:
            before = pair.source and locate_span(pair.source, sides[0], words.source.start)
            after = pair.target and locate_span(pair.target, sides[1], words.target.start)
            pairs += [MarkedRanges(before, after, pair.is_piece)] if before or after else []
    return pairs


def locate_span(span: WordSpan, words: Sequence[TextRange], offset: int) -> TextRange | None:
    """Returns the characters that words counted from `offset` cover in a text; None if the text has too few words."""
    first, last = (point._replace(word=point.word + offset) for point in span)
    if max(first.word, last.word) >= len(words):
        return None
    return TextRange(words[first.word].start + first.offset, words[last.word].start + last.offset)


def find_rewritten_words(source: str, translation: Translation) -> set[str]:
    """Returns the words of the spans that the translation writes differently: `4.` and `Juli` for July 4."""
    counts = count_strings(source, [span.text for span in translation.placed])
    return {word for text, count in counts.items() if not count for word in text.split()}


def find_word_ranges(text: str) -> list[TextRange]:
    """Returns the ranges of a text's words; anything without a visible character counts as space."""
    return [TextRange(*match.span()) for match in NOT_BLANK.finditer(text) if drop_invisible(match[0])]


def find_word_links(translation: Translation, count: int) -> list[int | None]:
    """Returns the source word of each target word by attention or, without attention, by relative position."""
    words = len(translation.text.split())
    links: list[int | None] = [None] * words
    if translation.hypotheses:
        for source, target in find_links(translation, translation.hypotheses[0]):
            if target < words and source < count and links[target] is None:
                links[target] = source
    if count and not any(link is not None for link in links):
        return [index * count // words for index in range(words)]
    return links


def link_equal_words(
    source: str,
    source_words: Sequence[TextRange],
    target: str,
    target_words: Sequence[TextRange],
    links: Sequence[int | None],
    except_words: Collection[str] = (),
) -> list[int | None]:
    """Returns the links; a word that occurs exactly once in both texts links only to itself, with some exceptions."""
    source_texts = [source[word.start : word.end] for word in source_words]
    target_texts = [target[word.start : word.end] for word in target_words]
    source_counts, target_counts = Counter(source_texts), Counter(target_texts)
    indices = {
        text: index
        for index, text in enumerate(source_texts)
        if source_counts[text] == 1 == target_counts[text] and has_word(text) and text not in except_words
    }
    claimed = frozenset(indices.values())
    return [
        indices.get(text, None if link in claimed else link) for text, link in zip(target_texts, links, strict=True)
    ]


def trace_words(
    source: str,
    source_words: Sequence[TextRange],
    target: str,
    target_words: Sequence[TextRange],
    links: Sequence[int | None],
    weights: Sequence[float] = (),
    attracted: Sequence[int | None] = (),
) -> TracedText:
    """Traces a target to its source, using the source word that each target word is linked to.

    `weights` say how sure these links are; `attracted` holds the target word that each source word attracts most, if
    known.
    """
    source_gaps, target_gaps = find_gaps(source, source_words), find_gaps(target, target_words)
    befores = [TracedWord(source, word) for word in source_words]  # once: many words may come from one that is long
    text = ""
    sources: list[int] = []
    words: list[TextRange] = []
    for index, (left, right) in enumerate(pairwise((-1, *links, len(source_words)))):
        gap, old = target_gaps[index], source_gaps[right] if left is not None and right == left + 1 else TextRange(0, 0)
        is_kept = old.start < old.end and (gap.start < gap.end or index in (0, len(target_words)))
        text += source[old.start : old.end] if is_kept else target[gap.start : gap.end]
        sources += range(*old) if is_kept else [UNALIGNED] * (gap.end - gap.start)
        if index < len(target_words):
            word = target[slice(*target_words[index])]
            words.append(TextRange(len(text), len(text) + len(word)))
            text += word
            is_inner_stop = word == "." and gap.start == gap.end and index + 1 < len(target_words)
            if is_inner_stop and left is not None and left >= 0 and NUMBER_AT_START.match(befores[left].text):
                right = left  # the stop is no end of a sentence: 10th, 10.
            sources += [UNALIGNED] * len(word) if right is None else trace_word(befores[right], word)
    sure = [float(link is not None) * weight for link, weight in zip(links, weights or [1.0] * len(links), strict=True)]
    return TracedText(source, text, sources, source_words, words, sure, attracted)


def find_gaps(text: str, words: Sequence[TextRange]) -> list[TextRange]:
    """Returns the ranges before the first word, between words, and after the last one."""
    return [
        TextRange(*gap)
        for gap in zip([0, *(word.end for word in words)], [*(word.start for word in words), len(text)], strict=True)
    ]


def trace_word(before: TracedWord, after: str) -> list[int]:
    """Returns the source character of each character of a word that comes from `before`."""
    start, end, following = before.start, before.start + len(before.text), before.following
    offset = find_unchanged(before.text, after)
    if offset is not None:
        return [start] * offset + list(range(start, end)) + [following] * (len(after) - offset - (end - start))
    return [following if index is None else start + index for index in trace_changed(before, after)]


def find_unchanged(before: str, after: str) -> int | None:
    """Returns where `before` stands in `after` as a whole word; 0 if they differ only in case; None if neither."""
    if len(before) == len(after) and before.casefold() == after.casefold():
        return 0
    offset = after.find(before)
    end = offset + len(before)
    parts = ((after[max(0, offset - 1) : offset], before[:1]), (before[-1:], after[end : end + 1]))
    return None if offset < 0 or any(left.isalnum() and right.isalnum() for left, right in parts) else offset


def trace_changed(before: TracedWord, after: str) -> list[int | None]:
    """Returns the index in `before` of each character of `after`; None for new punctuation that follows the word."""
    (opening, old_core, closing), (new_opening, core, new_closing) = before.edges, WORD_EDGES.findall(after)[0]
    start, end = len(opening), len(before.text) - len(closing)
    first = min(start, len(before.text) - 1)
    # What stands behind a number is apart from it, since marks may enclose it: 10<sup>th</sup>, 10.
    number = NUMBER_AT_START.match(before.text, start)
    digits, last = number.span() if number else (start, start)
    middle = (last + end) // 2 if start < end else 0
    if not core and old_core and new_opening != opening:  # a sign behind its number, and the marks behind it: 20 £.
        origins = [*range(end, len(before.text)), *range(start)]
        indices = [find_mark(closing + opening, mark) for mark in new_opening]
        rest = [middle if number else None if mark in WORD_CLOSERS else first for mark in new_opening]
        return [rest[n] if index is None else origins[index] for n, index in enumerate(indices)]
    front = [first if index is None else index for index in trace_marks(opening, new_opening)]
    shared = list(range(digits, last)) if number and core.startswith(number[0]) else []
    back = [index if index is None else index + end for index in trace_marks(closing, new_closing)]
    back[:1] = [middle] if shared and len(core) == len(shared) and new_closing and not closing else back[:1]
    return [*front, *shared, *[middle] * (len(core) - len(shared)), *back]


def trace_marks(before: str, after: str) -> list[int | None]:
    """Returns the index in `before` of each mark of `after`: by order if counts are equal, else of the same mark."""
    return [index if len(before) == len(after) else find_mark(before, mark) for index, mark in enumerate(after)]
