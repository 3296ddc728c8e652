"""Strings in elements of XML files: Android, .NET resources, drawings (SVG).

    <data name="a"><value>Save file</value></data>      the text "Save file"; its name is a key

Each format defines which elements are strings, and how these are spelled.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from nmt_cli.documents.document import Document, TranslationUnit
from nmt_cli.documents.marks import InlineItem, TextSyntax, Wrapper
from nmt_cli.documents.paragraph import Paragraph, make_units
from nmt_cli.documents.po import find_plural_categories
from nmt_cli.documents.strings.syntax import decode_backslash, is_text, read_plain_items
from nmt_cli.documents.xml import (
    CDATA,
    ENTITY,
    XML_SYNTAX,
    XmlNode,
    decode_reference,
    decode_xml,
    enclose,
    escape_cdata,
    escape_xml,
    get_cdata,
    is_cdata,
    make_text_item,
    read_node,
    strip_prefix,
)
from nmt_cli.formats.xml import MarkupToken, scan_xml

# XML files with texts in elements of certain names: .NET resources and drawings (SVG); `android` has a third kind.
#
# Each class at the end is a row of the table. Everything outside its `elements` is kept byte for byte.


# In which a line break is one.
LINE_SYNTAX = TextSyntax(
    re.compile(rf"{ENTITY}|[ \t]*\r?\n\s*|[ \t]+"),
    lambda written: "\n" if "\n" in written else decode_reference(written),
    escape_xml,
)
LINE_STARTS = ("x", "y", "dy")  # attributes with which a piece of a text begins a line of a drawing


class XmlValueDocument(Document):
    """A file with texts in elements; each subclass describes one format."""

    elements: ClassVar[frozenset[str]]
    syntax = XML_SYNTAX

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_xml(self.source, with_entities=True)
        yield from make_units(self.read_parts(scan_xml(decoded.text)), decoded, self.source, self.notes)

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
    """Yields the text of an element, with inner elements as marks; one that begins a line separates texts."""
    for child in children:
        if isinstance(child, XmlNode):
            if child.children and any(map(child.read, LINE_STARTS)):
                yield InlineItem("break", ("",))
            if child.end:
                yield from enclose(child, read_marked_text(child.children, syntax))
            else:
                yield InlineItem("point", (child.tag,), name=child.name)
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


# Property lists of Apple's programs: a value under a key that begins with the capitals of a library is the program's.
# A rule for plurals gets the categories that the target language has and the file lacks, with the text of `other`.


PROGRAM_KEY = re.compile(r"(?:CF|NS|LS|UI|DT|IT|MK|SK)[A-Z]")
TEXT_KEY = re.compile(r"\w+UsageDescription|NSStringLocalizedFormatKey|CFBundleDisplayName|NSHumanReadableCopyright")
GUESSED_PLURALS = "plural forms of the target language that the file lacks, written as `other`"
PLURAL_RULE = "NSStringPluralRuleType"
PLIST_SYNTAX = TextSyntax(re.compile(ENTITY), html.unescape, escape_xml)  # in which blanks and line breaks stay
FORMAT_CODES = re.compile(r"%#@\w+@|%\d*\$?[@a-z]+")


class PropertyListDocument(XmlValueDocument):
    elements = frozenset({"dict", "array"})

    def read_element(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields a dictionary or an array with its texts; each text follows its key."""
        categories = find_plural_categories(self.source.target_language)
        is_rule = any(child.text == PLURAL_RULE for child in node.elements)
        known = {child.text for child in node.elements if child.name == "key"}
        key, before = "", ""
        yield node.tag
        for child in node.children:
            if not isinstance(child, XmlNode):
                before = child.raw
                yield child.raw
                continue
            yield from self.read_child(child, key)
            key = child.text if child.name == "key" else key
            if is_rule and child.name == "string" and key == "other":
                for category in categories:
                    if category not in known:
                        self.notes[GUESSED_PLURALS] += 1
                        yield f"{before}<key>{category}</key>{before}"
                        yield from self.read_child(child, key)
        yield node.end

    def read_child(self, child: XmlNode, key: str) -> Iterator[str | Paragraph]:
        if child.name in self.elements and child.end:
            yield from self.read_element(child)
        elif child.name != "string" or not (self.source.reads_back or is_text(FORMAT_CODES.sub("", child.text), key)):
            yield child.raw
        elif PROGRAM_KEY.match(key) and not TEXT_KEY.fullmatch(key):
            yield child.raw
        else:
            yield child.tag
            yield Paragraph(list(read_marked_text(child.children, PLIST_SYNTAX)), escape_xml)
            yield child.end


# Strings of an Android app (`strings.xml`): strings, array items and plurals; the rest is kept byte for byte.
#
# Tags such as `<b>` are marks, `<xliff:g>` is code. Strings marked `translatable="false"` and references such as
# `@string/name` are kept.


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


def decode_section(written: str) -> str:
    """Decodes an escape in a CDATA section, where double quotes belong to attributes and are kept."""
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
        else:  # an array or plurals, with each item as a string
            yield node.tag
            for child in node.children:
                yield from read_resource(child, self.source.reads_back) if isinstance(child, XmlNode) else (child.raw,)
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
    """Returns the paragraph of a string; enclosing quotes, which preserve its spaces, stay at its ends."""
    filled = [index for index, item in enumerate(items) if item.raw.strip()]
    ends = {filled[0], filled[-1]} if filled else set()
    if len(ends) < 2 or any(items[index].raw != '"' for index in ends):
        return Paragraph(items, escape_android)
    held = [replace(item, kind="break") if index in ends else item for index, item in enumerate(items)]
    return Paragraph(held, lambda text: escape_android(text).replace("\\'", "'"))  # in quotes, an apostrophe is one


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
        yield from enclose(node, read_children(node.children))
