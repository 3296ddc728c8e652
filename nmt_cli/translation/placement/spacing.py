"""Sets the blanks around spans that are put into a translation: as in the source, where the target allows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import OPENING
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.gaps import GapChooser, fill_gaps
from nmt_cli.translation.placement.tag_tree import Node, PlacedItem
from nmt_cli.translation.placement.units import Unit


def assemble_text(
    units: Sequence[Unit], nodes: Sequence[Node], width: int, *, flat: bool
) -> tuple[str, tuple[int, ...]]:
    """Returns the text of `units` with the items of `nodes` in their gaps, and the index of the word of each unit.

    `width` is the number of source positions, without the end.
    """
    gaps: list[list[PlacedItem]] = [[] for _ in range(len(units) + 1)]
    fill_gaps(gaps, GapChooser(units, width, flat), nodes, 0, len(units), (0, width))
    text, words = "", []
    for left, items, right in zip((None, *units), gaps, (*units, None), strict=True):
        text += join_items(left, items, right)
        if right is not None:
            text += "" if is_doubled_stop(left, items, right) else right.text
            words.append(len(text.split()) - len(right.text.split()))
    return text, tuple(words)


def is_doubled_stop(left: Unit | None, items: Sequence[PlacedItem], right: Unit) -> bool:
    """Whether a full stop follows that of a masked span, such as an ordinal: one stands for both."""
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
    """Whether no blank is needed where an item stands."""
    return item.span.is_blank or item.span.kind is SpanKind.SLASH


def is_apart(item: PlacedItem, other: PlacedItem) -> bool:
    """Whether a blank stands between two items."""
    are_words = not item.span.is_markup and not other.span.is_markup
    return are_words or (item.blank_after and other.blank_before)


def needs_left_blank(left: Unit, item: PlacedItem) -> bool:
    """Whether a blank stands between a unit and the item after it."""
    if not item.span.is_markup and left.is_word:
        return True
    return item.blank_before and left.text not in OPENING and not find_unspaced(left.text)


def is_closing_mark(span: Span) -> bool:
    """Whether a span is the second mark of a pair such as *very* or (so)."""
    return span.kind in (SpanKind.EMPHASIS, SpanKind.BRACKET) and span.pair is not None and span.pair.closes


def needs_right_blank(item: PlacedItem, right: Unit, blank: bool) -> bool:
    """Whether a blank stands between an item and the unit after it, which had a `blank` before it or not."""
    if right.is_word and (not item.span.is_markup or (is_closing_mark(item.span) and blank)):
        return True
    return item.blank_after and (blank or right.is_word)
