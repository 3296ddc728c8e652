"""Places the marks of a paragraph in its translation.

1. `character_map` says which source character each character of the translation stands for.
2. A pair of tags goes around the densest run of words that come from its own; a point goes behind the character before
   it (or before the one after it); code goes to where its name stands.
3. Pairs inside a pair are placed in the same way, within its run; two that would overlap follow each other.
4. In formats whose text stands in runs, each character takes the run of its source character.

Each tag and point is written exactly once; runs may be repeated. Must not know any format.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from nmt_cli.documents.marks.items import InlineNode, ParagraphSegment, Wrapper
from nmt_cli.documents.marks.mapped_text import MappedText
from nmt_cli.translation.placement.tracing import UNALIGNED

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

Wrappers = tuple[Wrapper, ...]


class InlineOutput:
    """Collects what is written of a paragraph; opens and closes the wrappers of its text."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        self.escape = escape
        self.parts: list[str] = []
        self.open: list[tuple[Wrapper, int]] = []  # with the index of its `before` among the parts
        self.text = ""  # of the innermost wrapper
        self.last_character = ""
        self.wants_blank = False
        self.text_wrappers: Wrappers = ()  # of the last text

    def enter(self, wrappers: Wrappers) -> None:
        """Closes and opens wrappers, so that exactly these are open."""
        shared = 0
        while shared < min(len(self.open), len(wrappers)) and self.open[shared][0] is wrappers[shared]:
            shared += 1
        while len(self.open) > shared:
            self.close_wrapper()
        for wrapper in wrappers[shared:]:
            self.open.append((wrapper, len(self.parts)))
            self.parts.append(wrapper.before)
            self.text = ""

    def close_wrapper(self) -> None:
        wrapper, index = self.open.pop()
        edges = ((self.text[:1], wrapper.text[:1]), (self.text[-1:], wrapper.text[-1:]))
        is_spaced = any(new.isspace() and not old.isspace() for new, old in edges)
        if wrapper.spaced_before and is_spaced:
            self.parts[index] = wrapper.spaced_before
        self.parts.append(wrapper.after)
        self.text = ""

    def write_text(self, text: str, raw: str, wrappers: Wrappers) -> None:
        """Writes `text`, spelled `raw`; with a blank before it, if one is wanted and missing."""
        if self.wants_blank and not text[0].isspace():
            text, raw = f" {text}", f" {raw}"
        self.enter(wrappers)
        self.parts.append(raw)
        self.text += text
        self.last_character, self.wants_blank, self.text_wrappers = text[-1], False, wrappers

    def write_raw(self, raw: str, wrappers: Wrappers) -> None:
        self.enter(wrappers)
        self.parts.append(raw)

    def add_blank(self) -> None:
        """Writes a blank, unless the text ends with one, or has not begun."""
        if self.last_character and not self.last_character.isspace():
            self.write_text(" ", " ", self.text_wrappers)

    def finish(self) -> str:
        self.enter(())
        return "".join(self.parts)


def write_segment(
    segment: ParagraphSegment,
    translation: Translation | None,
    rendered: Sequence[str],
    output: InlineOutput,
    needs_text: frozenset[str],
) -> int:
    """Writes a segment with its translation, and returns how many positions of marks are guesses.

    `rendered` are its items, as they are written. Without a translation, the items are written as they stand.
    """
    output.last_character, output.wants_blank = "", False
    if translation is None:
        for item, raw in zip(segment.items, rendered, strict=True):
            output.write_raw(raw, item.wrappers)
        return 0
    writer = SegmentWriter(segment, MappedText.from_translation(segment, translation), rendered, output, needs_text)
    writer.write_nodes(segment.pair_tags(), 0, len(writer.target.text))
    return writer.guessed


