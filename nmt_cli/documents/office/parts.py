"""Parts of an archive as XML in which paragraphs are translated; all else in a part stays byte for byte."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence

from nmt_cli.documents.document import DocumentSource, TranslationUnit, keep_verbatim
from nmt_cli.documents.marks.items import InlineItem, Wrapper
from nmt_cli.documents.marks.paragraph import Paragraph, make_units
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import XmlNode, decode_xml, escape_xml, read_node, scan_xml, strip_prefix


class ParagraphReader(ABC):
    """Reads the paragraphs of a part; a format says which elements are paragraphs, and what is in one."""

    paragraphs: frozenset[str]  # local names
    kept: frozenset[str] = frozenset()  # elements that are kept with all inside them
    needs_text: frozenset[str] = frozenset()

    def read_units(self, source: DocumentSource, notes: Counter[str]) -> Iterator[TranslationUnit]:
        """Yields the units of a part."""
        decoded = decode_xml(source)
        yield keep_verbatim(decoded.mark)
        tokens = scan_xml(decoded.text)
        parts = (part for token in tokens for part in self.read_token(token, tokens))
        yield from make_units(parts, notes, decoded.encode)

    def read_token(self, token: MarkupToken, tokens: Iterator[MarkupToken]) -> Iterator[str | Paragraph]:
        name = strip_prefix(token.name)
        if token.kind != "open" or not (name in self.paragraphs or name in self.kept):
            yield token.raw
            return
        node = read_node(tokens, token)
        yield from [node.raw] if name in self.kept else self.read_paragraph(node)

    def read_paragraph(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields a paragraph between its tags."""
        yield node.tag
        yield Paragraph(self.read_items(node), escape_xml, self.needs_text)
        yield node.end

    def read_blocks(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields an element that stands inside a paragraph and has paragraphs of its own inside it."""
        if node.name in self.paragraphs:
            yield from self.read_paragraph(node)
        elif node.name in self.kept or not any(node.find_all(self.paragraphs)):
            yield node.raw
        else:
            yield node.tag
            for child in node.children:
                yield from self.read_blocks(child) if isinstance(child, XmlNode) else (child.raw,)
            yield node.end

    @abstractmethod
    def read_items(self, node: XmlNode) -> list[InlineItem]:
        """Returns what is in a paragraph."""


def make_point(
    raw: str | Sequence[str | Paragraph], wrappers: Sequence[Wrapper] = (), *, name: str = "", keeps_order: bool = False
) -> InlineItem:
    template = (raw,) if isinstance(raw, str) else tuple(raw)
    return InlineItem("point", template, name=name, wrappers=tuple(wrappers), keeps_order=keeps_order)


def has_word(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))
