"""Plain text: each line is one text; blank lines stay blank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def format_text(translation: Translation) -> str:
    return flatten_breaks(translation.text) + "\n"


def flatten_breaks(text: str) -> str:
    """Replaces every character that some program takes for a line end by a blank."""
    return text if text.isprintable() else " ".join(text.splitlines())


class TextDocument(Document):
    """Reads lines that end in LF or CR LF; `format_line` writes a translation followed by LF."""

    def __init__(self, source: DocumentSource, line: Callable[[Translation], str] = format_text) -> None:
        super().__init__(source)
        self.format_line = line

    def read_units(self) -> Iterator[TranslationUnit]:
        for text in self.source.decode_lines():
            yield TranslationUnit((text,), self.write_line)

    def write_line(self, translations: Sequence[Translation]) -> str:
        return self.format_line(translations[0])
