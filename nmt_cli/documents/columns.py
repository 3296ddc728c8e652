"""Chooses the columns of tables and spreadsheets, names new columns, and sorts rows by confidence."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import NamedTuple

from nmt_cli.documents.document import Document, DocumentSource, Location, TornText, TranslationUnit
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats.sniffing import find_column, is_name, list_columns
from nmt_cli.languages.codes import are_same_languages, find_languages_in_name
from nmt_cli.text.wrapping import replace_surrogates
from nmt_cli.translation.checks.table import COMPARISONS, OF_FACTS
from nmt_cli.translation.checks.words import CheckContext
from nmt_cli.translation.result import Translation

# Shared by all tables: the columns of the texts, the names of the new columns, and line ends.
#
# Columns are named in the first line, or numbered from 1 if the first line is not a header.


KEPT_CELLS = "existing translations that were kept (--retranslate replaces them)"


def require_columns(source: DocumentSource, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the columns that `--column` names. Raises OptionError if there are none; the hint lists `names`."""
    if not source.config.column:
        known = "; ".join(filter(None, ("give its name or number", list_columns([name.strip() for name in names]))))
        raise OptionError(
            f"--column is missing: which column of {source.name} should nmt translate?",
            hint=f"{known}; with --format text, each line is translated as a whole",
        )
    return source.config.column


def require_languages(source: DocumentSource) -> None:
    """Raises DataError if a table's name shows that it has no text in the model's source language."""
    languages = find_languages_in_name(PurePath(source.name).name)
    if not any(are_same_languages((code, ""), (source.source_language, "")) for code in languages):
        raise DataError(
            f"judging by its name, {source.name} is {' -> '.join(languages)}, "
            f"but the model translates from {source.source_language}",
            hint="choose another --model, or rename the file if its name is wrong",
        )


def has_header(source: DocumentSource) -> bool:
    """Whether the first line is a header, because a `--column` is a name rather than a number."""
    return any(map(is_name, source.config.column))


def select_columns(source: DocumentSource, first: Sequence[str]) -> DocumentSource:
    """Returns the source with only the columns that this table has, if it is one of several tables and has any."""
    names = [name.strip() for name in first]
    columns = tuple(column for column in source.config.column if column in names or not is_name(column))
    is_partial = source.is_among_others and has_header(source) and columns
    return source._replace(config=replace(source.config, column=columns)) if is_partial else source


def fit_columns(document: Document, first: Sequence[str]) -> None:
    """Leaves out the columns that one of several tables lacks, and notes them."""
    columns, document.source = document.source.config.column, select_columns(document.source, first)
    for column in [column for column in columns if column not in document.source.config.column]:
        document.notes[f"tables that have no column {column!r}, but another one to translate"] += 1


def find_column_indexes(source: DocumentSource, first: Sequence[str]) -> list[int]:
    """Returns the 0-based indexes of the text columns in a table whose first line is `first`.

    Raises DataError if a column does not exist, and OptionError for `--new-column` in a table without a header.
    """
    if source.config.new_column is not None and not has_header(source):
        raise OptionError(
            "--new-column needs a header, but a number as --column means that there is none",
            hint="leave --new-column out, or name the column",
        )
    names = list(first) if has_header(source) else None  # without a header, a cell that reads "1" is not a name
    columns, known = require_columns(source, first), [name.strip() for name in names or ()]
    for column in columns:
        several = [name for name in map(str.strip, column.split(",")) if name in known or not is_name(name)]
        if len(several) > 1 and column not in known:
            hint = f"repeat --column for each column: {', '.join(map(shlex.quote, several))}"
            raise OptionError(f"--column names a single column, not {column!r}", hint=hint)
    indexes = [find_column(column, names, 0, source.name) for column in columns]
    if len(set(indexes)) < len(indexes):
        raise OptionError("--column names a column twice", hint="name each column once")
    return indexes


def find_filled_column(source: DocumentSource, existing: Sequence[str]) -> int | None:
    """Returns the index of the existing column whose empty cells `--new-column` fills, or None."""
    name = source.config.new_column
    return list(existing).index(name) if name is not None and name in existing else None


class AddedColumn(NamedTuple):
    """A column added to a table, and the function that fills it from the translations of a row."""

    name: str
    format: Callable[[Sequence[Translation]], str]
    is_number: bool = False
    number: int | None = None  # of the text, from 0, whose translation it holds


def list_added_columns(source: DocumentSource, existing: Sequence[str]) -> list[AddedColumn]:
    """Returns the columns to add: translations (unless they fill an existing column), failed checks and confidence.

    Raises DataError if a column already has one of these names, and OptionError for a name with a tab or line end.
    """
    config = source.config
    names = [config.new_column or f"{column}_{source.target_language}" for column in config.column]
    fills = config.new_column is not None and config.new_column in existing
    columns = [AddedColumn(name, partial(get_text, number), number=number) for number, name in enumerate(names)]
    columns = [] if fills else columns
    if config.qa_column is not None:
        columns.append(AddedColumn(config.qa_column, partial(join_messages, config.column)))
    for number, name in enumerate(names if config.confidence else ()):
        columns.append(AddedColumn(f"{name}_confidence", partial(format_confidence, number), is_number=True))
    for index, added in enumerate(columns):
        name, option = added.name, "--qa-column" if added.name == config.qa_column else "--new-column"
        if re.search(r"[\t\r\n]", name):
            raise OptionError(f"{option} cannot be {name!r}", hint="use a name without tabs and line ends")
        if name in existing or name in [other.name for other in columns[:index]]:
            fill = f"; --new-column {shlex.quote(name)} fills its empty cells" if option == "--new-column" else ""
            hint = f"choose another name with {option}{fill}"
            raise DataError(f"{source.name}: the column {name!r} already exists", hint=hint)
    return columns


