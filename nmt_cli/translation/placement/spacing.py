"""Sets the blanks around spans put into a translation: as in the source, where the target allows them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import OPENING
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.marks import Mark, PlacedMark
from nmt_cli.translation.placement.traced_text import TextRange
from nmt_cli.translation.placement.units import Unit
from nmt_cli.translation.result import Placed


class RestoredText(NamedTuple):
    """A translation with its protected spans."""

    text: str
    placed: tuple[Placed, ...] = ()  # in the order of the source, masked before extracted
    units: tuple[Unit, ...] = ()  # of the hypothesis, with masked spans in place of their placeholders
    words: tuple[int, ...] = ()  # the index of the word in which each unit begins


class PlacedItem(NamedTuple):
    """A span to put into a translation, and the blanks beside it in the source."""

    span: Span
    mark: Mark
    blank_before: bool
    blank_after: bool


def join_units(units: Sequence[Unit]) -> tuple[str, list[TextRange]]:
    """Returns the text of `units`, and the range of each in it."""
    text = ""
    ranges = []
    for index, unit in enumerate(units):
        text += " " if unit.blank_before and index else ""
        ranges.append(TextRange(len(text), len(text) + len(unit.text)))
        text += unit.text
    return text, ranges


def assemble_text(
    units: Sequence[Unit], ranges: Sequence[TextRange], items: Sequence[PlacedItem], placed: Sequence[PlacedMark]
) -> RestoredText:
    """Returns the text of `units` with the items at the `placed` positions of their marks."""
    waiting = deque(list_positions(placed))
    parts = cut_units(units, ranges, [position for position, _ in waiting])
    text, words = "", []
    for left, (start, right) in zip((None, *(part for _, part in parts)), parts, strict=False):
        gap = []
        while waiting and waiting[0][0] <= start:
            gap.append(items[waiting.popleft()[1]])
        text += join_items(left, gap, right)
        text += "" if is_doubled_stop(left, gap, right) else right.text
        words.append(len(text.split()) - len(right.text.split()))
    text += join_items(parts[-1][1] if parts else None, [items[number] for _, number in waiting], None)
    return RestoredText(text, (), tuple(part for _, part in parts), tuple(words))


def cut_units(units: Sequence[Unit], ranges: Sequence[TextRange], positions: Sequence[int]) -> list[tuple[int, Unit]]:
    """Returns the units with their positions, splitting those with a mark inside."""
    parts = []
    for unit, (start, end) in zip(units, ranges, strict=True):
        inner = {position for position in positions if start < position < end and unit.masked_span is None}
        bounds = [start, *sorted(inner), end]
        for first, last in pairwise(bounds):
            text, blank = unit.text[first - start : last - start], unit.blank_before and first == start
            parts.append((first, unit._replace(text=text, blank_before=blank)))
    return parts


def list_positions(placed: Sequence[PlacedMark]) -> Iterator[tuple[int, int]]:
    """Yields the position and number of each mark, in order."""
    for node, (start, end, _), inside in placed:
        yield start, node.first
        yield from list_positions(inside)
        if node.last > node.first:
            yield end, node.last


def is_doubled_stop(left: Unit | None, items: Sequence[PlacedItem], right: Unit) -> bool:
    """Whether a full stop follows a masked span's own, such as an ordinal's: one serves both."""
    is_masked = left is not None and left.masked_span is not None and left.text.endswith(".")
    return is_masked and not items and right.text == "."


def join_items(left: Unit | None, items: Sequence[PlacedItem], right: Unit | None) -> str:
    """Returns the text between two units: the items of the gap, with blanks."""
    blank = left is not None and right is not None and right.blank_before
    if not items:
        return " " if blank else ""
    inner = [is_apart(item, other) for item, other in pairwise(items)]
    before = left is not None and needs_left_blank(left, items[0])
    after = right is not None and needs_right_blank(items[-1], right, blank)
    separators = [before, *inner, after]
    if blank and not any(separators) and not any(map(replaces_blank, items)):
        # The blank between the units must stay: before the first opening tag, else after all items.
        opening = next((i for i, item in enumerate(items) if item.span.pair and not item.span.pair.closes), len(items))
        separators[opening] = True
    text = "".join((" " if space else "") + item.span.text for space, item in zip(separators, items, strict=False))
    return text + (" " if separators[-1] else "")


def replaces_blank(item: PlacedItem) -> bool:
    """Whether an item needs no blank beside it."""
    return item.span.is_blank or item.span.kind is SpanKind.SLASH


def is_apart(item: PlacedItem, other: PlacedItem) -> bool:
    """Whether a blank separates two items."""
    are_words = not item.span.is_markup and not other.span.is_markup
    return are_words or (item.blank_after and other.blank_before)


def needs_left_blank(left: Unit, item: PlacedItem) -> bool:
    """Whether a blank separates a unit from the item after it."""
    if not item.span.is_markup and left.is_word:
        return True
    return item.blank_before and left.text not in OPENING and not find_unspaced(left.text)


def is_closing_mark(span: Span) -> bool:
    """Whether a span is the second mark of a pair such as *very* or (so)."""
    return (
        span.kind in (SpanKind.EMPHASIS, SpanKind.BRACKET, SpanKind.QUOTE)
        and span.pair is not None
        and span.pair.closes
    )


def needs_right_blank(item: PlacedItem, right: Unit, blank: bool) -> bool:
    """Whether a blank separates an item from the unit after it, which had a `blank` before it or not."""
    if right.is_word and (not item.span.is_markup or (is_closing_mark(item.span) and blank)):
        return True
    return item.blank_after and (blank or right.is_word)
