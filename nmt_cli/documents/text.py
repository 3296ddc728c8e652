"""Plain text: each line is one text; a blank line stays blank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def format_text(translation: Translation) -> str:
    return flatten_breaks(translation.text) + "\n"


def flatten_breaks(text: str) -> str:
    """Returns a text with a blank for each character that some program takes for the end of a line."""
    return text if text.isprintable() else " ".join(text.splitlines())


class TextDocument(Document):
    """Reads lines that end in LF or CR LF; `format_line` writes a translation with LF at its end."""

    def __init__(self, source: DocumentSource, line: Callable[[Translation], str] = format_text) -> None:
        super().__init__(source)
        self.format_line = line

    def read_units(self) -> Iterator[TranslationUnit]:
        for text in self.source.decode_lines():
            yield TranslationUnit((text,), self.write_line, may_end=True)

    def write_line(self, translations: Sequence[Translation]) -> str:
        return self.format_line(translations[0])
