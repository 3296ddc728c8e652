"""Builds the tree of spans that are to be put into a text: pairs of tags enclose other spans. Knows no gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nmt_cli.carrying.spans import Span

DEEPEST_LEVEL = 100  # maximum depth of nested pairs of tags; a deeper pair counts as two single tags


class PlacedItem(NamedTuple):
    """A span to be put in a gap. In the source it stood between position `start` - 1 and position `end`."""

    span: Span
    start: int
    end: int  # the same as `start`, but for a masked span, whose placeholder is the position between them
    blank_before: bool
    blank_after: bool
    order: int  # among spans at the same position
    after_mark: bool = False  # whether a mark, not a word, stood before it


class Node(NamedTuple):
    """A single item, or a pair of tags and the nodes between them."""

    first: PlacedItem
    last: PlacedItem | None = None
    inside: tuple[Node, ...] = ()


def build_tree(items: Sequence[PlacedItem]) -> list[Node]:
    """Returns the top-level nodes: a pair of tags encloses what is between them; a tag without a partner is single."""
    levels: list[tuple[PlacedItem | None, list[Node]]] = [(None, [])]
    for item in items:
        tag = item.span.pair
        if tag is None:
            levels[-1][1].append(Node(item))
        elif not tag.closes and len(levels) > DEEPEST_LEVEL:
            levels[-1][1].append(Node(item))
        elif not tag.closes:
            levels.append((item, []))
        else:
            close_tag(levels, item)
    while len(levels) > 1:
        close_level(levels)
    return levels[0][1]


def close_tag(levels: list[tuple[PlacedItem | None, list[Node]]], item: PlacedItem) -> None:
    """Makes a node of a closing tag and the innermost open tag of its name; without one, of the closing tag alone."""
    names = [opening.span.pair.name if opening and opening.span.pair else None for opening, _ in levels]
    name = item.span.pair.name if item.span.pair else None
    while name in names and names.pop() != name:
        close_level(levels)
    opening, inside = levels[-1]
    if opening is None or name not in (opening.span.pair or ()):
        inside.append(Node(item))
        return
    levels.pop()
    levels[-1][1].append(Node(opening, item, tuple(inside)))


def close_level(levels: list[tuple[PlacedItem | None, list[Node]]]) -> None:
    """Closes the innermost level, whose tag has no partner: moves that tag and what follows it one level up."""
    opening, inside = levels.pop()
    if opening is not None:
        levels[-1][1].append(Node(opening))
    levels[-1][1].extend(inside)
