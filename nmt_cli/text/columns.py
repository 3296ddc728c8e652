"""Columns of a table, named by the user by heading or by number. Knows no file format."""

from __future__ import annotations

import re

from nmt_cli.errors import DataError, find_nearest
from nmt_cli.text.wrapping import shorten_text

LONGEST_NAME = 40  # characters of a heading, as it is shown
SEPARATOR = re.compile(r'"?sep=(.)"?\s*')  # the first line by which Excel is told the delimiter of a table


def find_column(column: str | None, header: list[str] | None, default: int, where: str) -> int:
    """Returns the 0-based index of a column, given by its name in `header` or by its number, counted from 1.

    Without a `column`, returns `default`. Raises DataError for a name missing from the header; the hint names the
    nearest one. `where` names the input in the error.
    """
    if column is None:
        return default
    names = [name.strip() for name in header or ()]
    if column in names:
        return names.index(column)
    if column.isascii() and column.isdigit() and len(column) < 9 and 0 < int(column) < 10_000:
        return int(column) - 1
    nearest = find_nearest(column, names)
    shown = ", ".join(shorten_text(name, LONGEST_NAME) for name in names[:20])
    known = f"the columns are {shown}" if names else "columns are counted from 1"
    raise DataError(f"{where}: there is no column {column!r}", hint=f"did you mean {nearest!r}?" if nearest else known)


def is_name(column: str | None) -> bool:
    """Whether a column is given by name, so that the first line must be a header."""
    return column is not None and not (column.isascii() and column.isdigit())
