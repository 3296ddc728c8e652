"""Rows of links, such as menus, in which each link is a text of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from nmt_cli.documents.marks.items import InlineItem


class LinkRow(NamedTuple):
    """The ranges of the links in a row, and whether there is text outside them."""

    edges: list[int]
    has_text_outside: bool


def split_links(items: list[InlineItem]) -> list[list[InlineItem]]:
    """Splits a row of links, such as a menu, into its links; other lines stay whole."""
    row = find_link_row(items)
    if len(row.edges) < 4 or row.has_text_outside:
        return [items]
    return [items[start:end] for start, end in pairwise((0, *row.edges, len(items))) if start < end]


def find_link_row(items: list[InlineItem]) -> LinkRow:
    """Returns the adjacent links of a line."""
    edges: list[int] = []
    inside = outside = False
    for index, item in enumerate(items):
        if item.name == "a" and item.kind in ("open", "close"):
            inside = item.kind == "open"
            edges.append(index if inside else index + 1)
        elif not inside and item.kind in ("text", "code"):
            outside = outside or item.kind == "code" or any(map(str.isalnum, item.text))
        elif not inside and item.kind in ("open", "close"):
            outside = outside or bool(edges)  # marks around links: not a plain row
    return LinkRow(edges, outside)
