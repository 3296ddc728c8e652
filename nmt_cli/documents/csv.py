"""CSV: the translation becomes the last field of each record; everything before it is kept byte for byte.

The delimiter is `,`, `;` or a tab, whichever splits the first line into the most fields. The lines of a field are
translated separately.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from nmt_cli.documents.columns import (
    count_missing_fields,
    find_column_index,
    format_cell,
    has_header,
    list_added_columns,
    refuse_short_row,
    require_column,
    split_line_end,
)
from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation
from nmt_cli.text.columns import SEPARATOR

BYTE_ORDER_MARK = "\ufeff"
OPEN_QUOTE = "perhaps a quote that begins here is never closed"


def count_fields(line: str, delimiter: str) -> int:
    """Counts the fields of a first line; 0 for invalid CSV, which is reported when it is read."""
    try:
        return len(next(csv.reader([line.removeprefix(BYTE_ORDER_MARK)], delimiter=delimiter), []))
    except csv.Error:
        return 0


@dataclass(frozen=True)
class Record:
    """A record: its spelling in the file, and its fields."""

    line: int  # of the file, from 1, where the record begins
    raw: str  # all its lines with their ends
    fields: list[str]

    def add_fields(self, texts: Iterable[str], delimiter: str, *, empty: int = 0) -> str:
        """Appends the fields `texts` after `empty` empty ones."""
        body, end = split_line_end(self.raw)
        fields = [*[""] * empty, *(quote_field(text, delimiter) for text in texts)]
        return f"{body}{''.join(f'{delimiter}{field}' for field in fields)}{end}"


def quote_field(text: str, delimiter: str) -> str:
    """Quotes a field if necessary."""
    needs_quotes = any(mark in text for mark in f'{delimiter}"\r\n')
    return '"{}"'.format(text.replace('"', '""')) if needs_quotes else text


class CsvDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        require_column(self.source)
        lines = self.source.decode_lines(ends=True)
        first = next(lines, "")  # only one: a pipe may wait for the translation of a line before it sends the next
        separator = SEPARATOR.fullmatch(first.removeprefix(BYTE_ORDER_MARK))
        if separator:
            yield make_verbatim_unit(first)
            first = next(lines, "")
        self.delimiter = separator[1] if separator else max(",;\t", key=partial(count_fields, first))
        column = None
        for record in self.read_records(chain([first] if first else [], lines), 2 if separator else 1):
            if column is None:
                column, self.width = find_column_index(self.source, record.fields), len(record.fields)
                names = record.fields if has_header(self.source) else []
                self.added = list_added_columns(self.source, names)
                if has_header(self.source):
                    yield make_verbatim_unit(record.add_fields([added.name for added in self.added], self.delimiter))
                    continue
            yield self.make_unit(record, column)

    def make_unit(self, record: Record, column: int) -> TranslationUnit:
        if not any(map(str.strip, record.fields)):
            return make_verbatim_unit(record.raw)
        if len(record.fields) <= column:
            refuse_short_row(self.source, record.line, len(record.fields), column)
        text = format_cell(record.fields[column])
        empty = count_missing_fields(record.fields, self.width, self.notes)

        def write_record(translations: Sequence[Translation]) -> str:
            cells = [added.format(translations[0]) for added in self.added]
            return record.add_fields(cells, self.delimiter, empty=empty)

        return TranslationUnit((text,), write_record)

    def read_records(self, lines: Iterator[str], number: int) -> Iterator[Record]:
        """Yields the records from line `number` on. Raises DataError for invalid CSV, naming the record's line."""
        consumed: list[str] = []

        def note_lines() -> Iterator[str]:
            for line in lines:
                consumed.append(line)
                yield line.removeprefix(BYTE_ORDER_MARK)

        reader = csv.reader(note_lines(), delimiter=self.delimiter, strict=True)
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                returns = "new-line character" in str(error)  # which a carriage return alone is to the reader
                hint = "lines end in carriage returns only; convert them: tr '\\r' '\\n'" if returns else OPEN_QUOTE
                self.source.refuse(number, str(error), hint)
            yield Record(number, "".join(consumed), fields)
            number += len(consumed)
            consumed.clear()
