"""Plain text: each line is a text, and a blank line stays blank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def decode_line(translation: Translation) -> str:
    return translation.text + "\n"


class TextDocument(Document):
    """Lines end at LF or CR LF on the way in, and at LF on the way out; `line` writes a translation with that end."""

    def __init__(self, source: DocumentSource, line: Callable[[Translation], str] = decode_line) -> None:
        super().__init__(source)
        self.line = line

    def read_units(self) -> Iterator[TranslationUnit]:
        for text in self.source.decode_lines():
            yield TranslationUnit((text,), self.write_line)

    def write_line(self, translations: Sequence[Translation]) -> str:
        return self.line(translations[0])
