"""Spreadsheets of OpenDocument (ods): the texts of all cells in place, or one column into further ones.

Numbers, dates, formulas and formats are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from nmt_cli.documents.columns import AddedColumn
from nmt_cli.documents.document import TranslationUnit
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.office.cells import MAXIMUM_COLUMNS, Sheet, SheetCell, choose_sheet, read_cell_number
from nmt_cli.documents.office.opendocument import OpenDocument, OpenDocumentReader
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import XmlNode, escape_xml, read_attribute, read_node, set_attribute, strip_prefix

CELL_ELEMENTS = ("table-cell", "covered-table-cell")
COLUMNS_REPEATED = "table:number-columns-repeated"
CONTENT_PART = "content.xml"


class SpreadsheetTextReader(OpenDocumentReader):
    """Reads the paragraphs of cells that hold text of their own."""

    def read_token(self, token: MarkupToken, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        if token.kind == "open" and strip_prefix(token.name) in CELL_ELEMENTS and not holds_text(token.raw):
            yield read_node(tokens, token).raw
        else:
            yield from super().read_token(token, tokens)


def holds_text(tag: str) -> bool:
    """Whether a cell has text, rather than a number, a date or a formula."""
    return read_attribute(tag, "value-type") == "string" and not read_attribute(tag, "formula")


class OdsDocument(OpenDocument):
    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        if self.source.config.column is None:
            return SpreadsheetTextReader().read_units(self.open_part(name), self.notes)
        return self.chosen_sheet.read_units()

    def has_text(self, name: str) -> bool:
        return super().has_text(name) if self.source.config.column is None else name == CONTENT_PART

    @cached_property
    def chosen_sheet(self) -> CalcSheet:
        """The content, of which the first sheet with the column is translated."""
        sheet = CalcSheet(self.open_part(CONTENT_PART))
        sheet.number = choose_sheet(sheet.read_headers(), self.source)
        return sheet


class CalcSheet(Sheet):
    """One sheet of a content, with all of it around."""

    rows = "table-row"
    fixed = re.compile(r'\stable:(?:formula=|number-rows-spanned="(?!1"))')
    number = 0  # of the sheet, from 0

    def number_parts(self) -> Iterator[tuple[int, MarkupToken | XmlNode]]:
        """Yields all of the content, each part with the number of its sheet."""
        number = -1
        for part in super().read_tokens():
            number += isinstance(part, MarkupToken) and part.kind == "open" and part.name == "table:table"
            yield number, part

    def read_headers(self) -> Iterator[tuple[int, list[str]]]:
        """Yields the number and the header of each sheet with cells."""
        last = -1
        for number, part in self.number_parts():
            if number > last and isinstance(part, XmlNode) and (header := self.list_texts(part)):
                last = number
                yield number, header

    def read_tokens(self) -> Iterator[MarkupToken | XmlNode]:
        for number, part in self.number_parts():
            is_other = isinstance(part, XmlNode) and number != self.number
            yield MarkupToken("other", part.raw) if is_other else part

    def read_cells(self, row: XmlNode) -> Iterator[SheetCell]:
        column = 0
        for cell in row.elements:
            count = count_repeats(cell)
            if cell.read("value-type"):
                text = "\n".join(part.text for part in cell.elements if part.name == "p")
                last = min(column + count, MAXIMUM_COLUMNS + 1)  # of more cells, one says that there are too many
                for repeated in range(min(column, MAXIMUM_COLUMNS), last):
                    yield SheetCell(repeated, text, holds_text(cell.tag), cell.read("style-name"))
            column += count

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
        """Returns the cells before a column, and those from it on with how often each is there."""
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
    """Returns in how many columns a cell is; a comment or the like in none."""
    count = cell.read("number-columns-repeated")
    return read_cell_number(count, otherwise=1) if cell.name in CELL_ELEMENTS else 0


def repeat_cell(cell: XmlNode, count: int) -> str:
    """Returns a cell that is there so many times."""
    if count == count_repeats(cell):
        return cell.raw
    return f"{set_attribute(cell.tag, COLUMNS_REPEATED, str(count))}{cell.content}{cell.end}"


def drop_columns(cells: Sequence[tuple[XmlNode, int]], count: int) -> str:
    """Returns cells without the first columns."""
    written = []
    for cell, repeats in cells:
        left = max(0, repeats - count)
        count -= repeats - left
        written += [repeat_cell(cell, left)] if left else []
    return "".join(written)


def write_calc_cell(added: AddedColumn, text: str, style: str) -> str:
    """Returns a cell with a text or a number."""
    attributes = f' table:style-name="{style}"' if style else ""
    if not text:
        return f"<table:table-cell{attributes}/>"
    kind = f'office:value-type="float" office:value="{text}"' if added.is_number else 'office:value-type="string"'
    paragraphs = "".join(f"<text:p>{escape_xml(line)}</text:p>" for line in text.split("\n"))
    return f"<table:table-cell{attributes} {kind}>{paragraphs}</table:table-cell>"
