"""Tables that a notebook shows for a value, by its `_repr_html_`. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def render_rows(rows: Iterable[Sequence[str]]) -> str:
    """Returns a table; the first cell of a row is its heading."""
    from html import escape  # which only a notebook needs

    lines = (
        f"<tr><th>{escape(heading)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for heading, *cells in rows
    )
    return f"<table>{''.join(lines)}</table>"
