"""Tables and sheets for review: rows in the order of the confidence in their translations, held until the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

UNRATED = 1.0  # of a row whose text is blank


def rate_row(translation: Translation) -> float:
    return UNRATED if translation.confidence is None else translation.confidence


def write_text(unit: TranslationUnit, translations: Sequence[Translation]) -> str:
    written = unit.write(translations)
    return written if isinstance(written, str) else written.decode("utf-8")


class SortedRows:
    """The rows of a sheet: those that are translated change places among each other, all else stays."""

    def __init__(self, move_row: Callable[[str, str], str]) -> None:
        self.move_row = move_row  # writes a row in the place of another
        self.parts: list[tuple[float | None, str]] = []  # the confidence of rows that are translated

    def keep_part(self, text: str, translation: Translation | None = None) -> str:
        """Keeps a part until all are there, and writes nothing."""
        self.parts.append((None if translation is None else rate_row(translation), text))
        return ""

    def list_rows(self) -> Iterator[str]:
        """Yields all parts, translated rows least sure first; equal ones stay in order."""
        rated = [(confidence, text) for confidence, text in self.parts if confidence is not None]
        rows = (row for _, row in sorted(rated, key=lambda pair: pair[0]))
        for confidence, text in self.parts:
            yield text if confidence is None else self.move_row(next(rows), text)


class SortedDocument(Document):
    """A table whose translated rows are written at the end, least sure first; equal ones stay in order."""

    def __init__(self, table: Document) -> None:
        super().__init__(table.source)
        self.table = table
        self.rows: list[tuple[float, str]] = []

    def read_units(self) -> Iterator[TranslationUnit]:
        self.table.report_to(self)
        for unit in self.table.read_with_domain():
            yield unit._replace(write=partial(self.keep_row, unit)) if unit.texts else unit
        yield TranslationUnit((), self.write_rows)

    def keep_row(self, unit: TranslationUnit, translations: Sequence[Translation]) -> str:
        """Keeps a row until all are there, and writes nothing."""
        self.rows.append((rate_row(translations[0]), write_text(unit, translations)))
        return ""

    def write_rows(self, _translations: Sequence[Translation]) -> str:
        end = "\r\n" if any(row.endswith("\r\n") for _, row in self.rows) else "\n"
        rows = (row for _, row in sorted(self.rows, key=lambda pair: pair[0]))
        return "".join(row if row.endswith("\n") else row + end for row in rows)
