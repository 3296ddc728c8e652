"""Spreadsheets (.xlsx, .ods): rows of cells, the same for pairs and for documents.

    <row r="3"><c r="B3" t="s"><v>7</v></c>          row 3: SheetCell(1, "good day", is_text=True, style="")
    <c r="D3" s="2"><v>43831</v></c></row>                  SheetCell(3, "2020-01-01", is_text=False, style="2")

| cell | its text; only the first is translated |
|---|---|
| written by a person, shared or in the cell | all its runs, without the readings of Asian characters |
| a formula | the result that the file keeps; empty if it keeps none, or an error |
| a number, a percentage, an amount of money | the number as it is kept, a whole one without decimals: "0.25" for 25 % |
| a date, a time, a duration | "2020-01-01", "2020-01-01 12:00:00", "12:00:00"; "1 day, 12:00:00" in xlsx |
| true or false | "True", "False" |
| merged | the first cell has the text, the others are empty |
| hidden, or on a hidden sheet | as if it were not |

Pairs are read from the first sheet with text, or from a later one if that is far larger, and from all sheets with the
same headings. Nothing in a file is run, and nothing outside it is read; a file that would not fit in memory once
unpacked is refused (`archives.py`). Documents write the rows back (`documents/office`).
"""

from __future__ import annotations

import posixpath
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import NamedTuple
from xml.etree.ElementTree import Element

from nmt_cli.errors import DataError
from nmt_cli.formats.archives import MAXIMUM_ARCHIVE, open_archive, read_entry, refuse_part
from nmt_cli.formats.table_columns import MOST_TITLES, is_heading
from nmt_cli.formats.tables import TableReader, TableRecord
from nmt_cli.formats.xml import ElementReader, XmlError, XmlMending
from nmt_cli.text.wrapping import format_count, join_first

MAXIMUM_COLUMNS = 1 << 14  # of Excel and LibreOffice
MAXIMUM_ROWS = 1 << 20
MAXIMUM_CELLS = 20_000_000  # of the rectangle that a sheet of pairs spans
NUMBER = re.compile("[0-9]{1,18}")  # as programs write it

CellRow = tuple[int, list["SheetCell"]]  # its number from 1, and its cells
PlacedRow = tuple[int, list[str]]  # its number, and the texts of all its columns


class SheetCell(NamedTuple):
    """A cell: its column (from 0), its text, whether a person wrote that text, and its style."""

    column: int
    text: str
    is_text: bool
    style: str


GET_COLUMN = attrgetter("column")


class Book(ABC):
    """The sheets of a file; each format defines how cells are read."""

    row_name: str  # the local name of a row
    lacks_texts = False  # whether a cell has named a text that is not there

    def __init__(self, name: str, read_part: Callable[[str], bytes]) -> None:
        self.name = name  # of the file, in messages
        self.read_part = read_part  # returns the content of a part, empty if there is none

    @abstractmethod
    def read_sheets(self) -> Iterator[tuple[str, Iterable[CellRow]]]:
        """Yields the name and the rows of each sheet, in the order of the file."""

    @abstractmethod
    def number_row(self, row: Element, following: int) -> range:
        """Returns the numbers of the rows that an element stands for; `following` is the first number not yet used."""

    @abstractmethod
    def read_cells(self, row: Element) -> Iterator[SheetCell]:
        """Yields the cells of a row that are not empty, in order."""

    def list_cells(self, row: Element) -> list[SheetCell]:
        """Returns the cells of a row that are not empty. Raises DataError if it is wider than any sheet."""
        cells = list(self.read_cells(row))
        if cells and max(map(GET_COLUMN, cells)) >= MAXIMUM_COLUMNS:
            refuse_part(self.name, f"a row has more than {MAXIMUM_COLUMNS:,} columns", "split the sheet")
        return cells

    def read_elements(self, part: str, *names: str, container: str = "") -> Iterator[Element]:
        """Yields the elements with these names in a part. Raises DataError for a part that is not XML or is unsafe."""
        data = b"".join(XmlMending().mend_chunks([self.read_part(part)]))
        try:
            yield from ElementReader(frozenset(names), container).read(data)
        except (XmlError, ValueError, LookupError) as error:
            raise DataError(
                f"{self.name} is damaged: {part}: {str(error)[:100]}", hint="open it, and save it again"
            ) from error


