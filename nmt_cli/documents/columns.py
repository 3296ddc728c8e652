"""What tables have in common: the column of the text, the name of the new column, and line ends.

Columns have the names in the first line, or numbers from 1 if the first line is not a header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.columns import find_column, is_name
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

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
    return check_column_name(source, name, existing, "--new-column")


def check_column_name(source: DocumentSource, name: str, existing: Sequence[str], option: str) -> str:
    """Returns the name of a column that an option asks for. Raises what `name_new_column` raises."""
    if re.search(r"[\t\r\n]", name):
        raise OptionError(f"{option} cannot be {name!r}", hint="use a name without tabs and line ends")
    if name in existing:
        raise DataError(f"{source.name}: the column {name!r} already exists", hint=f"choose another name with {option}")
    return name


class AddedColumn(NamedTuple):
    """A column that is added to a table, and what it says of a translation."""

    name: str
    format: Callable[[Translation], str]


def list_added_columns(source: DocumentSource, existing: Sequence[str]) -> list[AddedColumn]:
    """Returns the columns that are added: the translations, what is wrong with them, and the confidence in them.

    Raises what `name_new_column` raises.
    """
    columns = [AddedColumn(name_new_column(source, existing), get_text)]
    if source.config.qa_column is not None:
        names = [*existing, columns[0].name]
        columns.append(
            AddedColumn(check_column_name(source, source.config.qa_column, names, "--qa-column"), join_messages)
        )
    if source.config.confidence:
        names = [*existing, *(added.name for added in columns)]
        name = check_column_name(source, f"{columns[0].name}_confidence", names, "--new-column")
        columns.append(AddedColumn(name, format_confidence))
    return columns


def format_confidence(translation: Translation) -> str:
    return "" if translation.confidence is None else f"{translation.confidence:.4f}"


def get_text(translation: Translation) -> str:
    return translation.text


def join_messages(translation: Translation) -> str:
    """Returns what is wrong with a translation on one line; empty if it fails no check."""
    return format_cell(" ".join("; ".join(check.message for check in translation.checks).split()))


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
    """Returns the text of a cell, which may have several lines.

    Drops surrogates, which JSON can escape but UTF-8 cannot encode.
    """
    return SURROGATES.sub("", text)
