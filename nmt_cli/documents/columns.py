"""What tables have in common: which column holds the text, what the new column is called, and the end of a line.

Columns are named by the first line, or counted from 1 where there is no such line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.columns import find_column, is_name

LINE_BREAKS = re.compile(r"[\r\n]+")
SURROGATES = re.compile("[\ud800-\udfff]")
SHORT_ROW = "every row needs that column, if only an empty one; blank lines may stay"


def require_column(source: DocumentSource) -> str:
    """The column that was asked for. Raises OptionError where none was."""
    if source.config.column is None:
        raise OptionError(
            f"--column is needed: which column of {source.name} is to be translated?",
            hint="name it, or give its number; with --format text every line is translated as a whole",
        )
    return source.config.column


def has_header(source: DocumentSource) -> bool:
    """Whether the first line names the columns: if the one that was asked for is not a number."""
    return is_name(source.config.column)


def find_column_index(source: DocumentSource, first: Sequence[str]) -> int:
    """The column of the text, from 0, in a table whose first line is `first`.

    Raises DataError for one it has not, and OptionError for a new name in a table without names.
    """
    if source.config.new_column is not None and not has_header(source):
        raise OptionError(
            "--new-column names a column, and --column is a number: a table without names", hint="leave it out"
        )
    names = list(first) if has_header(source) else None  # a cell that reads "1" is no name
    return find_column(require_column(source), names, 0, source.name)


def name_new_column(source: DocumentSource, existing: Sequence[str]) -> str:
    """The name of the column that is added.

    Raises DataError where there is one of that name already, and OptionError for a name of several cells or lines.
    """
    name = source.config.new_column or f"{source.config.column}_{source.target_language}"
    if re.search(r"[\t\r\n]", source.config.new_column or ""):
        raise OptionError(f"--new-column cannot be {name!r}", hint="leave out what ends a cell or a line")
    if name in existing:
        raise DataError(
            f"{source.name} has a column {name!r} already", hint="give the translations another with --new-column"
        )
    return name


def missing(fields: Sequence[str], width: int, notes: Counter[str]) -> int:
    """How many empty fields a row needs, so that the translation comes into its own column; told in `notes`."""
    if len(fields) > width:
        notes["rows longer than the first, whose translations stand further right"] += 1
    if len(fields) < width:
        notes["rows shorter than the first, which were given empty columns"] += 1
    return max(0, width - len(fields))


def split_line_end(line: str) -> tuple[str, str]:
    """A line and the end of a line that it has."""
    body = line.removesuffix("\n")
    body = body.removesuffix("\r") if len(body) < len(line) else body
    return body, line[len(body) :]


def format_cell(text: str) -> str:
    """`text` as it stands in a cell: of several lines, one. Other blanks stay: what is protected may hold them.

    Without halves of characters, which JSON can name and no file can hold.
    """
    return SURROGATES.sub("", LINE_BREAKS.sub(" ", text))
