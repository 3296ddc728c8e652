"""Spreadsheets (.xlsx, .ods), read by python-calamine: the first sheet with cells.

Nothing in them is run or fetched. Files that would not fit in memory once unpacked are refused beforehand.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from nmt_cli.errors import DataError, MissingExtraError, explain_install
from nmt_cli.formats.archives import MAXIMUM_ARCHIVE, open_archive, read_entry
from nmt_cli.formats.tables import TableReader, TableRecord
from nmt_cli.text.wrapping import format_count

MAXIMUM_CELLS = 20_000_000  # of the rectangle that a sheet spans
REFERENCE = re.compile(rb'<c r="([A-Z]{1,4})(\d{1,9})"')
REPEATED = re.compile(rb'number-(columns|rows)-repeated="(\d{4,})"[^<>]*[^/<>]>')  # of what is not empty


class SpreadsheetReader(TableReader):
    expects = "a sheet with two columns of sentences"

    def read_records(self) -> Iterator[TableRecord]:
        try:
            from python_calamine import CalamineWorkbook
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "spreadsheets need the package python-calamine, which is not installed",
                hint=f"{explain_install('formats')}, or save the sheet as .csv",
            ) from error
        data = self.read_data()
        try:
            book = CalamineWorkbook.from_filelike(io.BytesIO(data))
            names = book.sheet_names
            sheets = ((name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in names)
            name, rows = next(((name, rows) for name, rows in sheets if rows), ("", []))
        except Exception as error:  # of whatever kind its parser raises for a damaged file
            raise DataError(
                f"{self.file.name} is damaged: {str(error)[:100]}", hint="open it, and save it again"
            ) from error
        if len(names) > 1 and rows:
            others = format_count(len(names) - 1, "other was", "others were")
            self.add_note(f"the sheet {name!r} was read; {others} not")
        for number, row in enumerate(rows, start=1):
            yield number, [format_value(value) for value in row]

    def read_data(self) -> bytes:
        """Returns the file. Raises DataError if it, or what is in it, is unsafe or larger than memory allows."""
        with self.stream.open_binary() as file:
            data: bytes = file.read((MAXIMUM_ARCHIVE << 20) + 1)
        if len(data) > MAXIMUM_ARCHIVE << 20:
            raise DataError(f"{self.file.name} has more than {MAXIMUM_ARCHIVE:,} MiB", hint="save it as .csv")
        archive = open_archive(data, self.file.name, "a spreadsheet")
        for entry in archive.infolist():
            if entry.filename.endswith(".xml"):
                self.check_extent(entry.filename, read_entry(archive, entry, self.file.name))
        return data

    def check_extent(self, name: str, content: bytes) -> None:
        """Raises DataError for a sheet whose cells span a rectangle that is too large."""
        if name.endswith(".xml") and "worksheets/" in name:
            columns = rows = 1
            for match in REFERENCE.finditer(content):
                columns, rows = max(columns, count_column(match[1])), max(rows, int(match[2]))
            if columns * rows > MAXIMUM_CELLS:
                self.refuse_size(f"a sheet of {format_count(columns, 'column')} and {format_count(rows, 'row')}")
        if name == "content.xml":
            for match in REPEATED.finditer(content):
                if int(match[2][:12]) > 100_000 or match[1] == b"columns":
                    self.refuse_size(f"a cell or row that is repeated {int(match[2][:12]):,} times")

    def refuse_size(self, problem: str) -> None:
        raise DataError(f"{self.file.name} has {problem}", hint="save the two columns as .csv")


def count_column(letters: bytes) -> int:
    """Returns the number of a column, from 1: "A" is 1, "AB" is 28."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def format_value(value: Any) -> str:
    """Returns a cell as text; a whole number has no decimals."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
