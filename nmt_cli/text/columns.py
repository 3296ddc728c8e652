"""Columns of a table, named by the user by name or number. Knows no file format."""

from __future__ import annotations

from nmt_cli.errors import DataError, find_nearest


def find_column(column: str | None, header: list[str] | None, default: int, where: str) -> int:
    """The column, counted from 0, of a name in `header` or a number counted from 1; `default` when none is given.

    Raises DataError for a name that the header has not, naming the nearest.
    """
    if column is None:
        return default
    names = [name.strip() for name in header or ()]
    if column in names:
        return names.index(column)
    if column.isascii() and column.isdigit() and 0 < int(column[:9]) < 10_000:
        return int(column) - 1
    like = find_nearest(column, names)
    known = f"the columns are {', '.join(names[:20])}" if names else "columns are counted from 1"
    raise DataError(f"{where}: there is no column {column!r}", hint=f"did you mean {like!r}?" if like else known)


def is_name(column: str | None) -> bool:
    """Whether a column is given by name, so that the first line must be a header."""
    return column is not None and not (column.isascii() and column.isdigit())