def read_number(text: str, *, otherwise: int) -> int:
    """Returns the whole number that a text spells, or `otherwise` for anything else."""
    return int(text) if NUMBER.fullmatch(text) else otherwise


def format_number(value: str) -> str:
    """Returns a number as text, without decimals if it is whole."""
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if number.is_integer() else str(number)


# Workbooks of Excel (xlsx). Cells refer by number to the shared strings, and to the styles that tell dates from
# numbers.


COLUMN_LETTERS = re.compile("[A-Za-z]{1,3}")
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")  # a character that XML forbids, or an underscore that would begin one
# Of the codes by which numbers are shown: what they quote, and blocks that are no duration, such as [Red] or [$-407].
QUOTED = re.compile(r'"[^"]*"|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
TIME_CODE = re.compile(r"\[[hms]|[dmhys]", re.IGNORECASE)
BUILT_IN = {number: "date" for numbers in ((14, 23), (27, 37), (45, 48), (50, 59)) for number in range(*numbers)}
BUILT_IN |= {46: "duration"}
DAY = 86_400_000  # milliseconds
LEAP_DAY = 60  # 1900-02-29, which Excel believes in


class Workbook(Book):
    row_name = "row"

    @cached_property
    def part(self) -> str:
        """The part that names the sheets."""
        paths = (path for kind, path in self.read_relations("").values() if kind == "officeDocument")
        return next(paths, "xl/workbook.xml")

    def read_relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Returns the kind and the path of each part that a part refers to, by the identifiers that it uses."""
        folder, name = posixpath.split(part)
        relations = {}
        for values in self.read_elements(posixpath.join(folder, "_rels", f"{name}.rels"), "Relationship"):
            path = posixpath.normpath(posixpath.join("/", folder, values.get("Target", ""))).lstrip("/")
            relations[values.get("Id", "")] = (posixpath.basename(values.get("Type", "")), path)
        return relations

    @cached_property
    def relations(self) -> dict[str, tuple[str, str]]:
        return self.read_relations(self.part)

    def find_part(self, kind: str) -> str:
        """Returns the path of the only part of a kind; by default, the part with that name."""
        paths = (path for other, path in self.relations.values() if other == kind)
        return next(paths, posixpath.join(posixpath.dirname(self.part), f"{kind}.xml"))

    @cached_property
    def sheets(self) -> list[tuple[str, str]]:
        """The name and the part of each sheet."""
        sheets = []
        for sheet in self.read_elements(self.part, "sheet"):
            values = {name.rpartition(":")[2]: value for name, value in sheet.items()}
            sheets.append((values.get("name", ""), self.relations.get(values.get("id", ""), ("", ""))[1]))
        return sheets

    def read_sheets(self) -> Iterator[tuple[str, Iterable[CellRow]]]:
        for name, part in self.sheets:
            yield name, self.read_rows(part)

    def read_rows(self, part: str) -> Iterator[CellRow]:
        numbers = range(1)
        for row in self.read_elements(part, self.row_name):
            numbers = self.number_row(row, numbers.stop)
            yield numbers.start, self.list_cells(row)

    def number_row(self, row: Element, following: int) -> range:
        number = read_number(row.get("r", ""), otherwise=following)
        return range(number, number + 1)

    def read_cells(self, row: Element) -> Iterator[SheetCell]:
        column = -1
        for cell in row:
            column = number_column(cell.get("r", ""), otherwise=column + 1)
            if len(cell):
                style = cell.get("s", "")
                yield SheetCell(column, *self.read_value(cell, style), style)

    def read_value(self, cell: Element, style: str) -> tuple[str, bool]:
        """Returns the text of a cell, and whether a person has written it."""
        kind, value = cell.get("t", "n"), cell.findtext("v", "")
        if kind == "s":  # most cells: programs spell each text once, in a part of its own
            number = read_number(value.strip(), otherwise=len(self.strings))
            if number >= len(self.strings):
                self.lacks_texts = True
                return "", False
            return self.strings[number], cell.find("f") is None
        if kind == "inlineStr":
            return read_string(cell.find("is")), True
        if kind == "n":
            return self.format_value(value, style), False
        formats = {"e": "", "b": str(value.strip() == "1"), "d": value.replace("T", " ")}
        return formats.get(kind, unescape(value)), False

    def format_value(self, value: str, style: str) -> str:
        """Returns a number as text, or as a date if its style shows dates and the date exists."""
        kind = self.styles.get(style)
        # A number with the format of a date may be none: the calendar of Python ends with the year 9999.
        try:
            return format_time(float(value), kind, is_1904=self.is_1904) if kind else format_number(value)
        except (ValueError, OverflowError):
            return format_number(value)

    @cached_property
    def strings(self) -> list[str]:
        return [read_string(item) for item in self.read_elements(self.find_part("sharedStrings"), "si")]

    @cached_property
    def is_1904(self) -> bool:
        """Whether days are counted from 1904, as in old Apple programs."""
        properties = self.read_elements(self.part, "workbookPr")
        return any(element.get("date1904") in ("1", "true") for element in properties)

    @cached_property
    def styles(self) -> dict[str, str]:
        """How each style, by its number, displays values: as a date or as a duration."""
        codes, kinds = dict(BUILT_IN), []
        for element in self.read_elements(self.find_part("styles"), "numFmt", "cellXfs"):
            if element.tag == "numFmt":
                number = read_number(element.get("numFmtId", ""), otherwise=0)
                codes[number] = name_format(element.get("formatCode", ""))
            else:
                kinds = [codes.get(read_number(style.get("numFmtId", ""), otherwise=0), "") for style in element]
        return {str(number): kind for number, kind in enumerate(kinds) if kind}


def read_string(node: Element | None) -> str:
    """Returns the text of a string and its runs, without phonetic readings of Asian characters."""
    parts = []
    for child in () if node is None else node:
        element = child.find("t") if child.tag == "r" else child if child.tag == "t" else None
        if element is not None:
            text = element.text or ""
            parts.append(text if element.get("xml:space") == "preserve" else text.strip(" \t\r\n"))
    return unescape("".join(parts))


def unescape(text: str) -> str:
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def name_format(code: str) -> str:
    """Returns the kind of value that a number format shows: "d. mmm" a date, "[h]:mm" a duration, "0.00" neither.

    Only the first part of a code counts; semicolons separate the parts.
    """
    match = TIME_CODE.search(QUOTED.sub("", code).partition(";")[0])
    return "" if match is None else "duration" if match[0].startswith("[") else "date"


def format_time(days: float, kind: str, *, is_1904: bool) -> str:
    """Returns a number of days as a duration, a date, a time, or both. Raises OverflowError beyond the year 9999."""
    if kind == "duration":
        return str(timedelta(milliseconds=round(days * DAY)))
    # Up to then, days are counted from 1899-12-31; from 1900-03-01 on, because of that day, from the day before.
    if not is_1904 and 1 <= days < LEAP_DAY:
        days += 1
    moment = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)
    moment += timedelta(milliseconds=round(days * DAY))
    if days < 1:
        return str(moment.time())
    return str(moment.date() if moment.time() == time() else moment)


def number_column(reference: str, *, otherwise: int) -> int:
    """Returns the column, from 0, of a cell name such as "AB12"; `otherwise` for any other text."""
    column = count_letters(reference.rstrip("0123456789"))
    return otherwise if column < 0 else column


@lru_cache(1 << 10)
def count_letters(letters: str) -> int:
    """Returns the column with these letters, from 0: "A" is 0, "AB" is 27; -1 for any other text."""
    number = 0
    for letter in letters.upper() if COLUMN_LETTERS.fullmatch(letters) else "":
        number = 26 * number + ord(letter) - 64
    return number - 1


# Spreadsheets of OpenDocument (ods). One part has all sheets; equal cells and rows are spelled once, with their number.


CONTENT_PART = "content.xml"
CELLS = ("table-cell", "covered-table-cell")  # covered by another: merged
DURATION = re.compile(r"PT(\d+)H(\d+)M([\d.]+)S")
VALUES = {"date": "office:date-value", "time": "office:time-value", "boolean": "office:boolean-value"}
SPACES = {"tab": "\t", "line-break": "\n"}
HIDDEN_TEXT = ("annotation", "ruby-text")


class CalcBook(Book):
    row_name, sheet_name = "table-row", "table"

    def read_sheets(self) -> Iterator[tuple[str, Iterable[CellRow]]]:
        name: str | None = None
        rows: list[CellRow] = []
        numbers = range(1)
        for element in self.read_elements(CONTENT_PART, self.row_name, container=self.sheet_name):
            if element.tag != self.row_name:
                if name is not None:
                    yield name, rows
                name, rows, numbers = element.get("table:name", ""), [], range(1)
                continue
            cells, numbers = self.list_cells(element), self.number_row(element, numbers.stop)
            if cells:  # of more rows than there can be, one says that there are too many
                rows += [(row, cells) for row in range(numbers.start, min(numbers.stop, MAXIMUM_ROWS + 2))]
        if name is not None:
            yield name, rows

    def number_row(self, row: Element, following: int) -> range:
        is_row = row.tag == self.row_name  # and not the beginning of a sheet
        return range(following, following + (count_repeats(row, "rows") if is_row else 0))

    def read_cells(self, row: Element) -> Iterator[SheetCell]:
        column = 0
        for cell in row:
            count = count_repeats(cell) if cell.tag in CELLS else 0  # a comment or the like is in no column
            kind = cell.get("office:value-type")
            if kind:
                text, style = read_calc_text(cell, kind), cell.get("table:style-name", "")
                is_text = kind == "string" and not cell.get("table:formula")
                last = min(column + count, MAXIMUM_COLUMNS + 1)  # of more cells, one says that there are too many
                for repeated in range(min(column, MAXIMUM_COLUMNS), last):
                    yield SheetCell(repeated, text, is_text, style)
            column += count


def count_repeats(element: Element, noun: str = "columns") -> int:
    """Returns how often a cell or a row is repeated."""
    count = element.get(f"table:number-{noun}-repeated")
    return 1 if count is None else read_number(count, otherwise=1)


def read_calc_text(cell: Element, kind: str) -> str:
    """Returns the text of a cell; for a number, its value, since programs display numbers in many ways."""
    value = cell.get(VALUES.get(kind, "office:value"), "")
    if kind == "string":
        text = cell.get("office:string-value")
        return "\n".join(map(read_calc_paragraph, cell.iterfind("p"))) if text is None else text
    if kind == "time":
        return DURATION.sub(r"\1:\2:\3", value)
    return {"date": value.replace("T", " "), "boolean": value.capitalize()}.get(kind) or format_number(value)


def read_calc_paragraph(paragraph: Element) -> str:
    """Returns the text of a paragraph, with spaces that are written as elements, and without comments."""
    if not len(paragraph):  # as of nearly all cells
        return paragraph.text or ""
    for element in paragraph.iter():
        if element.tag in HIDDEN_TEXT:
            element[:], element.text = [], ""
        elif element.tag == "s":
            element.text = " " * min(read_number(element.get("text:c", ""), otherwise=1), MAXIMUM_COLUMNS)
        elif element.tag in SPACES:
            element.text = SPACES[element.tag]
    return "".join(paragraph.itertext())


# Pairs: the rows of one sheet, all of one width.


MOST_SHEETS = 5  # names of sheets that a note shows
FEW_ROWS = 100  # of a sheet that may be about another, not the pairs themselves
MANY_TIMES = 10  # as many rows has the sheet that it is about
MANY_LEFT = 20  # rows of a sheet that may well have pairs


def find_body(table: Sequence[PlacedRow], other: Sequence[PlacedRow]) -> Sequence[PlacedRow]:
    """Returns the rows of another sheet below the headings that it shares with a table; empty without such headings."""
    heads = [["\t".join(texts).rstrip() for _, texts in rows[: MOST_TITLES + 1]] for rows in (table, other)]
    for index, head in enumerate(heads[1]):
        cells = [cell.strip() for cell in other[index][1] if cell.strip()]
        if head in heads[0] and len(cells) > 1 and any(is_heading(cell, ()) for cell in cells):
            return other[index + 1 :]
    return []


class SpreadsheetReader(TableReader):
    expects = "a sheet with two columns of sentences"

    def read_records(self) -> Iterator[TableRecord]:
        book = self.open_book()
        table: list[tuple[int, list[str]]] = []
        placed_sheets = ((name, self.place_cells(rows)) for name, rows in book.read_sheets())
        sheets = {name: placed for name, placed in placed_sheets if placed}
        names: list[str] = []
        for name, placed in sheets.items():
            if len(table) < FEW_ROWS and len(placed) > MANY_TIMES * len(table):
                names, table = [name], placed
        # Sheets with the same headings go on with it.
        for name, placed in sheets.items():
            body = find_body(table, placed) if name not in names else []
            if body:
                names.append(name)
                table = table + [(table[-1][0] + number - body[0][0] + 1, texts) for number, texts in body]
        others = [name for name in sheets if name not in names]
        if len(sheets) > 1:
            left = f"; not read: {join_first(others, MOST_SHEETS)}; to read another, save it as .csv" if others else ""
            is_warning = any(len(sheets[name]) >= max(MANY_LEFT, len(table) / MANY_TIMES) for name in others)
            self.add_note(f"sheets read: {join_first(names, MOST_SHEETS)}{left}", is_warning=is_warning)
        if book.lacks_texts:
            raise DataError(
                f"{self.file.name} is damaged: some of its texts are missing", hint="open it, and save it again"
            )
        # All rows have the width of the widest, so that none is refused for the blanks at its end.
        width, line = max((len(texts) for _, texts in table), default=0), 0
        for number, texts in table:
            yield from ((blank, [""] * width) for blank in range(line + 1, number))
            yield number, texts + [""] * (width - len(texts))
            line = number

    def read_text_lines(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """Yields each line that a person wrote, after the numbers of its sheet, row, column and line."""
        for sheet, (_, rows) in enumerate(self.open_book().read_sheets(), 1):
            for row, cells in rows:
                for cell in cells:
                    for number, line in enumerate(cell.text.split("\n") if cell.is_text else ()):
                        if line.strip():
                            yield (sheet, row, cell.column, number), line

    def open_book(self) -> Book:
        """Opens the file. Raises DataError if it or its content is unsafe or too large for memory."""
        with self.stream.open_binary() as file:
            data: bytes = file.read((MAXIMUM_ARCHIVE << 20) + 1)
        if len(data) > MAXIMUM_ARCHIVE << 20:
            raise DataError(f"{self.file.name} is larger than {MAXIMUM_ARCHIVE:,} MiB", hint="save it as .csv")
        archive = open_archive(data, self.file.name, "a spreadsheet")

        def read_part(part: str) -> bytes:
            entry = archive.NameToInfo.get(part)
            return b"" if entry is None else read_entry(archive, entry, self.file.name)

        return (CalcBook if CONTENT_PART in archive.NameToInfo else Workbook)(self.file.name, read_part)

    def place_cells(self, rows: Iterable[CellRow]) -> list[tuple[int, list[str]]]:
        """Returns the texts of a sheet, row by row; none if all are empty.

        Raises DataError for a sheet whose cells span too large a rectangle.
        """
        table, width, height, has_text = [], 0, 0, False
        for number, cells in rows:
            # Formats and formulas without a result often reach far beyond the texts.
            cells = [cell for cell in cells if cell.text]
            if cells:
                width, height = max(width, 1 + max(map(GET_COLUMN, cells))), max(height, number)
                if height > MAXIMUM_ROWS or width * height > MAXIMUM_CELLS:
                    size = f"a sheet of {format_count(width, 'column')} and {format_count(height, 'row')}"
                    raise DataError(f"{self.file.name} has {size}", hint="save the two columns as .csv")
                texts = [""] * width
                for cell in cells:
                    texts[cell.column] = cell.text
                has_text = has_text or any(map(str.strip, texts))
                table.append((number, texts))
        return table if has_text else []
