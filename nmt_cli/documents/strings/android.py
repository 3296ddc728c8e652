"""Strings of an Android app (`strings.xml`): strings, array items and plurals; the rest is kept byte for byte.

Tags such as `<b>` are marks, `<xliff:g>` is code. Strings marked `translatable="false"` and references such as
`@string/name` are kept.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nmt_cli.documents.marks.items import InlineItem, Wrapper
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.documents.strings.syntax import decode_backslash, is_text, read_plain_items
from nmt_cli.documents.strings.xml_values import XmlValueDocument
from nmt_cli.documents.xml.scanner import ENTITY, MarkupToken
from nmt_cli.documents.xml.tree import (
    CDATA,
    XmlNode,
    escape_cdata,
    escape_xml,
    get_cdata,
    is_cdata,
)

ANDROID_ESCAPES = re.compile(rf"{ENTITY}|(?:\\u[0-9a-fA-F]{{4}})+|\\.|[ \t\r\n]+|[&<>\"']", re.DOTALL)
ANDROID_SPELLINGS = str.maketrans({"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n"})


def decode_android(written: str) -> str:
    if written.isspace():
        return " "
    if written == '"':
        return ""
    return decode_backslash(written) if written.startswith("\\") else html.unescape(written)


def escape_android(text: str) -> str:
    """Escapes plain text for a string resource."""
    return escape_xml(text.translate(ANDROID_SPELLINGS))


def escape_quoted(text: str) -> str:
    """Escapes plain text for a string resource in quotes, in which an apostrophe is one."""
    return escape_android(text).replace("\\'", "'")


def decode_section(written: str) -> str:
    """Decodes an escape of a CDATA section, in which quotes are those of attributes."""
    return written if written == '"' else decode_android(written)


def escape_section(text: str) -> str:
    """Escapes plain text for a CDATA section of a string resource."""
    return escape_cdata(text.translate(ANDROID_SPELLINGS))


TEXT_SYNTAX = TextSyntax(ANDROID_ESCAPES, decode_android, escape_android)
SECTION_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.|[ \t\r\n]+|[\"']", re.DOTALL)
SECTION_SYNTAX = TextSyntax(SECTION_ESCAPES, decode_section, escape_section)


class AndroidDocument(XmlValueDocument):
    elements = frozenset({"string", "plurals", "string-array"})

    def read_element(self, node: XmlNode) -> Iterator[str | Paragraph]:
        if node.read("translatable") == "false":
            yield node.raw
        elif node.name == "string":
            yield from read_resource(node, self.source.reads_back)
        else:
            yield from read_items_of(node, self.source.reads_back)


def read_items_of(node: XmlNode, reads_all: bool) -> Iterator[str | Paragraph]:
    """Yields an array or plurals, with each item as a string."""
    yield node.tag
    for child in node.children:
        yield from read_resource(child, reads_all) if isinstance(child, XmlNode) else (child.raw,)
    yield node.end


def read_resource(node: XmlNode, reads_all: bool) -> Iterator[str | Paragraph]:
    """Yields a string between its tags, unchanged if it is not text for people."""
    if not (reads_all or is_text(node.text) or node.elements):
        yield node.raw
        return
    yield node.tag
    yield make_value(list(read_children(node.children)))
    yield node.end


def make_value(items: list[InlineItem]) -> Paragraph:
    """Returns the paragraph of a string; the quotes around it, which keep its blanks, stay at its ends."""
    filled = [index for index, item in enumerate(items) if item.raw.strip()]
    ends = {filled[0], filled[-1]} if filled else set()
    if len(ends) < 2 or any(items[index].raw != '"' for index in ends):
        return Paragraph(items, escape_android)
    held = [replace(item, kind="break") if index in ends else item for index, item in enumerate(items)]
    return Paragraph(held, escape_quoted)


def read_children(children: Sequence[XmlNode | MarkupToken]) -> Iterator[InlineItem]:
    for child in children:
        if isinstance(child, XmlNode):
            yield from read_element(child)
        elif child.kind == "text":
            yield from read_plain_items(child.raw, TEXT_SYNTAX)
        elif is_cdata(child):
            section = Wrapper(CDATA, "]]>", escape=escape_section)
            yield from read_plain_items(get_cdata(child), SECTION_SYNTAX, (section,))
        else:
            yield InlineItem("point", (child.raw,))


def read_element(node: XmlNode) -> Iterator[InlineItem]:
    """Yields an element within a string: a mark, or code that the app fills in."""
    if node.name == "g" and ":" in node.tag:
        yield InlineItem("code", (node.raw,))
    elif node.name == "br" or not node.end:
        yield InlineItem("point", (node.raw,))
    else:
        yield InlineItem("open", (node.tag,), name=node.name)
        yield from read_children(node.children)
        yield InlineItem("close", (node.end,), name=node.name)
