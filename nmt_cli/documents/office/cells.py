"""Shared by spreadsheets: one column translated into further columns of the first sheet that has it, row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from nmt_cli.documents.columns import (
    AddedColumn,
    find_column_index,
    format_cell,
    has_header,
    list_added_columns,
    require_languages,
)
from nmt_cli.documents.document import DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import XmlNode, decode_xml, read_node, scan_xml, strip_prefix
from nmt_cli.errors import DataError

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


@dataclass(frozen=True)
class SheetCell:
    """A cell: its column from 0, its text, whether that is to be translated, and its style."""

    column: int
    text: str
    is_text: bool
    style: str


class Sheet(ABC):
    """The XML of a sheet whose rows get further cells; a format says how rows and cells are written."""

    rows: str  # the local name of a row

    def __init__(self, source: DocumentSource) -> None:
        self.source = source

    @cached_property
    def decoded(self) -> DecodedText:
        return decode_xml(self.source)

    @cached_property
    def tokens(self) -> list[MarkupToken | XmlNode]:
        """The sheet: its rows as trees, all else as tokens."""
        tokens = scan_xml(self.decoded.text)
        return [read_node(tokens, token) if token.kind == "open" and self.is_row(token) else token for token in tokens]

    def is_row(self, token: MarkupToken) -> bool:
        return strip_prefix(token.name) == self.rows

    @cached_property
    def cells(self) -> dict[int, list[SheetCell]]:
        """The cells that are not empty, by the index of their row among the tokens."""
        rows = ((index, row) for index, row in enumerate(self.tokens) if isinstance(row, XmlNode))
        cells = {index: list(self.read_cells(row)) for index, row in rows}
        return {index: filled for index, filled in cells.items() if filled}

    @cached_property
    def width(self) -> int:
        return max(cell.column + 1 for cells in self.cells.values() for cell in cells)

    @cached_property
    def header(self) -> list[str]:
        """The texts of the first row with cells."""
        texts = {cell.column: cell.text for cell in next(iter(self.cells.values()), [])}
        return [texts.get(column, "") for column in range(max(texts, default=-1) + 1)]

    @abstractmethod
    def read_cells(self, row: XmlNode) -> Iterator[SheetCell]:
        """Yields the cells of a row that are not empty, in order."""

    @abstractmethod
    def write_row(self, row: XmlNode, texts: Sequence[tuple[AddedColumn, str]], style: str) -> str:
        """Returns a row with further cells behind the width of the sheet."""

    def write_tag(self, tag: str, column: int) -> str:
        """Returns a tag outside of rows, in a sheet that gets wider; `column` is the one that is translated."""
        return tag

    def read_units(self) -> Iterator[TranslationUnit]:
        """Yields the units of the sheet, one per row."""
        column = find_column_index(self.source, self.header)
        self.added = list_added_columns(self.source, self.header if has_header(self.source) else [])
        head = min(self.cells, default=-1) if has_header(self.source) else -1
        yield make_verbatim_unit(self.decoded.mark)
        for index, token in enumerate(self.tokens):
            cell = next((cell for cell in self.cells.get(index, ()) if cell.column == column), None)
            if isinstance(token, MarkupToken):
                yield self.keep(self.write_tag(token.raw, column))
            elif index == head:
                style = "" if cell is None else cell.style
                yield self.keep(self.write_row(token, [(added.as_text(), added.name) for added in self.added], style))
            elif cell is None or not cell.is_text or not cell.text.strip():
                yield self.keep(token.raw)
            else:
                yield self.make_unit(token, cell)

    def keep(self, text: str) -> TranslationUnit:
        return make_verbatim_unit(self.decoded.encode(text))

    def make_unit(self, row: XmlNode, cell: SheetCell) -> TranslationUnit:
        def write_row(translations: Sequence[Translation]) -> str | bytes:
            texts = [(added, added.format(translations[0])) for added in self.added]
            return self.decoded.encode(self.write_row(row, texts, cell.style))

        return TranslationUnit((format_cell(cell.text),), write_row)


def choose_sheet(sheets: Iterator[tuple[str, Sheet]], source: DocumentSource) -> str:
    """Returns the name of the first sheet with the column. Raises DataError if none has it."""
    require_languages(source)
    error: DataError | None = None
    for name, sheet in sheets:
        if not sheet.cells:
            continue
        try:
            find_column_index(source, sheet.header)
        except DataError as problem:
            error = error or problem
        else:
            return name
    raise error or DataError(f"{source.name} has no cells", hint="name another file")