def keep_translation(document: Document, source: str, kept: str, number: int, location: Location) -> None:
    """Counts the translation that row `number` keeps, and reports it if its numbers or codes differ from the source.

    The source may have changed after it was translated.
    """
    document.notes += Counter({KEPT_CELLS: int(bool(source.strip()))})
    context = CheckContext(document.source.source_language, document.source.target_language)
    for check in COMPARISONS:
        if check.compare and check.name in OF_FACTS and (failed := check.compare(source, kept, context)):
            problem = f"the existing translation was kept: {failed.message}"
            document.torn.append(TornText(number, source, problem, location=location, check=failed.kind, kept=kept))


def get_text(number: int, translations: Sequence[Translation]) -> str:
    return translations[number].text


def format_confidence(number: int, translations: Sequence[Translation]) -> str:
    confidence = translations[number].confidence
    return "" if confidence is None else f"{confidence:.4f}"


def join_messages(columns: Sequence[str], translations: Sequence[Translation]) -> str:
    """Joins the messages of failed checks on one line, each after its column if there are several; may be empty."""
    failed = zip(columns, translations, strict=True) if len(columns) > 1 else [("", item) for item in translations]
    messages = [
        (f"{column}: " if column else "") + "; ".join(check.message for check in translation.checks)
        for column, translation in failed
        if translation.checks
    ]
    return replace_surrogates(" ".join("; ".join(messages).split()))


def count_missing_fields(fields: Sequence[str], width: int, notes: Counter[str]) -> int:
    """Returns the number of empty fields needed to put a row's translation into the new column; notes uneven rows."""
    if len(fields) > width:
        notes["rows longer than the first (their translations are in a later column)"] += 1
    if len(fields) < width:
        notes["rows shorter than the first (they were padded with empty columns)"] += 1
    return max(0, width - len(fields))


def split_line_end(line: str) -> tuple[str, str]:
    """Splits a line into its text and its end: LF, CR LF or nothing."""
    body = line.removesuffix("\n")
    body = body.removesuffix("\r") if len(body) < len(line) else body
    return body, line[len(body) :]


# Tables and sheets for review: rows in the order of the confidence in their translations, held until the last.


UNRATED = 1.0  # of a row whose text is blank


class SortedRows:
    """The rows of a sheet: translated rows are sorted among themselves, and all others stay in place."""

    def __init__(self, move_row: Callable[[str, str], str]) -> None:
        self.move_row = move_row  # writes a row in the place of another
        self.parts: list[tuple[float | None, str]] = []  # the confidence of rows that are translated

    def keep_part(self, text: str, translations: Sequence[Translation] = ()) -> str:
        """Holds a part until all parts have arrived, and writes nothing."""
        confidences = (translation.confidence for translation in translations)
        rates = [UNRATED if confidence is None else confidence for confidence in confidences]
        self.parts.append((min(rates, default=None), text))
        return ""

    def list_rows(self) -> Iterator[str]:
        """Yields all parts, with translated rows sorted by confidence, lowest first; equal rows stay in order."""
        rated = [(confidence, text) for confidence, text in self.parts if confidence is not None]
        rows = (row for _, row in sorted(rated, key=lambda pair: pair[0]))
        for confidence, text in self.parts:
            yield text if confidence is None else self.move_row(next(rows), text)


class SortedDocument(Document):
    """A table that writes translated rows at the end, least confident first; rows of equal confidence stay in order."""

    def __init__(self, table: Document) -> None:
        super().__init__(table.source)
        self.table = table
        self.rows = SortedRows(lambda row, _: row)

    def read_units(self) -> Iterator[TranslationUnit]:
        self.table.report_to(self)
        for unit in self.table.read_with_domain():
            yield unit._replace(write=partial(self.keep_row, unit)) if unit.texts else unit
        yield TranslationUnit((), self.write_rows)

    def keep_row(self, unit: TranslationUnit, translations: Sequence[Translation]) -> str:
        """Holds a row until all rows have arrived, and writes nothing."""
        written = unit.write(translations)
        return self.rows.keep_part(written if isinstance(written, str) else written.decode("utf-8"), translations)

    def write_rows(self, _translations: Sequence[Translation]) -> str:
        rows = list(self.rows.list_rows())
        end = "\r\n" if any(row.endswith("\r\n") for row in rows) else "\n"
        return "".join(row if row.endswith("\n") else row + end for row in rows)
