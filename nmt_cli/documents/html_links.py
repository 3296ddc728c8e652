"""Rows of links, such as menus, in which each link is a text of its own."""

from __future__ import annotations

from itertools import pairwise

from nmt_cli.documents.marks.items import InlineItem


def split_links(items: list[InlineItem]) -> list[list[InlineItem]]:
    """Splits a row of links, such as a menu, into its links; other lines stay whole."""
    edges: list[int] = []  # where links begin and end
    inside = False
    for index, item in enumerate(items):
        if item.name == "a" and item.kind in ("open", "close"):
            inside = item.kind == "open"
            edges.append(index if inside else index + 1)
        elif not inside and (parts_row(item) or (edges and item.kind in ("open", "close"))):
            return [items]
    if len(edges) < 4:
        return [items]
    return [items[start:end] for start, end in pairwise((0, *edges, len(items))) if start < end]


def parts_row(item: InlineItem) -> bool:
    """Whether an item outside of links is text for readers."""
    return item.kind == "code" or (item.kind == "text" and any(map(str.isalnum, item.text)))
