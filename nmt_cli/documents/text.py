"""Plain text: each line is a text, and a blank line stays blank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, Source, TranslationUnit

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


def text_line(translation: Translation) -> str:
    return translation.text + "\n"


class TextDocument(Document):
    """Lines end at LF or CR LF on the way in, and at LF on the way out; `line` writes a translation with that end."""

    def __init__(self, source: Source, line: Callable[[Translation], str] = text_line) -> None:
        super().__init__(source)
        self.line = line

    def units(self) -> Iterator[TranslationUnit]:
        for text in self.source.text_lines():
            yield TranslationUnit((text,), self.written)

    def written(self, translations: Sequence[Translation]) -> str:
        return self.line(translations[0])
