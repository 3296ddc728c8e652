"""Spans that are to be put into a text, and which of them enclose others: tags in pairs. Knows no places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nmt_cli.text.spans import Span

DEEPEST = 100  # pairs of tags inside each other; one that is deeper counts as two tags alone


class PlacedItem(NamedTuple):
    """A span to be put in a gap. It stood before source position `end` and behind the one before `start`."""

    span: Span
    start: int
    end: int  # the same as `start` but for a carried span, whose placeholder stands between them
    blank_before: bool
    blank_after: bool
    order: int
    behind_mark: bool = False  # whether a mark, no word, stood before it


class Node(NamedTuple):
    """An item alone, or two tags and what is between them."""

    first: PlacedItem
    last: PlacedItem | None = None
    inside: tuple[Node, ...] = ()


def build_tree(items: Sequence[PlacedItem]) -> list[Node]:
    """Pairs of tags as nodes around what they enclose; a tag without its other half stands alone."""
    levels: list[tuple[PlacedItem | None, list[Node]]] = [(None, [])]
    for item in items:
        tag = item.span.tag
        if tag is None:
            levels[-1][1].append(Node(item))
        elif not tag.closes and len(levels) > DEEPEST:
            levels[-1][1].append(Node(item))
        elif not tag.closes:
            levels.append((item, []))
        else:
            close(levels, item)
    while len(levels) > 1:
        close_level(levels)
    return levels[0][1]


def close(levels: list[tuple[PlacedItem | None, list[Node]]], item: PlacedItem) -> None:
    """Makes a node of the innermost open tag of this name, or of `item` alone."""
    names = [opening.span.tag.name if opening and opening.span.tag else None for opening, _ in levels]
    name = item.span.tag.name if item.span.tag else None
    while name in names and names.pop() != name:
        close_level(levels)
    opening, inside = levels[-1]
    if opening is None or name not in (opening.span.tag or ()):
        inside.append(Node(item))
        return
    levels.pop()
    levels[-1][1].append(Node(opening, item, tuple(inside)))


def close_level(levels: list[tuple[PlacedItem | None, list[Node]]]) -> None:
    """The innermost open tag has no other half: it and what follows it belong to the level around."""
    opening, inside = levels.pop()
    if opening is not None:
        levels[-1][1].append(Node(opening))
    levels[-1][1].extend(inside)