@dataclass
class SegmentWriter:
    """Writes a translated segment."""

    segment: ParagraphSegment
    target: MappedText
    rendered: Sequence[str]
    output: InlineOutput
    needs_text: frozenset[str]
    guessed: int = 0
    cut: tuple[int, int] = (0, 0)  # the last one

    def write_nodes(self, nodes: Sequence[InlineNode], low: int, high: int) -> None:
        """Writes the characters [low, high) with these nodes in them."""
        ranges = [self.find_range(node, low, high) for node in nodes]
        ranges = list(self.order_ranges(nodes, ranges))
        cursor = low
        for (start, end), node in sorted(zip(ranges, nodes, strict=True), key=lambda pair: pair[0][0]):
            start = min(max(start, cursor), high)
            end = min(max(end, start), high)
            self.write_characters(cursor, start)
            self.write_node(node, start, end)
            cursor = end
        self.write_characters(cursor, high)

    def order_ranges(self, nodes: Sequence[InlineNode], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yields the ranges, with the points that keep their order moved behind each other."""
        last = 0
        for node, (start, end) in zip(nodes, ranges, strict=True):
            item = self.segment.items[node.first]
            if node.first == node.last and (item.keeps_order or item.kind in ("open", "close")):
                last = start = max(start, last)
            yield start, max(start, end)

    def find_range(self, node: InlineNode, low: int, high: int) -> tuple[int, int]:
        """Returns the characters [start, end) that a node goes around."""
        if self.segment.items[node.first].kind == "cut":
            self.cut = self.target.find_cut(node.start, self.cut[1])
            return self.cut
        if self.segment.items[node.first].kind == "code":
            positions = self.target.list_targets(node.start, node.end)
            if len(positions) == node.end - node.start:
                return positions[0], positions[-1] + 1
            self.guessed += 1
        elif node.end > node.start:
            found_range = self.target.find_range(node.start, node.end)
            if found_range is not None:
                return found_range
            return self.guess_range(node, low, high)
        position, is_guess = self.target.find_position(node.start)
        self.guessed += is_guess
        return position, position

    def guess_range(self, node: InlineNode, low: int, high: int) -> tuple[int, int]:
        """Returns the word at the position of a pair whose words nothing comes from; a pair of blanks has no word."""
        position, _ = self.target.find_position(node.start)
        if not self.target.source[node.start : node.end].strip():
            return position, position
        self.guessed += 1
        words = [word for word in self.target.words if word.start >= max(position, low) and word.end <= high]
        return words[0] if words else (position, position)

    def write_node(self, node: InlineNode, start: int, end: int) -> None:
        item = self.segment.items[node.first]
        if node.first == node.last or node.start == node.end:
            self.write_point(node, is_exact=end > start)
            return
        source = self.target.source
        is_lost = start == end and item.name in self.needs_text and bool(source[node.start : node.end].strip())
        if is_lost and source[: node.start][-1:].isspace():
            self.output.add_blank()
        self.write_items(node.first, node.first)
        if is_lost:
            self.guessed += 1
            self.write_source(node)
        else:
            self.write_nodes(node.inside, start, end)
        self.write_items(node.last, node.last)

    def write_point(self, node: InlineNode, *, is_exact: bool) -> None:
        """Writes a point, code or a pair around nothing, between blanks where it stands between blanks in the source.

        Code whose name stands in the translation (`is_exact`) has the blanks that it has there.
        """
        source, is_code = self.target.source, node.end > node.start
        has_before = source[: node.start][-1:].isspace()
        has_after = source[node.end : node.end + 1].isspace()
        if has_before and (has_after or is_code) and not is_exact:
            self.output.add_blank()
        self.write_items(node.first, node.last)
        if is_code:
            self.output.last_character = "}"
        self.output.wants_blank = has_after and (has_before or is_code) and not is_exact

    def write_items(self, first: int, last: int) -> None:
        """Writes the items from `first` to `last` as they are."""
        for index in range(first, last + 1):
            self.output.write_raw(self.rendered[index], self.segment.items[index].wrappers)

    def write_source(self, node: InlineNode) -> None:
        """Writes what a pair encloses as it stands in the source."""
        self.write_items(node.first + 1, node.last - 1)
        self.output.last_character = self.target.source[node.end - 1]
        self.output.wants_blank = self.target.source[node.end : node.end + 1].isspace()

    def write_characters(self, start: int, end: int) -> None:
        """Writes characters of the translation, each in the wrappers of its source."""
        positions = [index for index in range(start, end) if index not in self.target.dropped]
        for wrappers, group in groupby(positions, lambda index: self.wrappers[index]):
            indices = list(group)
            text = "".join(self.target.text[index] for index in indices)
            self.output.write_text(text, self.spell(text, indices, wrappers), wrappers)

    def spell(self, text: str, indices: Sequence[int], wrappers: Wrappers) -> str:
        """Returns characters of the translation as they are written."""
        escape = (wrappers[-1].escape if wrappers else None) or self.output.escape
        if not self.spellings:
            return escape(text)
        spelled = [self.spell_as_source(character, index) for character, index in zip(text, indices, strict=True)]
        parts: list[str] = []
        for is_own, group in groupby(zip(text, spelled, strict=True), lambda pair: pair[1] is None):
            pairs = list(group)
            parts += [escape("".join(c for c, _ in pairs))] if is_own else [written or "" for _, written in pairs]
        return "".join(parts)

    def spell_as_source(self, character: str, index: int) -> str | None:
        """Returns a character as the source spells the equal one that it comes from; None if in no special way."""
        source = self.target.sources[index]
        is_same = source in self.spellings and self.target.source[source] == character
        return self.spellings[source] if is_same else None

    @cached_property
    def spellings(self) -> dict[int, str]:
        return self.segment.spellings

    @cached_property
    def wrappers(self) -> list[Wrappers]:
        """The wrappers of each character of the translation."""
        texts = [index for index, item in enumerate(self.segment.items) if item.text]
        if not any(self.segment.items[index].wrappers for index in texts):
            return [()] * len(self.target.text)
        starts = [self.segment.starts[index] for index in texts]
        numbers = [
            None if source == UNALIGNED else texts[max(0, bisect_right(starts, source) - 1)]
            for source in self.target.sources
        ]
        return [self.segment.items[number].wrappers for number in self.fill_numbers(numbers)]

    def fill_numbers(self, numbers: Sequence[int | None]) -> list[int]:
        """Returns the items of all characters; one without a source takes the longer of those of its neighbours."""
        known = [number for number in numbers if number is not None]
        previous = known[0] if known else next(i for i, item in enumerate(self.segment.items) if item.text)
        before: list[int] = []
        for number in numbers:
            previous = previous if number is None else number
            before.append(previous)
        following = before[-1] if before else previous
        result: list[int] = []
        for number, left in zip(reversed(numbers), reversed(before), strict=True):
            following = following if number is None else number
            longer = max(left, following, key=lambda index: len(self.segment.items[index].text))
            result.append(longer if number is None else number)
        return result[::-1]
