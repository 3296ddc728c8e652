"""Excel workbooks (xlsx): translates all cells in place, or columns into new columns.

    <c r="B2" s="2" t="s"><v>2</v></c>                 the shared string 2, "good day"
    <c r="D2" s="2" t="inlineStr"><is><t xml:space="preserve">GOOD DAY</t></is></c>     the cell that --column adds

Without --column, the shared strings themselves are translated, each once for all its cells. Numbers, dates, formulas,
formats and widths are kept, as are table headings, since formulas refer to them. Text boxes and charts are translated
as in other Office documents.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from nmt_cli.carrying.kinds import is_amount
from nmt_cli.documents.columns import AddedColumn
from nmt_cli.documents.document import Location, TranslationUnit
from nmt_cli.documents.marks import InlineItem
from nmt_cli.documents.office.cells import Sheet, choose_sheet, spell_column
from nmt_cli.documents.office.openxml import OpenXmlDocument, RunReader
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.documents.strings.syntax import read_plain_items
from nmt_cli.documents.strings.xml_values import LINE_SYNTAX
from nmt_cli.documents.xml import XmlNode, escape_xml, find_attribute, parse_node, read_attribute, set_attribute
from nmt_cli.formats.sheets import Workbook, number_column, read_number
from nmt_cli.text.words import has_letters
from nmt_cli.text.wrapping import format_count

STRINGS_PART, SHEET_PART, TABLE_PART = "sharedStrings+xml", "worksheet+xml", "table+xml"  # how content types end
EXTENT = re.compile(r"(<(?:\w+:)?dimension\s[^<>]*?\bref=[\"'](?:[A-Z]{1,3}\d+:)?)[A-Z]{1,3}(?=\d+[\"'])")
COLUMNS = re.compile(r"(<(?:\w+:)?cols>.*?)(</(?:\w+:)?cols>)", re.DOTALL)
TEXT_HOLDER = re.compile(r"<(?:\w+:)?(?:si|c)(?=[\s>/])(?:[^<>]*?\sr=[\"']([A-Z]+\d+))?")  # a shared string, or a cell
SHARED_CELL = re.compile(
    r"<(?:\w+:)?c\s(?=[^<>]*\st=[\"']s[\"'])(?:[^<>]*?\s)?r=[\"']([A-Z]+\d+)[^<>]*><(?:\w+:)?v>(\d{1,9})<"
)
COLUMN = re.compile(r"<(?:\w+:)?col\s[^<>]*>")
CELL_FORMULA = re.compile(r"<(?:\w+:)?f(?:ormula\d?)?(?:\s[^<>]*)?>([^<]+)")
QUOTED_NOTE = "texts in formulas, left unchanged although cells with the same text were translated"


class CellTextReader(RunReader):
    """Reads the strings of cells: plain ones, which are divided at line breaks, and those that consist of runs."""

    paragraphs = frozenset({"si", "is"})

    def __init__(self, headings: frozenset[str]) -> None:
        self.headings = headings  # of tables, which stay

    def read_paragraph(self, node: XmlNode) -> Iterator[str | Paragraph]:
        text = read_cell_text(node)
        if text in self.headings or not (has_letters(text) or is_amount(text)):  # fast, for there may be a million
            yield node.raw
        elif node.find("r") is not None:
            yield from super().read_paragraph(node)
        else:
            yield node.tag
            for child in node.children:
                is_text = isinstance(child, XmlNode) and child.name == "t" and child.end
                yield from read_plain_text(child) if is_text else [child.raw]  # type: ignore[arg-type]
            yield node.end


def read_plain_text(node: XmlNode) -> Iterator[str | Paragraph]:
    """Yields the text element of a string without runs."""
    yield node.tag
    items: list[InlineItem] = [item for child in node.children for item in read_plain_items(child.raw, LINE_SYNTAX)]
    yield Paragraph(items, escape_xml)
    yield node.end


def read_cell_text(node: XmlNode) -> str:
    """Returns the text of a string, without phonetic readings of Asian characters."""
    parts = (child.find("t") if child.name == "r" else child for child in node.elements if child.name in ("r", "t"))
    return "".join(html.unescape(part.content) for part in parts if part is not None)


class XlsxDocument(OpenXmlDocument):
    kind = "xlsx"
    main = "spreadsheetml"
    parts = (STRINGS_PART, SHEET_PART, "drawing+xml")

    def has_text(self, name: str) -> bool:
        if self.source.config.column:
            return name == self.chosen_sheet
        is_sheet = self.types.get(name, "").endswith(SHEET_PART)
        return super().has_text(name) and not (is_sheet and b"inlineStr" not in self.read_bytes(name))

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        if self.source.config.column:
            return self.open_sheet(name).read_units(self)
        if self.types.get(name, "").endswith((STRINGS_PART, SHEET_PART)):
            return self.locate_cells(name, CellTextReader(self.headings).read_units(self.open_part(name), self.notes))
        return super().read_part(name)

    def locate_cells(self, name: str, units: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
        """Yields the units of a sheet or of the shared strings; units with texts are located at their cells."""
        sheet = self.name_sheet(name)
        number, cell = -1, ""
        for unit in units:
            self.notes += Counter({QUOTED_NOTE: sum(map(self.quoted.__getitem__, unit.texts))})
            yield unit._replace(location=Location("", cell)) if unit.texts and cell else unit
            raw = unit.raw or ""
            for match in TEXT_HOLDER.finditer(raw if isinstance(raw, str) else raw.decode("utf-8", "replace")):
                number += 1
                cell = self.string_cells.get(number, "") if sheet is None else f"{sheet}!{match[1] or ''}"

    def name_sheet(self, name: str) -> str | None:
        """Returns the name of the sheet in this part; None for any other part."""
        return next((title for title, part in self.book.sheets if part == name), None)

    @cached_property
    def string_cells(self) -> dict[int, str]:
        """The cells that use each shared string, by its number: the first one, and how many more."""
        cells: dict[int, list[str]] = {}
        for sheet, part in self.book.sheets:
            data = self.read_bytes(part).decode("utf-8", "replace") if self.has_part(part) else ""
            for reference, number in SHARED_CELL.findall(data):
                cells.setdefault(int(number), []).append(f"{sheet}!{reference}")
        return {
            number: first + (f" and {format_count(len(others), 'more cell')}" if others else "")
            for number, (first, *others) in cells.items()
        }

    @cached_property
    def quoted(self) -> Counter[str]:
        """How often each quoted text occurs in the formulas and rules of all sheets."""
        parts = (
            self.read_bytes(part).decode("utf-8", "replace") for _, part in self.book.sheets if self.has_part(part)
        )
        formulas = (html.unescape(formula) for data in parts for formula in CELL_FORMULA.findall(data))
        return Counter(text for formula in formulas for text in re.findall(r'"([^"]+)"', formula))

    @cached_property
    def headings(self) -> frozenset[str]:
        """The column names of tables, which must equal the texts of their heading cells."""
        names = [name for name, kind in self.types.items() if kind.endswith(TABLE_PART) and self.has_part(name)]
        return frozenset(values.get("name", "") for name in names for values in self.read_tags(name, "tableColumn"))

    @cached_property
    def book(self) -> Workbook:
        return Workbook(self.source.name, lambda name: self.read_bytes(name) if self.has_part(name) else b"")

    @cached_property
    def chosen_sheet(self) -> str:
        """The part with the first sheet, in workbook order, that has the column."""
        names = [part for _, part in self.book.sheets if self.has_part(part)]
        return choose_sheet(((name, self.open_sheet(name).header) for name in names), self)

    def open_sheet(self, name: str) -> WorkbookSheet:
        return WorkbookSheet(self.open_part(name), self.book, self.name_sheet(name) or "")


class WorkbookSheet(Sheet):
    """A worksheet; added cells hold their text inline, in the format of the translated cell."""

    fixed = re.compile(r"<(?:\w+:)?(?:f|mergeCell|hyperlink|legacyDrawing)[\s/>]")

    def number_cells(self, row: XmlNode) -> Iterator[tuple[int, XmlNode]]:
        """Yields all cells of a row with their columns, counted from 0."""
        column = -1
        for cell in row.elements:
            column = number_column(cell.read("r"), otherwise=column + 1)
            yield column, cell

    def write_row(self, row: XmlNode, texts: Sequence[tuple[AddedColumn, str]], style: str, column: int) -> str:
        end = column + len(texts)
        spans = find_attribute(row.tag, "spans")
        tag = row.tag if spans is None else set_attribute(row.tag, "spans", f"1:{max(self.width, end)}")
        prefix = row.tag[1 : row.tag.index(self.book.row_name)]
        numbered = list(self.number_cells(row))
        styles = {index: cell.read("s") for index, cell in numbered}
        before = "".join(cell.raw for index, cell in numbered if index < column)
        after = "".join(cell.raw for index, cell in numbered if index >= end)
        cells = (
            write_cell(f"{spell_column(index)}{row.read('r')}", added, text, styles.get(index, style), prefix)
            for index, (added, text) in enumerate(texts, column)
        )
        return f"{tag}{before}{''.join(cells)}{after}{row.end}"

    def move_row(self, row: str, replaced: str) -> str:
        tree, number = parse_node(row), parse_node(replaced).read("r")
        cells = "".join(
            f"{set_attribute(cell.tag, 'r', f'{spell_column(column)}{number}')}{cell.content}{cell.end}"
            for column, cell in self.number_cells(tree)
        )
        return f"{set_attribute(tree.tag, 'r', number)}{cells}{tree.end}" if number else row

    def widen(self, text: str) -> str:
        """Returns text outside rows, updated for the new extent of the sheet and the width of the added columns."""
        if not self.added:
            return text
        last = self.width + len(self.added)
        corner = rf"\g<1>{spell_column(last - 1)}"
        return COLUMNS.sub(
            lambda match: match[1] + self.write_width(match[1], last) + match[2], EXTENT.sub(corner, text)
        )

    def write_width(self, columns: str, last: int) -> str:
        """Returns the format of the added columns, copied from the translated one; empty where that is not possible."""
        ranges = [
            (tag, *(read_number(read_attribute(tag, name), otherwise=0) for name in ("min", "max")))
            for tag in COLUMN.findall(columns)
        ]
        same = next((tag for tag, low, high in ranges if low <= self.columns[0] + 1 <= high), None)
        if same is None or max(high for _, _, high in ranges) > self.width:
            return ""
        return set_attribute(set_attribute(same, "min", str(self.width + 1)), "max", str(last))


def write_cell(reference: str, added: AddedColumn, text: str, style: str, prefix: str) -> str:
    """Returns a cell with text or a number."""
    attributes = f' r="{reference}"' + (f' s="{style}"' if style else "")
    if added.is_number:
        return f"<{prefix}c{attributes}><{prefix}v>{text}</{prefix}v></{prefix}c>" if text else ""
    content = f'<{prefix}is><{prefix}t xml:space="preserve">{escape_xml(text)}</{prefix}t></{prefix}is>'
    return f'<{prefix}c{attributes} t="inlineStr">{content}</{prefix}c>'
