"""XML files with texts in elements of certain names: .NET resources and drawings (SVG); `android` has a third kind.

Each class at the end is a row of the table. Everything outside its `elements` is kept byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from nmt_cli.documents.document import Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.paragraph import Paragraph, make_units
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.documents.strings.syntax import is_text, read_plain_items
from nmt_cli.documents.xml.scanner import ENTITY, MarkupToken, decode_reference
from nmt_cli.documents.xml.tree import (
    XML_SYNTAX,
    XmlNode,
    decode_xml,
    escape_xml,
    make_text_item,
    read_node,
    scan_xml,
    strip_prefix,
)

# In which a line break is one.
LINE_SYNTAX = TextSyntax(
    re.compile(rf"{ENTITY}|[ \t]*\r?\n\s*|[ \t]+"),
    lambda written: "\n" if "\n" in written else decode_reference(written),
    escape_xml,
)
LINE_STARTS = ("x", "y", "dy")  # attributes with which a piece of a text begins a line of a drawing


class XmlValueDocument(Document):
    """A file with texts in elements; its subclasses are the table."""

    elements: ClassVar[frozenset[str]]
    syntax = XML_SYNTAX

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_xml(self.source, with_entities=True)
        yield make_verbatim_unit(decoded.mark)
        yield from make_units(
            self.read_parts(scan_xml(decoded.text)), self.notes, decoded.encode, reads_back=self.source.reads_back
        )

    def read_parts(self, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        """Yields texts as paragraphs and everything else unchanged."""
        for token in tokens:
            if token.kind == "open" and strip_prefix(token.name) in self.elements:
                yield from self.read_element(read_node(tokens, token))
            else:
                yield token.raw

    def read_element(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields an element with its content as a paragraph."""
        yield node.tag
        yield Paragraph(list(read_marked_text(node.children, self.syntax)), escape_xml)
        yield node.end


def read_marked_text(children: Sequence[XmlNode | MarkupToken], syntax: TextSyntax) -> Iterator[InlineItem]:
    """Yields the text of an element, with inner elements as marks; one that begins a line separates it."""
    for child in children:
        if isinstance(child, XmlNode):
            if child.children and any(map(child.read, LINE_STARTS)):
                yield InlineItem("break", ("",))
            is_pair = bool(child.end)
            yield InlineItem("open" if is_pair else "point", (child.tag,), name=child.name)
            yield from read_marked_text(child.children, syntax)
            yield from (InlineItem("close", (child.end,), name=child.name) for _ in range(is_pair))
        elif child.kind == "text":
            yield from read_plain_items(child.raw, syntax)
        else:
            yield make_text_item(child)


class DrawingDocument(XmlValueDocument):
    """SVG: texts, titles and descriptions."""

    elements = frozenset({"text", "title", "desc"})


class ResourceDocument(XmlValueDocument):
    """.NET resources: values without a type, which are neither pictures nor numbers."""

    elements = frozenset({"data"})
    syntax = LINE_SYNTAX

    def read_element(self, node: XmlNode) -> Iterator[str | Paragraph]:
        name, value = node.read("name"), node.find("value")
        if node.read("type") or node.read("mimetype") or name[:2] == ">>" or value is None:
            yield node.raw
            return
        yield node.tag
        for child in node.children:
            is_value = child is value and (self.source.reads_back or is_text(value.text, name))
            yield from super().read_element(value) if is_value else (child.raw,)
        yield node.end
