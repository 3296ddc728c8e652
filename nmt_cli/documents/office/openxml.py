"""Office Open XML: word processing (docx) and presentations (pptx).

Translates the main text with its tables and text boxes, headers, footers, footnotes and endnotes; slides with their
notes; charts and diagrams. Keeps comments, properties, styles, layouts and macros.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from nmt_cli.documents.document import DocumentSource, TranslationUnit
from nmt_cli.documents.office.archive import ArchiveDocument
from nmt_cli.documents.office.runs import RunReader
from nmt_cli.documents.xml.scanner import map_attributes
from nmt_cli.documents.xml.tree import refuse_part

CONTENT_TYPES = "[Content_Types].xml"
OVERRIDE = re.compile(r"<(?:\w+:)?Override\s[^<>]*>")
SHARED_PARTS = ("drawingml.chart+xml", "drawingml.diagramData+xml", "ms-office.drawingml.diagramDrawing+xml")


class OpenXmlDocument(ArchiveDocument):
    main: str  # how the content type of the main part ends
    parts: tuple[str, ...]  # how those of the parts with text end

    def __init__(self, source: DocumentSource) -> None:
        super().__init__(source)
        self.types: dict[str, str] = {}

    def check_format(self) -> None:
        if not self.has_part(CONTENT_TYPES):
            refuse_part(self.source.name, f"it is not {self.kind}: it has no {CONTENT_TYPES}", "check the file's name")
        text = self.read_bytes(CONTENT_TYPES).decode("utf-8", "replace")
        for override in OVERRIDE.findall(text):
            values = map_attributes(override)
            self.types[html.unescape(values.get("partname", "")).lstrip("/")] = values.get("contenttype", "")
        if not any(self.main in kind for kind in self.types.values()):
            refuse_part(self.source.name, f"it is not {self.kind}", "name its format with --format")

    def has_text(self, name: str) -> bool:
        return self.types.get(name, "").endswith((*self.parts, *SHARED_PARTS))

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        return RunReader().read_units(self.open_part(name), self.notes)


class DocxDocument(OpenXmlDocument):
    kind = "docx"
    main = "wordprocessingml"
    parts = (
        "wordprocessingml.document.main+xml",
        "wordprocessingml.template.main+xml",
        "ms-word.document.macroEnabled.main+xml",
        "wordprocessingml.header+xml",
        "wordprocessingml.footer+xml",
        "wordprocessingml.footnotes+xml",
        "wordprocessingml.endnotes+xml",
        "wordprocessingml.styles+xml",  # for the language of the document
    )


class PptxDocument(OpenXmlDocument):
    kind = "pptx"
    main = "presentationml"
    parts = ("presentationml.slide+xml", "presentationml.notesSlide+xml")
