"""Places marks of a source (tags, emphasis, code, lost spans) in its translation, and divides it like the source."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from nmt_cli.carrying.spans import Pair, find_partners
from nmt_cli.text.characters import PAUSES
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.traced_text import UNALIGNED, Position, TextRange, TracedText, find_word

# Divides a translation where its source is divided: between two lines of a subtitle, two cells.
# Does not depend on formats.


def find_cut(traced: TracedText, point: int, low: int) -> Position:
    """Returns the space after `low` that divides the translation where the space `point` divides its source.

    As far as known, the words on each side come from the source words on that side; pauses and equal proportions decide
    between spaces. A translation without a space is divided anywhere if its script has no spaces.
    """
    ends = [word.end for word in traced.words[:-1] if word.end > low]
    if not ends:
        spread = round(point / len(traced.source) * len(traced.text))
        end = min(max(spread, low + 1), len(traced.text)) if find_unspaced(traced.text) else len(traced.text)
        return Position(end, end)
    starts = [word.start for word in traced.words if word.start >= low and traced.sources[word.start] != UNALIGNED]
    agreeing = [0, *accumulate(1 if traced.sources[start] < point else -1 for start in starts)]  # less a constant
    expected = sum(word.end <= point for word in traced.source_words) / len(traced.source_words) * len(traced.words)

    def rate(end: int) -> float:
        distance = abs(find_word(traced.words, end) + 1 - expected)
        return agreeing[bisect_left(starts, end)] + 0.5 * (traced.text[end - 1] in PAUSES) - 0.5 * distance

    end = max(ends, key=rate)
    start = next(word.start for word in traced.words if word.start > end)
    exact = [index for index in traced.targets.get(point, ()) if end <= index < start]
    return Position(exact[0], exact[0] + 1) if exact else Position(end, start)


# Places marks of a source (tags, emphasis, links, code, emoji, lost spans) in its translation: the one engine for all.
#
# It works on a translation whose characters are traced to those of the source (`traced_text`) rather than on attention,
# since documents have only word links, and their marks are at characters. Lines of text provide the links of their
# words and marks (`span_placement`), documents those of a whole line (`tracing`).
#
# 1. Opening and closing marks of one name are pairs, which nest; a mark without a partner is a point.
# 2. A pair goes around the densest run of words that come from its own; one around all that its pair encloses stays so.
# 3. A point goes behind the word before it, or before the one after it; a word goes to where its own characters are.
# 4. Marks in a pair are placed within it in the same way; two that would overlap follow each other.
#
# Each mark is placed exactly once. Must not know how anything is written.


MarkForm = Literal["point", "open", "close", "word", "cut"]
Binding = Literal["right", "both"]  # which words a point stays with: that after it; that before it and that after it


class Mark(NamedTuple):
    """A mark before the character `start` of a source, or a word or cut at the characters [start, end)."""

    form: MarkForm
    start: int
    end: int
    name: str = ""  # by which an opening and a closing mark are a pair
    keeps_order: bool = False  # of a point: whether it stays behind those before it that keep their order
    binding: Binding | None = None

    @property
    def pair(self) -> Pair | None:
        return Pair(self.name, self.form == "close") if self.form in ("open", "close") else None


class MarkNode(NamedTuple):
    """A single mark, or a pair with its content, over the characters [start, end) of a source."""

    first: int  # index of its mark, or of the opening one
    last: int  # index of the closing mark; `first` if there is none
    start: int
    end: int
    inside: Sequence[MarkNode] = ()


class PlacedMark(NamedTuple):
    """A mark or pair, the characters of the translation that it encloses, and the marks placed within them."""

    node: MarkNode
    position: Position
    inside: Sequence[PlacedMark] = ()


def place_marks(marks: Sequence[Mark], traced: TracedText) -> list[PlacedMark]:
    """Places the marks, and returns the outermost ones in the order of the translation."""
    placer = MarkPlacer(marks, traced)
    return placer.place_nodes(nest_marks(marks), TextRange(0, len(traced.source)), TextRange(0, len(traced.text)))


class MarkPlacer:
    def __init__(self, marks: Sequence[Mark], traced: TracedText) -> None:
        self.marks = marks
        self.traced = traced
        self.cut = Position(0, 0)  # the last one

    def place_nodes(self, nodes: Sequence[MarkNode], around: TextRange, target: TextRange) -> list[PlacedMark]:
        """Places the marks within the source characters `around` in the characters `target` of the translation."""
        positions = self.keep_order(nodes, [self.find_position(node, around, target) for node in nodes])
        placed = []
        cursor = target.start
        for position, node in sorted(zip(positions, nodes, strict=True), key=lambda pair: pair[0][0]):
            start = min(max(position.start, cursor), target.end)
            cursor = min(max(position.end, start), target.end)
            inside = self.place_nodes(node.inside, TextRange(node.start, node.end), TextRange(start, cursor))
            is_squeezed = start == cursor and position.start < position.end  # another pair has all of its words
            is_guess = position.is_guess or is_squeezed
            placed.append(PlacedMark(node, Position(start, cursor, is_guess), inside))
        return placed

    def keep_order(self, nodes: Sequence[MarkNode], positions: Sequence[Position]) -> Iterator[Position]:
        """Yields the positions, moving points forward where needed to keep their order."""
        last = 0
        for node, position in zip(nodes, positions, strict=True):
            mark = self.marks[node.first]
            if node.first == node.last and (mark.keeps_order or mark.pair):
                last = max(position.start, last)
                position = position._replace(start=last)
            yield position._replace(end=max(position.start, position.end))

    def find_position(self, node: MarkNode, around: TextRange, target: TextRange) -> Position:
        """Returns the characters that a mark or pair encloses, before the positions of others are known."""
        traced = self.traced
        if self.marks[node.first].form == "cut":
            self.cut = find_cut(traced, node.start, self.cut.end)
            return self.cut
        if self.marks[node.first].form == "word":
            positions = traced.list_targets(node.start, node.end)
            if len(positions) == node.end - node.start:
                return Position(positions[0], positions[-1] + 1)
            return traced.leave_final_mark(traced.find_point(node.start))._replace(is_guess=True)
        if node.start == node.end:
            binding = self.marks[node.first].binding
            point = traced.find_point(node.start, binds_right=True if binding == "right" else None)
            return traced.find_between(point) if binding == "both" else traced.find_before(point) if binding else point
        if (known := traced.find_known(node.start, node.end)) is not None:
            return known
        is_all = traced.is_blank(around.start, node.start) and traced.is_blank(node.end, around.end)
        if node.last > node.first and is_all:
            return self.fill(node, around, target)
        return traced.find_part(node.start, node.end) or self.guess_position(node, target)

    def fill(self, node: MarkNode, around: TextRange, target: TextRange) -> Position:
        """Returns all of `target`, except surrounding spaces that are outside the pair in the source as well."""
        text = self.traced.text[target.start : target.end]
        lead = min(node.start - around.start, len(text) - len(text.lstrip()))
        tail = min(around.end - node.end, len(text) - max(lead, len(text.rstrip())))
        return Position(target.start + lead, target.end - tail)

    def guess_position(self, node: MarkNode, target: TextRange) -> Position:
        """Returns the word at the relative position of a pair without translated words; empty for an empty pair."""
        ends = [node.start, *(inner.end for inner in node.inside)]
        starts = [*(inner.start for inner in node.inside), node.end]
        if all(map(self.traced.is_blank, ends, starts)):
            return self.traced.find_point(node.start)
        return self.traced.guess_word(node.start, target)


def nest_marks(marks: Sequence[Mark]) -> list[MarkNode]:
    """Returns the marks as a forest: a pair encloses everything between its marks."""
    partners = find_partners([mark.pair for mark in marks])
    levels: list[list[MarkNode]] = [[]]
    for index, mark in enumerate(marks):
        partner = partners.get(index)
        if partner is None:
            levels[-1].append(MarkNode(index, index, mark.start, mark.end))
        elif partner > index:
            levels.append([])
        else:
            inside = levels.pop()
            levels[-1].append(MarkNode(partner, index, marks[partner].start, mark.start, inside))
    return levels[0]
