"""Translation memories (TMX): each unit without a variant in the target language gets one; all others are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import (
    XmlNode,
    decode_xml,
    escape_xml,
    make_text_item,
    read_node,
    refuse_part,
    scan_xml,
    strip_prefix,
)
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag
from nmt_cli.text.wrapping import shorten_text
from nmt_cli.translation.result import drop_doubt_mark

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

LONGEST_LIST = 60  # characters of the languages of a file, as they are shown
HALVES = {"bpt": "open", "ept": "close"}  # of a pair of codes, which have the same number


class TmxDocument(Document):
    def __init__(self, source: DocumentSource) -> None:
        super().__init__(source)
        self.has_source = False  # whether any unit has a text in the model's source language
        self.languages: dict[str, None] = {}

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_xml(self.source)
        yield make_verbatim_unit(decoded.mark)
        tokens = scan_xml(decoded.text)
        for token in tokens:
            if token.kind == "open" and strip_prefix(token.name) == "tu":
                yield self.make_unit(read_node(tokens, token), decoded)
            else:
                yield make_verbatim_unit(decoded.encode(token.raw))
        if self.languages and not self.has_source:
            languages = shorten_text(", ".join(self.languages), LONGEST_LIST)
            refuse_part(
                self.source.name,
                f"it has the languages {languages}, and the model translates from "
                f"{find_language_tag(self.source.source_language)}",
                "name another --model",
            )

    def make_unit(self, node: XmlNode, decoded: DecodedText) -> TranslationUnit:
        """Returns a unit with its variant in the target language; verbatim if that is there, or has no source."""
        source = self.find_variant(node, self.source.source_language)
        target = self.find_variant(node, self.source.target_language)
        segment = source and source.find("seg")
        self.has_source |= source is not None
        is_done = (
            target is not None
            and target.text.strip()
            and not (self.source.config.retranslate or self.source.reads_back)
        )
        if source is None or segment is None or is_done:
            return make_verbatim_unit(decoded.encode(node.raw))
        paragraph = Paragraph(list(read_segment(segment.children)), escape_xml)
        written = target.find("seg") if self.source.reads_back and target is not None else None
        held = paragraph if written is None else Paragraph(list(read_segment(written.children)), escape_xml)

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            text = paragraph.write(map(drop_doubt_mark, translations), self.notes)
            return decoded.encode(self.write_variant(node, source, target, text))

        return TranslationUnit(paragraph.texts, write_unit, raw=decoded.encode(node.raw), content=held.content)

    def find_variant(self, node: XmlNode, language: str) -> XmlNode | None:
        """Returns the first variant in a language; regional varieties count as one."""
        for variant in node.elements:
            if variant.name == "tuv":
                self.languages[variant.read("lang")] = None
                if has_same_primary_tag(variant.read("lang"), language):
                    return variant
        return None

    def write_variant(self, node: XmlNode, source: XmlNode, target: XmlNode | None, text: str) -> str:
        """Returns a unit with `text` in the target language, in place of an empty variant or behind the source."""
        children = []
        for index, child in enumerate(node.children):
            if child is target and target is not None:
                children.append(write_segment_text(target, text))
                continue
            children.append(child.raw)
            if child is source and target is None:
                before = node.children[index - 1].raw if index else ""
                tag = find_language_tag(self.source.target_language) or self.source.target_language
                variant = f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>'
                children.append((before if not before.strip() else "") + variant)
        return f"{node.tag}{''.join(children)}{node.end}"


def write_segment_text(variant: XmlNode, text: str) -> str:
    """Returns a variant with another text."""
    rest = "".join(child.raw for child in variant.children if not (isinstance(child, XmlNode) and child.name == "seg"))
    return f"{variant.tag}{rest}<seg>{text}</seg>{variant.end}"


def read_segment(children: Sequence[XmlNode | MarkupToken]) -> Iterator[InlineItem]:
    """Yields the text of a segment with its codes as marks."""
    for child in children:
        if not isinstance(child, XmlNode):
            yield make_text_item(child)
        elif child.name in HALVES:
            yield InlineItem(HALVES[child.name], (child.raw,), name=child.read("i"))  # type: ignore[arg-type]
        elif child.name == "hi" and child.end:
            yield InlineItem("open", (child.tag,), name="hi")
            yield from read_segment(child.children)
            yield InlineItem("close", (child.end,), name="hi")
        else:
            yield InlineItem("point", (child.raw,), keeps_order=True)
