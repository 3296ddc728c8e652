"""XML parts of an archive: paragraphs are translated, the rest is kept byte for byte."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence

from nmt_cli.documents.document import DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.marks.items import InlineItem, Wrapper
from nmt_cli.documents.marks.paragraph import Paragraph, make_units
from nmt_cli.documents.marks.spelling import read_spelled_text
from nmt_cli.documents.xml.scanner import ATTRIBUTE_SYNTAX, MarkupToken, escape_attribute, read_attributes
from nmt_cli.documents.xml.tree import XmlNode, decode_xml, escape_xml, read_node, scan_xml, strip_prefix
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag

DESCRIBED = frozenset({"docPr", "cNvPr"})  # of pictures and shapes, in Office Open XML
DESCRIPTION_ATTRIBUTES = ("descr", "title")
LANGUAGE_ATTRIBUTE = re.compile(
    r'(?P<before><w:lang\b[^<>]*?\bw:val="|<a:(?:r|def|endPara)RPr\b[^<>]*?\blang="|\bfo:language=")'
    r'(?P<language>[A-Za-z]{2,3}(?:-\w+)*)"(?P<country> fo:country=")?(?(country)\w+")'
)
FILE_NAME = re.compile(r"\S+\.\w{2,4}")


class ParagraphReader(ABC):
    """Reads the paragraphs of a part; a format defines which elements are paragraphs, and their content."""

    paragraphs: frozenset[str]  # local names
    kept: frozenset[str] = frozenset()  # elements that are kept with all inside them
    needs_text: frozenset[str] = frozenset()

    def read_units(self, source: DocumentSource, notes: Counter[str]) -> Iterator[TranslationUnit]:
        """Yields the units of a part."""
        decoded = decode_xml(source)
        yield make_verbatim_unit(decoded.mark)
        tokens = scan_xml(set_language(decoded.text, source.source_language, source.target_language))
        parts = (part for token in tokens for part in self.read_token(token, tokens))
        yield from make_units(parts, notes, decoded.encode, reads_back=source.reads_back)

    def read_token(self, token: MarkupToken, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        name = strip_prefix(token.name)
        if token.kind != "open" or not (self.is_paragraph(token.name) or name in self.kept):
            yield from [token.raw] if token.kind == "close" else read_tag(token.raw, name)
            return
        node = read_node(tokens, token)
        yield from [node.raw] if name in self.kept else self.read_paragraph(node)

    def is_paragraph(self, name: str) -> bool:
        """Whether an element with this name, possibly prefixed, is a paragraph."""
        return strip_prefix(name) in self.paragraphs

    def read_paragraph(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields a paragraph between its tags."""
        yield node.tag
        yield Paragraph(self.read_items(node), escape_xml, self.needs_text)
        yield node.end

    def read_blocks(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields an element within a paragraph that has paragraphs of its own."""
        if node.name in self.paragraphs and self.is_paragraph(node.tag[1:].split(maxsplit=1)[0].rstrip("/>")):
            yield from self.read_paragraph(node)
        elif node.name in self.kept or not any(node.find_all(self.paragraphs | DESCRIBED)):
            yield from [node.raw] if node.name not in DESCRIBED else read_tag(node.raw, node.name)
        else:
            yield from read_tag(node.tag, node.name)
            for child in node.children:
                yield from self.read_blocks(child) if isinstance(child, XmlNode) else (child.raw,)
            yield node.end

    @abstractmethod
    def read_items(self, node: XmlNode) -> list[InlineItem]:
        """Returns the items of a paragraph."""


def set_language(text: str, source: str, target: str) -> str:
    """Replaces the source's proofing language in a part by the target's."""
    tag = find_language_tag(target)
    if not tag or has_same_primary_tag(source, target):
        return text

    def replace_language(match: re.Match[str]) -> str:
        if not has_same_primary_tag(match["language"], source):
            return match[0]
        country = match["country"] and f'{match["country"]}none"'  # of OpenDocument
        return f'{match["before"]}{tag}"{country or ""}'

    return LANGUAGE_ATTRIBUTE.sub(replace_language, text)


def read_tag(tag: str, name: str) -> Iterator[str | Paragraph]:
    """Yields a tag; attributes that describe a picture are paragraphs, unless they name a file."""
    position = 0
    for attribute in read_attributes(tag) if name in DESCRIBED else ():
        is_text = any(map(str.isalpha, attribute.value)) and not FILE_NAME.fullmatch(attribute.value)
        if attribute.name in DESCRIPTION_ATTRIBUTES and is_text:
            raw = tag[attribute.start : attribute.end]
            yield tag[position : attribute.start]
            yield Paragraph([read_spelled_text(raw, ATTRIBUTE_SYNTAX)], escape_attribute)
            position = attribute.end
    yield tag[position:]


def make_point(
    raw: str | Sequence[str | Paragraph], wrappers: Sequence[Wrapper] = (), *, name: str = "", keeps_order: bool = False
) -> InlineItem:
    template = (raw,) if isinstance(raw, str) else tuple(raw)
    return InlineItem("point", template, name=name, wrappers=tuple(wrappers), keeps_order=keeps_order)
