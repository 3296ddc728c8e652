"""Plain text: each line is one text; blank lines stay blank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit
from nmt_cli.text.line_parts import FileLines, are_plain

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
        source, size = self.source, self.source.part_size
        if not (isinstance(source.lines, FileLines) and size):
            yield from self.read_lines(source)
            return
        for texts, lines in source.lines.read_parts(size):
            if are_plain(lines):
                yield TranslationUnit(texts, self.write_lines)
            else:
                yield from self.read_lines(source._replace(lines=lines, first=texts.part.first))

    def read_lines(self, source: DocumentSource) -> Iterator[TranslationUnit]:
        """Yields a unit for each line."""
        for text in source.decode_lines():
            yield TranslationUnit((text,), self.write_lines)

    def write_lines(self, translations: Sequence[Translation]) -> str:
        return "".join(map(self.format_line, translations))
