"""Books (EPUB 2 and 3): pages, table of contents and title; the language of the book becomes the target's.

Pages are read as HTML. Styles, pictures, fonts and scripts are kept; a book with encrypted text is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote

from nmt_cli.documents.document import DocumentSource, TranslationUnit
from nmt_cli.documents.html import HtmlDocument
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.office.archive import ArchiveDocument
from nmt_cli.documents.office.parts import ParagraphReader
from nmt_cli.documents.xml.scanner import map_attributes
from nmt_cli.documents.xml.tree import XmlNode, make_text_item, refuse_part
from nmt_cli.languages.codes import find_language_tag

ITEM = re.compile(r"<(?:\w+:)?item\s[^<>]*>")
CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
ROOT_FILE = re.compile(r"<(?:\w+:)?rootfile\s[^<>]*>")
CIPHER = re.compile(r"<(?:\w+:)?CipherReference\s[^<>]*>")
DUBLIN_CORE_LANGUAGE = re.compile(r"(<dc:language\b[^<>]*>)([^<]*)(?=</dc:language>)")
PAGE, CONTENTS = "application/xhtml+xml", "application/x-dtbncx+xml"


class TextReader(ParagraphReader):
    """Reads elements of plain text: labels of the table of contents, titles of the book."""

    def __init__(self, names: frozenset[str]) -> None:
        self.paragraphs = names

    def read_items(self, node: XmlNode) -> list[InlineItem]:
        return [
            InlineItem("point", (child.raw,)) if isinstance(child, XmlNode) else make_text_item(child)
            for child in node.children
        ]


class EpubDocument(ArchiveDocument):
    kind = "EPUB"

    def __init__(self, source: DocumentSource) -> None:
        super().__init__(source)
        self.package = ""
        self.types: dict[str, str] = {}

    def check_format(self) -> None:
        if not self.has_part(CONTAINER):
            refuse_part(self.source.name, f"it is not EPUB: it has no {CONTAINER}", "check the file's name")
        root = ROOT_FILE.search(self.read_bytes(CONTAINER).decode("utf-8", "replace"))
        self.package = map_attributes(root[0]).get("full-path", "") if root else ""
        if not self.has_part(self.package):
            refuse_part(self.source.name, "its package document is missing", "check the file with an EPUB checker")
        folder = posixpath.dirname(self.package)
        for item in ITEM.findall(self.read_bytes(self.package).decode("utf-8", "replace")):
            values = map_attributes(item)
            path = posixpath.normpath(posixpath.join(folder, unquote(values.get("href", ""))))
            self.types[path] = values.get("media-type", "")
        self.check_encryption()

    def check_encryption(self) -> None:
        """Raises DataError if the text is encrypted; fonts may be."""
        if not self.has_part(ENCRYPTION):
            return
        for reference in CIPHER.findall(self.read_bytes(ENCRYPTION).decode("utf-8", "replace")):
            if self.types.get(unquote(map_attributes(reference).get("uri", ""))) in (PAGE, CONTENTS):
                refuse_part(self.source.name, "its text is encrypted (DRM)", "use a copy without it")

    def has_text(self, name: str) -> bool:
        return name == self.package or self.types.get(name) in (PAGE, CONTENTS)

    def name_chapter(self, name: str) -> str:
        return posixpath.basename(name) if self.types.get(name) == PAGE else ""

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        source = self.open_part(name)
        if name == self.package:
            return TextReader(frozenset({"title", "description"})).read_units(self.set_language(source), self.notes)
        if self.types.get(name) == CONTENTS:
            return TextReader(frozenset({"text"})).read_units(source, self.notes)
        page = HtmlDocument(source)
        page.notes = self.notes
        return page.read_units()

    def set_language(self, source: DocumentSource) -> DocumentSource:
        """Returns the package document with the target as the book's language."""
        tag = find_language_tag(self.source.target_language)
        text = b"".join(source.lines).decode("utf-8", "surrogateescape")
        text = DUBLIN_CORE_LANGUAGE.sub(lambda match: f"{match[1]}{tag or match[2]}", text, count=1)
        return source._replace(lines=[text.encode("utf-8", "surrogateescape")])
