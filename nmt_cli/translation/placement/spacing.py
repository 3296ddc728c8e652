"""Blanks around spans that are put into a translation: as in the source where the target allows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nmt_cli.text.normalise import find_unspaced
from nmt_cli.translation.placement.gaps import GapChooser, fill_gaps
from nmt_cli.translation.placement.slots import OPENING
from nmt_cli.translation.placement.units import Unit
from nmt_cli.translation.tag_tree import Node, PlacedItem


def assemble_text(
    units: Sequence[Unit], nodes: Sequence[Node], width: int, *, flat: bool
) -> tuple[str, tuple[int, ...]]:
    """The text of `units` with the items of `nodes` in their gaps, and the number of the first word of each unit.

    `width` is the source's without its end.
    """
    gaps: list[list[PlacedItem]] = [[] for _ in range(len(units) + 1)]
    fill_gaps(gaps, GapChooser(units, width, flat), nodes, 0, len(units), (0, width))
    text, words = "", []
    for left, items, right in zip((None, *units), gaps, (*units, None), strict=True):
        text += join_items(left, items, right)
        if right is not None:
            text += right.text
            words.append(len(text.split()) - len(right.text.split()))
    return text, tuple(words)


def join_items(left: Unit | None, items: Sequence[PlacedItem], right: Unit | None) -> str:
    """What stands between two units: the items of the gap, with blanks as in the source where the target allows."""
    blank = left is not None and right is not None and right.blank_before
    if not items:
        return " " if blank else ""
    inner = [is_apart(item, other) for item, other in pairwise(items)]
    before = left is not None and wants_left(left, items[0])
    after = right is not None and wants_right(items[-1], right, blank)
    separators = [before, *inner, after]
    if blank and not any(separators):
        opening = next((i for i, item in enumerate(items) if item.span.tag and not item.span.tag.closes), len(items))
        separators[opening] = True
    text = "".join((" " if space else "") + item.span.text for space, item in zip(separators, items, strict=False))
    return text + (" " if separators[-1] else "")


def is_apart(item: PlacedItem, other: PlacedItem) -> bool:
    both_words = not item.span.markup and not other.span.markup
    return both_words or (item.blank_after and other.blank_before)


def wants_left(left: Unit, item: PlacedItem) -> bool:
    if not item.span.markup and left.is_word:
        return True
    return item.blank_before and left.text not in OPENING and not find_unspaced(left.text)


def wants_right(item: PlacedItem, right: Unit, blank: bool) -> bool:
    if not item.span.markup and right.is_word:
        return True
    return item.blank_after and (blank or right.is_word)
