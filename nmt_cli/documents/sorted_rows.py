"""Tables for review: rows in the order of the confidence in their translations, held until the last is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

UNRATED = 1.0  # of a row whose text is blank


class SortedDocument(Document):
    """A table whose translated rows are written at the end, least sure first; equal ones stay in order."""

    def __init__(self, table: Document) -> None:
        super().__init__(table.source)
        self.table = table
        self.rows: list[tuple[float, str]] = []

    def read_units(self) -> Iterator[TranslationUnit]:
        self.table.notes = self.notes
        for unit in self.table.read_with_domain():
            yield unit._replace(write=partial(self.keep_row, unit)) if unit.texts else unit
        yield TranslationUnit((), self.write_rows)

    def keep_row(self, unit: TranslationUnit, translations: Sequence[Translation]) -> str:
        """Keeps a row until all are there, and writes nothing."""
        confidence = translations[0].confidence
        self.rows.append((UNRATED if confidence is None else confidence, str(unit.write(translations))))
        return ""

    def write_rows(self, _translations: Sequence[Translation]) -> str:
        end = "\r\n" if any(row.endswith("\r\n") for _, row in self.rows) else "\n"
        rows = (row for _, row in sorted(self.rows, key=lambda pair: pair[0]))
        return "".join(row if row.endswith("\n") else row + end for row in rows)
