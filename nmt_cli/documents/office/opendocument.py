"""OpenDocument: texts (odt) and presentations (odp), with their headers, footers, notes, tables and text boxes.

Spans and links are marks. Fields, bookmarks, references, deleted text, comments and scripts are kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.documents.document import TranslationUnit
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.spelling import make_text
from nmt_cli.documents.office.archive import ArchiveDocument
from nmt_cli.documents.office.parts import ParagraphReader, make_point
from nmt_cli.documents.xml.tree import XmlNode, make_text_item, refuse_part
from nmt_cli.text.aligned import Edit
from nmt_cli.text.words import has_word

PAIRED_ELEMENTS = frozenset("span a meta ruby ruby-base".split())
BREAK_ELEMENTS = frozenset("line-break tab".split())
POINT_ELEMENTS = frozenset("soft-page-break ruby-text hidden-text hidden-paragraph annotation note-citation".split())
MANIFEST = "META-INF/manifest.xml"


class OpenDocumentReader(ParagraphReader):
    paragraphs = frozenset({"p", "h", "title", "desc"})
    kept = frozenset("tracked-changes annotation scripts automatic-styles font-face-decls".split())
    needs_text = frozenset({"a"})

    def is_paragraph(self, name: str) -> bool:
        """Whether an element is a paragraph or describes a picture; a chart's title has paragraphs of its own."""
        return super().is_paragraph(name) and (not name.endswith(("title", "desc")) or name.startswith("svg:"))

    def read_items(self, node: XmlNode) -> list[InlineItem]:
        return list(self.read_children(node))

    def read_children(self, node: XmlNode) -> Iterator[InlineItem]:
        for child in node.children:
            if not isinstance(child, XmlNode):
                yield make_text_item(child)
            elif child.name in PAIRED_ELEMENTS and child.end:
                yield InlineItem("open", (child.tag,), name=child.name)
                yield from self.read_children(child)
                yield InlineItem("close", (child.end,), name=child.name)
            elif child.name == "s":
                yield make_text(child.raw, [Edit(0, len(child.raw), " ")])
            elif child.name in BREAK_ELEMENTS:
                yield InlineItem("break", (child.raw,))
            elif any(child.find_all(self.paragraphs)):
                yield make_point(list(self.read_blocks(child)))
            elif has_word(child.text) and child.name not in POINT_ELEMENTS:
                yield InlineItem("code", (child.raw,))
            else:
                yield make_point(child.raw, keeps_order=child.name not in POINT_ELEMENTS)


class OpenDocument(ArchiveDocument):
    kind = "OpenDocument"

    def check_format(self) -> None:
        if not self.has_part("content.xml"):
            refuse_part(self.source.name, "it is not OpenDocument: it has no content.xml", "check the file's name")
        if self.has_part(MANIFEST) and b"encryption-data" in self.read_bytes(MANIFEST):
            refuse_part(self.source.name, "it is encrypted", "save it without a password")

    def has_text(self, name: str) -> bool:
        """Whether a part is the content of the document or of an embedded object, or holds headers and footers."""
        return name.rpartition("/")[2] in ("content.xml", "styles.xml")

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        return OpenDocumentReader().read_units(self.open_part(name), self.notes)
