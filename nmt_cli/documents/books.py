"""Books in FictionBook (`.fb2`): one XML file with paragraphs, poems, notes and pictures; only their text changes.

    <p>It is <emphasis>cold</emphasis>.<a type="note" l:href="#n1">[1]</a></p>     one text, with marks and a point
    <stanza><v>Roses are red,</v><v>violets are blue.</v></stanza>                  each verse is a text
    <binary id="cover.png">iVBORw0...</binary>                                      kept, as are names and dates

The book's language becomes the target's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.documents.marks import InlineItem
from nmt_cli.documents.office.archive import ParagraphReader
from nmt_cli.documents.xml import XmlNode, decode_xml, make_text_item
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag
from nmt_cli.text.words import has_word

BOOK_PARAGRAPHS = frozenset("p v subtitle text-author book-title th td".split())
KEPT_IN_BOOKS = frozenset("binary author translator document-info publish-info custom-info stylesheet".split())
BOOK_LANGUAGE = re.compile(r"(<lang>)(\s*[\w-]+\s*)(</lang>)")


class BookReader(ParagraphReader):
    paragraphs = BOOK_PARAGRAPHS
    kept = KEPT_IN_BOOKS
    needs_text = frozenset({"a"})

    def read_items(self, node: XmlNode) -> list[InlineItem]:
        return list(self.read_inside(node))

    def read_inside(self, node: XmlNode) -> Iterator[InlineItem]:
        """Yields the text of a paragraph; code and a reference to a note stay as they are."""
        for child in node.children:
            if not isinstance(child, XmlNode):
                yield make_text_item(child)
            elif child.name == "code" and has_word(child.text):
                yield InlineItem("code", (child.raw,))
            elif not child.end or (child.name == "a" and child.read("type") == "note"):
                yield InlineItem("point", (child.raw,))
            else:
                yield InlineItem("open", (child.tag,), name=child.name)
                yield from self.read_inside(child)
                yield InlineItem("close", (child.end,), name=child.name)


class BookDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_xml(self.source)
        text = decoded.text if self.source.reads_back else self.rename_language(decoded.text)
        mark = decoded.mark if isinstance(decoded.mark, bytes) else decoded.mark.encode()
        data = text.encode(decoded.encoding, "xmlcharrefreplace")
        return BookReader().read_units(self.source._replace(lines=[mark + data]), self.notes)

    def rename_language(self, text: str) -> str:
        """Returns a book in the model's source language with the target's as its language."""
        tag = find_language_tag(self.source.target_language)

        def replace_language(match: re.Match[str]) -> str:
            is_source = tag and has_same_primary_tag(match[2].strip(), self.source.source_language)
            return f"{match[1]}{tag}{match[3]}" if is_source else match[0]

        return BOOK_LANGUAGE.sub(replace_language, text, count=1)
