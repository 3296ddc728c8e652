"""OpenDocument texts and presentations, and books: XML in an archive (EPUB), or a single XML file (FictionBook)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.documents.html import HtmlDocument
from nmt_cli.documents.marks import InlineItem, make_text
from nmt_cli.documents.office.archive import ArchiveDocument, ParagraphReader, make_point
from nmt_cli.documents.xml import XmlNode, enclose, make_text_item
from nmt_cli.formats.archives import refuse_part
from nmt_cli.text.aligned import Edit
from nmt_cli.text.words import has_word

# OpenDocument: texts (odt) and presentations (odp), with their headers, footers, notes, tables and text boxes.
#
# Spans and links are marks. Fields, bookmarks, references, deleted text, comments and scripts are kept.


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

    def read_items(self, node: XmlNode) -> Iterator[InlineItem]:
        for child in node.children:
            if not isinstance(child, XmlNode):
                yield make_text_item(child)
            elif child.name in PAIRED_ELEMENTS and child.end:
                yield from enclose(child, self.read_items(child))
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
            refuse_part(
                self.source.name, "this is not an OpenDocument file: content.xml is missing", "check the file's name"
            )
        if self.has_part(MANIFEST) and b"encryption-data" in self.read_bytes(MANIFEST):
            refuse_part(self.source.name, "the document is encrypted", "save it without a password")

    def has_text(self, name: str) -> bool:
        """Whether a part is the content of the document or of an embedded object, or holds headers and footers."""
        return name.rpartition("/")[2] in ("content.xml", "styles.xml")

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        return OpenDocumentReader().read_units(self.open_part(name), self.notes)


# Books (EPUB 2 and 3): pages, table of contents and title; the language of the book becomes the target's.
#
# Pages are read as HTML. Styles, pictures, fonts and scripts are kept; a book with encrypted text is refused.


CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
PAGE, CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"


class TextReader(ParagraphReader):
    """Reads plain-text elements: entries of the table of contents, and the title and description of the book."""

    def __init__(self, names: frozenset[str]) -> None:
        self.paragraphs = names

    def read_items(self, node: XmlNode) -> list[InlineItem]:
        return [
            InlineItem("point", (child.raw,)) if isinstance(child, XmlNode) else make_text_item(child)
            for child in node.children
        ]


class EpubDocument(ArchiveDocument):
    kind = "EPUB"

    def check_format(self) -> None:
        if not self.has_part(CONTAINER):
            refuse_part(self.source.name, f"this is not an EPUB file: {CONTAINER} is missing", "check the file's name")
        self.package = next((values.get("full-path", "") for values in self.read_tags(CONTAINER, "rootfile")), "")
        if not self.has_part(self.package):
            refuse_part(self.source.name, "its package document is missing", "check the file with an EPUB checker")
        folder = posixpath.dirname(self.package)
        self.types: dict[str, str] = {}
        for values in self.read_tags(self.package, "item"):
            path = posixpath.normpath(posixpath.join(folder, unquote(values.get("href", ""))))
            self.types[path] = values.get("media-type", "")
        for values in self.read_tags(ENCRYPTION, "CipherReference") if self.has_part(ENCRYPTION) else ():
            if self.types.get(unquote(values.get("uri", ""))) in (PAGE, CONTENTS):  # fonts may be
                refuse_part(self.source.name, "its text is encrypted (DRM)", "use a copy without DRM")

    def has_text(self, name: str) -> bool:
        return name == self.package or self.types.get(name) in (PAGE, CONTENTS)

    def name_chapter(self, name: str) -> str:
        return posixpath.basename(name) if self.types.get(name) == PAGE else ""

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        source = self.open_part(name)
        if name == self.package:
            return TextReader(frozenset({"title", "description"})).read_units(source, self.notes)
        if self.types.get(name) == CONTENTS:
            return TextReader(frozenset({"text"})).read_units(source, self.notes)
        page = HtmlDocument(source)
        page.notes = self.notes
        return page.read_units()


# Books in FictionBook (`.fb2`): one XML file with paragraphs, poems, notes and pictures; only their text changes.
#
#     <p>It is <emphasis>cold</emphasis>.<a type="note" l:href="#n1">[1]</a></p>     one text, with marks and a point
#     <stanza><v>Roses are red,</v><v>violets are blue.</v></stanza>                  each verse is a text
#     <binary id="cover.png">iVBORw0...</binary>                                      kept, as are names and dates
#
# The book's language becomes the target's.


BOOK_PARAGRAPHS = frozenset("p v subtitle text-author book-title th td".split())
KEPT_IN_BOOKS = frozenset("binary author translator document-info publish-info custom-info stylesheet".split())


class BookReader(ParagraphReader):
    paragraphs = BOOK_PARAGRAPHS
    kept = KEPT_IN_BOOKS
    needs_text = frozenset({"a"})

    def read_items(self, node: XmlNode) -> Iterator[InlineItem]:
        """Yields the text of a paragraph; code and note references stay as they are."""
        for child in node.children:
            if not isinstance(child, XmlNode):
                yield make_text_item(child)
            elif child.name == "code" and has_word(child.text):
                yield InlineItem("code", (child.raw,))
            elif not child.end or (child.name == "a" and child.read("type") == "note"):
                yield InlineItem("point", (child.raw,))
            else:
                yield from enclose(child, self.read_items(child))


class BookDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        return BookReader().read_units(self.source, self.notes)
