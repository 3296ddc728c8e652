"""Translates columns of spreadsheets into new columns, row by row, in the first sheet that has them.

    | id | English  |          | id | English  | English_de |        --column English
    | 7  | good day |          | 7  | good day | GOOD DAY   |        with the format of the cell to its left
    | 8  | =A2      |          | 8  | =A2      |            |        a formula is not text

Rows are read by `formats/sheets.py`, as for pairs. Only the spelling of each row and the cells that matter are kept;
the row is parsed again when it is written. Everything outside rows stays exactly as written.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import NamedTuple, TypeVar

from nmt_cli.documents.columns import (
    AddedColumn,
    SortedRows,
    find_column_indexes,
    find_filled_column,
    fit_columns,
    get_text,
    has_header,
    keep_translation,
    list_added_columns,
    require_languages,
    select_columns,
)
from nmt_cli.documents.document import Document, DocumentSource, Location, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText
from nmt_cli.documents.office.opendocument import OpenDocument, OpenDocumentReader
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.documents.xml import (
    XmlNode,
    cut_document,
    decode_xml,
    escape_xml,
    parse_node,
    read_attribute,
    read_node,
    set_attribute,
    strip_prefix,
)
from nmt_cli.errors import DataError
from nmt_cli.formats.archives import refuse_part
from nmt_cli.formats.sheets import CELLS, CONTENT_PART, Book, CalcBook, SheetCell, read_number
from nmt_cli.formats.table_columns import MOST_TITLES
from nmt_cli.formats.xml import CutUnit, MarkupToken
from nmt_cli.text.wrapping import replace_surrogates
from nmt_cli.translation.result import Translation

FILLING = AddedColumn("", partial(get_text, 0))  # in an existing column
SheetKey = TypeVar("SheetKey", str, int)


class SheetRow(NamedTuple):
    """A row as it is spelled, with its cells in the translated columns and in the column to fill."""

    raw: str
    number: int  # from 1
    cells: Sequence[SheetCell | None]
    existing: SheetCell | None
    is_header: bool


class Sheet(ABC):
    """The XML of a sheet whose rows get new cells; each format defines how rows and cells are written."""

    fixed: re.Pattern[str]  # what names cells by their places, so that no row may move

    def __init__(self, source: DocumentSource, book: Book, title: str = "") -> None:
        self.title = title
        self.source = source
        self.book = book  # which reads the cells
        self.sorted = SortedRows(self.move_row) if source.config.sort_by_confidence else None

    @cached_property
    def decoded(self) -> DecodedText:
        return decode_xml(self.source)

    def cut_rows(self) -> Iterator[CutUnit]:
        """Yields the rows of the sheet, one at a time, and everything before and after them."""
        yield from cut_document(self.source, self.decoded.text, frozenset({self.book.row_name}))

    @cached_property
    def header(self) -> list[str]:
        """The texts of the heading row; empty if there is none."""
        return find_header(self.source, map(self.list_texts, self.cut_rows()))

    @cached_property
    def columns(self) -> list[int]:
        """The columns to translate, counted from 0. Raises DataError if the sheet lacks one of them."""
        return find_column_indexes(self.source, self.header)

    @cached_property
    def filled(self) -> int | None:
        """The existing column whose empty cells are filled, counted from 0, or None."""
        return find_filled_column(self.source, self.header if has_header(self.source) else [])

    @cached_property
    def parts(self) -> list[str | SheetRow]:
        """The sheet in parts; only what is needed of each row is kept, as trees of all rows would fill the memory."""
        self.width, numbers = 0, range(1)
        awaits_header = has_header(self.source)
        parts: list[str | SheetRow] = []
        for part in self.cut_rows():
            parts.append(part.before)
            if part.unit is None:
                continue
            cells = self.book.list_cells(part.unit.element)
            numbers = self.book.number_row(part.unit.element, numbers.stop)
            self.width = max(self.width, *(cell.column + 1 for cell in cells), 0)
            *source_cells, filled_cell = (
                next((cell for cell in cells if cell.column == column), None) for column in (*self.columns, self.filled)
            )
            is_header = awaits_header and bool(cells) and self.list_texts(part) == self.header
            row = SheetRow(part.raw, numbers.start, source_cells, filled_cell, is_header=is_header)
            awaits_header = awaits_header and not is_header
            parts.append(part.raw if awaits_header else row)  # a title
        return parts

    def list_texts(self, row: CutUnit) -> list[str]:
        """Returns the texts of all columns in a row; empty if it has no cells."""
        cells = [] if row.unit is None else self.book.list_cells(row.unit.element)
        texts = {cell.column: cell.text for cell in cells}
        return [texts.get(column, "") for column in range(max(texts, default=-1) + 1)]

    @abstractmethod
    def write_row(self, row: XmlNode, texts: Sequence[tuple[AddedColumn, str]], style: str, column: int) -> str:
        """Returns a row with new cells from `column` on, in place of those already there.

        The new cells take the format of those that they replace, or else `style`.
        """

    def widen(self, text: str) -> str:
        """Returns text outside rows, adjusted to a sheet that gets wider."""
        return text

    def read_units(self, document: Document) -> Iterator[TranslationUnit]:
        """Yields the units of the sheet, one per row; the document counts the translations that are kept.

        Raises DataError if rows are to be sorted but something refers to their cells.
        """
        held = self.sorted
        if held is not None and self.fixed.search(self.decoded.text):
            refuse_part(
                self.source.name,
                "rows that formulas, merged cells, links or comments refer to cannot be sorted",
                "leave out --sort-by-confidence, and sort by the column of --confidence",
            )
        self.added = list_added_columns(self.source, self.header if has_header(self.source) else [])
        yield make_verbatim_unit(self.decoded.mark)
        for part in self.parts:
            if isinstance(part, str):
                yield self.keep(self.widen(part))
            elif part.is_header:
                style = next((cell.style for cell in part.cells if cell is not None), "")
                headings = [(added._replace(is_number=False), added.name) for added in self.added]
                yield self.keep(self.write_row(parse_node(part.raw), headings, style, self.width))
            elif not any(cell.text.strip() for cell in list_text_cells(part)):
                yield self.keep(part.raw)
            elif self.is_filled(part):
                self.keep_translation(document, part)
                yield self.keep(part.raw)
            else:
                yield self.make_unit(part)
        if held is not None:
            yield TranslationUnit((), lambda _: self.decoded.encode("".join(held.list_rows())))

    def is_filled(self, row: SheetRow) -> bool:
        """Whether a row has a translation that is kept, or a number or a formula in its place."""
        cell = row.existing
        if cell is None or not cell.is_text:
            return cell is not None
        return bool(cell.text.strip()) and not self.source.config.retranslate

    def keep_translation(self, document: Document, row: SheetRow) -> None:
        (source,), kept = row.cells, row.existing
        if source is not None and kept is not None and kept.is_text:
            keep_translation(document, source.text, kept.text.strip(), row.number, self.locate([source], row))

    def move_row(self, row: str, replaced: str) -> str:
        """Returns a row as written in place of another."""
        return row

    def keep(self, text: str) -> TranslationUnit:
        held = self.sorted
        if held is None:
            return make_verbatim_unit(self.decoded.encode(text))
        return TranslationUnit((), lambda _: held.keep_part(text))

    def make_unit(self, row: SheetRow) -> TranslationUnit:
        cells = list_text_cells(row)

        def write_row(translations: Sequence[Translation]) -> str | bytes:
            written = row.raw
            for column, group in ((self.filled, [FILLING]), (self.width, self.added)):
                if column is not None and group:
                    texts = [(added, added.format(translations)) for added in group]
                    written = self.write_row(parse_node(written), texts, cells[0].style, column)
            if self.sorted is not None:
                return self.sorted.keep_part(written, translations)
            return self.decoded.encode(written)

        texts = tuple(replace_surrogates(cell.text) if cell in cells else "" for cell in row.cells)
        return TranslationUnit(texts, write_row, location=self.locate(cells, row))

    def locate(self, cells: Iterable[SheetCell], row: SheetRow) -> Location:
        """Returns the location of the given cells in a row."""
        return Location("", f"{self.title}!{', '.join(f'{spell_column(cell.column)}{row.number}' for cell in cells)}")


def find_header(source: DocumentSource, rows: Iterable[list[str]]) -> list[str]:
    """Returns the first row that names all columns (titles may precede it), else the first with cells; may be empty."""
    first = list(islice(filter(None, rows), MOST_TITLES + 1))
    names = set(source.config.column)
    return next((row for row in first if names <= {*map(str.strip, row)}), [*first, []][0])


def list_text_cells(row: SheetRow) -> list[SheetCell]:
    """Returns the cells that have text to translate."""
    return [cell for cell in row.cells if cell is not None and cell.is_text]


def spell_column(index: int) -> str:
    """Returns the letters of a column, counted from 0."""
    letters = ""
    while index >= 0:
        letters = chr(65 + index % 26) + letters
        index = index // 26 - 1
    return letters


def choose_sheet(headers: Iterable[tuple[SheetKey, list[str]]], document: Document) -> SheetKey:
    """Returns the key of the first sheet whose header has the column, and notes how many others have it.

    Raises DataError if none has it.
    """
    source, sheets = document.source, list[tuple[SheetKey, list[str]]]()
    require_languages(source)
    error: DataError | None = None
    for key, header in headers:
        try:
            if header and find_column_indexes(select_columns(source, header), header):
                sheets.append((key, header))
        except DataError as problem:
            error = error or problem
    if len(sheets) > 1 and has_header(source):
        document.notes["further sheets with that column, left unchanged"] += len(sheets) - 1
    if sheets:
        key, header = sheets[0]
        fit_columns(document, header)
        return key
    if error and source.is_among_others:
        known = f"{error.hint}; " if error.hint else ""
        error.hint = f"{known}to translate all cells of {source.name}, translate it separately, without --column"
    raise error or DataError(f"{source.name} has no cells", hint="name another file")


# Spreadsheets of OpenDocument (ods): the texts of all cells in place, or one column into further ones.
#
# Numbers, dates, formulas and formats are kept.


COLUMNS_REPEATED = "table:number-columns-repeated"


class SpreadsheetTextReader(OpenDocumentReader):
    """Reads the paragraphs of cells that hold text of their own."""

    def read_token(self, token: MarkupToken, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        is_cell, tag = token.kind == "open" and strip_prefix(token.name) in CELLS, token.raw
        if is_cell and (read_attribute(tag, "value-type") != "string" or read_attribute(tag, "formula")):
            yield read_node(tokens, token).raw
        else:
            yield from super().read_token(token, tokens)


class OdsDocument(OpenDocument):
    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        if not self.source.config.column:
            return SpreadsheetTextReader().read_units(self.open_part(name), self.notes)
        return self.chosen_sheet.read_units(self)

    def has_text(self, name: str) -> bool:
        return name == CONTENT_PART if self.source.config.column else super().has_text(name)

    @cached_property
    def chosen_sheet(self) -> CalcSheet:
        """The content, in which the first sheet that has the column is translated."""
        sheet = CalcSheet(self.open_part(CONTENT_PART), CalcBook(self.source.name, self.read_bytes))
        sheet.number = choose_sheet(sheet.read_headers(), self)
        sheet.source = sheet.source._replace(config=self.source.config)
        return sheet


class CalcSheet(Sheet):
    """One sheet in the content of a spreadsheet, with everything around it."""

    fixed = re.compile(r'\stable:(?:formula=|number-rows-spanned="(?!1"))')
    number = 0  # of the sheet, from 0

    def number_rows(self) -> Iterator[tuple[int, CutUnit]]:
        """Yields the rows of all sheets, each with its sheet's number; every sheet begins with an empty row."""
        number = -1
        names = frozenset({self.book.row_name}), frozenset({CalcBook.sheet_name})
        for part in cut_document(self.source, self.decoded.text, *names):
            if part.unit is not None and part.unit.element.tag == CalcBook.sheet_name:
                number += 1
                self.title = part.unit.element.get("table:name", "") if number == self.number else self.title
            yield number, part

    def read_headers(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the number and the header of each sheet with cells."""
        for number, parts in groupby(self.number_rows(), itemgetter(0)):
            yield number, find_header(self.source, (self.list_texts(part) for _, part in parts))

    def cut_rows(self) -> Iterator[CutUnit]:
        for number, part in self.number_rows():
            yield part if number == self.number else CutUnit(part.before + part.raw)

    def write_row(self, row: XmlNode, texts: Sequence[tuple[AddedColumn, str]], style: str, column: int) -> str:
        before, after = self.split_row(row, column)
        styles = [cell.read("style-name") for cell, repeats in after for _ in range(min(repeats, len(texts)))]
        styles += [style] * len(texts)
        new = "".join(
            write_calc_cell(added, text, present or style)
            for (added, text), present in zip(texts, styles, strict=False)
        )
        return f"{row.tag}{before}{new}{drop_columns(after, len(texts))}{row.end}"

    def split_row(self, row: XmlNode, first: int) -> tuple[str, list[tuple[XmlNode, int]]]:
        """Returns the cells before a column, and each cell from there on with the number of its repeats."""
        written, after, column = [], [], 0
        for cell in row.elements:
            count = count_repeats(cell)
            before = max(0, min(count, first - column))
            written += [repeat_cell(cell, before)] if before else []
            after += [(cell, count - before)] if count > before else []
            column += count
        missing = first - column
        written += [f'<table:table-cell {COLUMNS_REPEATED}="{missing}"/>'] if missing > 0 else []
        return "".join(written), after


def count_repeats(cell: XmlNode) -> int:
    """Returns how many columns a cell fills; 0 for other elements, such as comments."""
    return read_number(cell.read("number-columns-repeated"), otherwise=1) if cell.name in CELLS else 0


def repeat_cell(cell: XmlNode, count: int) -> str:
    """Returns a cell repeated `count` times."""
    if count == count_repeats(cell):
        return cell.raw
    return f"{set_attribute(cell.tag, COLUMNS_REPEATED, str(count))}{cell.content}{cell.end}"


def drop_columns(cells: Sequence[tuple[XmlNode, int]], count: int) -> str:
    """Returns the cells without the first `count` columns."""
    written = []
    for cell, repeats in cells:
        left = max(0, repeats - count)
        count -= repeats - left
        written += [repeat_cell(cell, left)] if left else []
    return "".join(written)


def write_calc_cell(added: AddedColumn, text: str, style: str) -> str:
    """Returns a cell with text or a number."""
    attributes = f' table:style-name="{style}"' if style else ""
    if not text:
        return f"<table:table-cell{attributes}/>"
    kind = f'office:value-type="float" office:value="{text}"' if added.is_number else 'office:value-type="string"'
    paragraphs = "".join(f"<text:p>{escape_xml(line)}</text:p>" for line in text.split("\n"))
    return f"<table:table-cell{attributes} {kind}>{paragraphs}</table:table-cell>"
