"""What tables have in common: the column of the text, the name of the new column, and line ends.

Columns have the names in the first line, or numbers from 1 if the first line is not a header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NoReturn

from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.columns import find_column, is_name
from nmt_cli.text.wrapping import format_count

LINE_BREAKS = re.compile(r"[\r\n]+")
SURROGATES = re.compile("[\ud800-\udfff]")
SHORT_ROW = "every row needs that column, even if it is empty; blank lines are fine"


def require_column(source: DocumentSource) -> str:
    """Returns the column named by `--column`. Raises OptionError if none is."""
    if source.config.column is None:
        raise OptionError(
            f"--column is needed: which column of {source.name} should be translated?",
            hint="give its name or number; with --format text, each line is translated as a whole",
        )
    return source.config.column


def has_header(source: DocumentSource) -> bool:
    """Whether the first line is a header: it is if `--column` is a name, not a number."""
    return is_name(source.config.column)


def find_column_index(source: DocumentSource, first: Sequence[str]) -> int:
    """Returns the index of the column of the text, from 0, in a table whose first line is `first`.

    Raises DataError if there is no such column, and OptionError for `--new-column` in a table without a header.
    """
    if source.config.new_column is not None and not has_header(source):
        raise OptionError(
            "--new-column needs a header, but --column is a number, which means that there is none", hint="leave it out"
        )
    names = list(first) if has_header(source) else None  # without a header, a cell that reads "1" is not a name
    return find_column(require_column(source), names, 0, source.name)


def name_new_column(source: DocumentSource, existing: Sequence[str]) -> str:
    """Returns the name of the column that is added.

    Raises DataError if a column of that name exists, and OptionError for a name with a tab or a line end.
    """
    name = source.config.new_column or f"{source.config.column}_{source.target_language}"
    if re.search(r"[\t\r\n]", source.config.new_column or ""):
        raise OptionError(f"--new-column cannot be {name!r}", hint="use a name without tabs and line ends")
    if name in existing:
        raise DataError(
            f"{source.name}: the column {name!r} already exists", hint="choose another name with --new-column"
        )
    return name


def refuse_short_row(source: DocumentSource, line: int, count: int, column: int) -> NoReturn:
    """Raises DataError for a row of `count` fields that has no field for the text, whose `column` is counted from 0."""
    columns = format_count(count, "column")
    source.refuse(line, f"{columns}; there is no column {column + 1}", SHORT_ROW)


def count_missing_fields(fields: Sequence[str], width: int, notes: Counter[str]) -> int:
    """Returns how many empty fields a row needs for its translation to be in the new column; notes uneven rows."""
    if len(fields) > width:
        notes["rows longer than the first, whose translations are further right"] += 1
    if len(fields) < width:
        notes["rows shorter than the first, which were padded with empty columns"] += 1
    return max(0, width - len(fields))


def split_line_end(line: str) -> tuple[str, str]:
    """Returns a line without its end, and its end: LF, CR LF or nothing."""
    body = line.removesuffix("\n")
    body = body.removesuffix("\r") if len(body) < len(line) else body
    return body, line[len(body) :]


def format_cell(text: str) -> str:
    """Returns the text on one line. Other blanks are kept, since protected spans may contain them.

    Drops surrogates, which JSON can escape but UTF-8 cannot encode.
    """
    return SURROGATES.sub("", LINE_BREAKS.sub(" ", text))
