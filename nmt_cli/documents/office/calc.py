"""Spreadsheets of OpenDocument (ods): the texts of all cells in place, or one column into further ones.

Numbers, dates, formulas and formats are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from nmt_cli.documents.columns import AddedColumn
from nmt_cli.documents.document import DocumentSource, TranslationUnit
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.office.cells import Sheet, SheetCell, choose_sheet
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
        content = CalcSheet(self.open_part(CONTENT_PART), 0)
        sheets = (CalcSheet(self.open_part(CONTENT_PART), number) for number in range(content.count_sheets()))
        by_number = {str(sheet.number): sheet for sheet in sheets}
        return by_number[choose_sheet(iter(by_number.items()), self.source)]


class CalcSheet(Sheet):
    """One sheet of a content, with all of it around."""

    rows = "table-row"

    def __init__(self, source: DocumentSource, number: int) -> None:
        super().__init__(source)
        self.number = number  # of the sheet, from 0
        self.seen = -1  # sheets that have begun

    def count_sheets(self) -> int:
        return self.decoded.text.count("</table:table>")

    def is_row(self, token: MarkupToken) -> bool:
        self.seen += token.name == "table:table"
        return super().is_row(token) and self.seen == self.number

    def read_cells(self, row: XmlNode) -> Iterator[SheetCell]:
        column = 0
        for cell in row.elements:
            count = count_repeats(cell)
            if cell.read("value-type"):
                text = "\n".join(part.text for part in cell.elements if part.name == "p")
                yield SheetCell(column, text, holds_text(cell.tag), cell.read("style-name"))
                column += count - 1
                count = 1
            column += count

    def write_row(self, row: XmlNode, texts: Sequence[tuple[AddedColumn, str]], style: str) -> str:
        new = "".join(write_calc_cell(added, text, style) for added, text in texts)
        before, after = self.split_row(row)
        return f"{row.tag}{before}{new}{drop_columns(after, len(texts))}{row.end}"

    def split_row(self, row: XmlNode) -> tuple[str, list[tuple[XmlNode, int]]]:
        """Returns the cells within the width of the sheet, and those behind it with how often each is there."""
        written, after, column = [], [], 0
        for cell in row.elements:
            count = count_repeats(cell)
            inside = max(0, min(count, self.width - column))
            written += [repeat_cell(cell, inside)] if inside else []
            after += [(cell, count - inside)] if count > inside else []
            column += count
        missing = self.width - column
        written += [f'<table:table-cell {COLUMNS_REPEATED}="{missing}"/>'] if missing > 0 else []
        return "".join(written), after


def count_repeats(cell: XmlNode) -> int:
    """Returns in how many columns a cell is; a comment or the like in none."""
    count = cell.read("number-columns-repeated")
    return 0 if cell.name not in CELL_ELEMENTS else int(count) if count.isascii() and count.isdigit() else 1


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
