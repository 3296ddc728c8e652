"""An XLIFF unit, and how its target is written: segments, inline codes, states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nmt_cli.documents.config import DocumentConfig
from nmt_cli.documents.marks.items import InlineItem
from nmt_cli.documents.marks.paragraph import GUESSED_MARKS, Paragraph
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import (
    XmlNode,
    escape_xml,
    make_text_item,
    set_attribute,
)
from nmt_cli.text.words import has_word
from nmt_cli.translation.result import drop_doubt_mark

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


PAIRED_CODES = frozenset({"g", "pc", "mrk"})
CODE_ELEMENTS = frozenset({"x", "ph", "it"})  # stand for a word, if they show one
UNFINISHED = frozenset({"new", "needs-translation", "initial"})
NEEDS_REVIEW = "units marked for review, because a check failed or the place of a tag is a guess"


@dataclass
class XliffScope:
    """The attributes inherited from the elements around a unit."""

    version: str = ""
    languages: tuple[str, str] = ("", "")
    kept: list[bool] = field(default_factory=list)  # of each open element, whether it is not to be translated
    data: dict[str, str] = field(default_factory=dict)  # of XLIFF 2: the code of the unit's inline elements, by id

    @property
    def is_second(self) -> bool:
        return self.version.startswith("2")


class TargetBuilder:
    """Writes a unit with its translation."""

    def __init__(
        self, node: XmlNode, scope: XliffScope, notes: Counter[str], config: DocumentConfig, *, reads_back: bool = False
    ) -> None:
        self.node = node
        self.is_second = scope.is_second
        self.data = scope.data
        self.notes = notes
        self.reviews_all = config.fuzzy
        self.target = node.find("target")
        self.source = node.find("source")
        self.segmented = node.find("seg-source")
        replaces = config.retranslate or reads_back or self.target is None
        self.existing = {} if replaces or self.target is None else self.read_existing(self.target)
        self.parts: list[str | Paragraph] = []
        self.translated_ids: list[str] = []
        model = self.segmented or self.source
        if model is not None and self.needs_translation(replaces):
            self.parts = list(self.read_parts(model))
        self.texts = tuple(text for part in self.parts if isinstance(part, Paragraph) for text in part.texts)

    def read_existing(self, target: XmlNode) -> dict[str, XmlNode]:
        """Returns the translated segments by number."""
        segments = [mark for mark in find_segments(target) if mark.content.strip()]
        return {mark.read("mid"): mark for mark in segments}

    def needs_translation(self, retranslate: bool) -> bool:
        if self.target is None or not self.target.content.strip() or retranslate:
            return True
        if self.segmented is not None and find_segments(self.segmented):
            return any(mark.read("mid") not in self.existing for mark in find_segments(self.segmented))
        state = (self.node if self.is_second else self.target).read("state")
        is_copy = self.source is not None and self.target.content == self.source.content
        return is_copy and state in UNFINISHED

    def read_parts(self, model: XmlNode) -> Iterator[str | Paragraph]:
        """Yields the parts of the target: paragraphs, and the text between segments."""
        if self.segmented is None or not find_segments(model):
            yield self.make_paragraph(model.children)
            return
        for child in model.children:
            if isinstance(child, XmlNode) and is_segment(child):
                yield from self.read_segment(child)
            elif isinstance(child, XmlNode) and find_segments(child):
                yield child.tag
                yield from self.read_parts(child)
                yield child.end
            else:
                yield child.raw

    def read_segment(self, mark: XmlNode) -> Iterator[str | Paragraph]:
        existing = self.existing.get(mark.read("mid"))
        if existing is not None:
            yield existing.raw
            return
        self.translated_ids.append(mark.read("mid"))
        yield mark.tag if mark.end else f"{mark.tag[:-2].rstrip()}>"
        yield self.make_paragraph(mark.children)
        yield mark.end or "</mrk>"

    def make_paragraph(self, children: Sequence[XmlNode | MarkupToken]) -> Paragraph:
        return Paragraph(list(self.read_items(children)), escape_xml)

    def read_items(self, children: Sequence[XmlNode | MarkupToken]) -> Iterator[InlineItem]:
        """Yields inline elements and text as items of a paragraph."""
        for child in children:
            if not isinstance(child, XmlNode):
                yield make_text_item(child)
            elif child.name in PAIRED_CODES and child.end and not is_protected(child):
                yield InlineItem("open", (child.tag,), name=child.name)
                yield from self.read_items(child.children)
                yield InlineItem("close", (child.end,), name=child.name)
            elif is_protected(child) and has_word(child.text):
                yield InlineItem("code", (child.raw,))
            elif child.name in CODE_ELEMENTS and shows_word(child, self.data):
                yield InlineItem("code", (child.raw,))
            else:
                yield InlineItem("point", tuple(self.read_point(child)), keeps_order=child.name not in ("x", "ph"))

    def read_point(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields an element of code; the text of a nested <sub> is translated."""
        if not any(node.find_all(frozenset({"sub"}))):
            yield node.raw
            return
        yield node.tag
        for child in node.children:
            if isinstance(child, XmlNode) and child.name == "sub":
                yield from (child.tag, self.make_paragraph(child.children), child.end)
            elif isinstance(child, XmlNode):
                yield from self.read_point(child)
            else:
                yield child.raw
        yield node.end

    def write(self, translations: Sequence[Translation]) -> str:
        """Returns the unit with its target, and notes anything that needs review."""
        remaining = map(drop_doubt_mark, translations)
        notes: Counter[str] = Counter()
        written = [part if isinstance(part, str) else part.write(remaining, notes) for part in self.parts]
        needs_review = bool(notes[GUESSED_MARKS]) or any(translation.needs_review for translation in translations)
        self.notes += notes
        self.notes += Counter({NEEDS_REVIEW: int(needs_review)})
        return self.write_unit("".join(written), needs_review or self.reviews_all)

    def write_unit(self, content: str, needs_review: bool) -> str:
        """Returns the unit with `content` as its target, in place of the old one or after the source."""
        tag = self.node.tag
        if self.is_second:
            tag = set_attribute(tag, "state", "translated")
            tag = set_attribute(tag, "subState", "nmt:needs-review") if needs_review else tag
        target = f"{self.write_target_tag(needs_review)}{content}{self.write_target_end()}"
        children = []
        last = self.segmented or self.source
        for index, child in enumerate(self.node.children):
            if child is self.target:
                children.append(target)
            elif isinstance(child, XmlNode) and child.name == "seg-defs":
                children.append(self.write_definitions(child, needs_review))
            else:
                children.append(child.raw)
            if child is last and self.target is None:
                before = self.node.children[index - 1].raw if index else ""
                children.append((before if not before.strip() else "") + target)
        return f"{tag}{''.join(children)}{self.node.end}"

    def write_target_tag(self, needs_review: bool) -> str:
        prefix = "" if self.source is None else self.source.tag[1 : self.source.tag.index("source")]
        tag = self.target.tag if self.target is not None else f"<{prefix}target>"
        tag = f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag
        if self.is_second:
            return tag
        is_sdl = self.node.find("seg-defs") is not None
        state = "needs-review-translation" if needs_review else "translated"
        return tag if is_sdl else set_attribute(tag, "state", state)

    def write_target_end(self) -> str:
        prefix = "" if self.source is None else self.source.tag[1 : self.source.tag.index("source")]
        return (self.target.end if self.target is not None else "") or f"</{prefix}target>"

    def write_definitions(self, node: XmlNode, needs_review: bool) -> str:
        """Returns SDLXLIFF's segment definitions, with the state of the translated ones."""
        parts = [node.tag]
        for child in node.children:
            raw = child.raw
            if isinstance(child, XmlNode) and child.read("id") in self.translated_ids:
                tag = set_attribute(child.tag, "conf", "Draft" if needs_review else "Translated")
                raw = f"{set_attribute(tag, 'origin', 'mt')}{child.content}{child.end}"
            parts.append(raw)
        return "".join([*parts, node.end])


def is_segment(node: XmlNode) -> bool:
    return node.name == "mrk" and node.read("mtype") == "seg"


def find_segments(node: XmlNode) -> list[XmlNode]:
    """Returns the segments inside an element, at any depth."""
    result = []
    for child in node.elements:
        result += [child] if is_segment(child) else find_segments(child)
    return result


def is_protected(node: XmlNode) -> bool:
    """Whether the text of a mark must not be translated."""
    return node.name == "mrk" and (node.read("translate") == "no" or node.read("mtype") == "protected")


def shows_word(node: XmlNode, data: Mapping[str, str]) -> bool:
    """Whether an element of code represents a word, such as `{name}`, rather than a tag such as `<br>`."""
    shown = (
        node.text
        or node.read("equiv-text")
        or node.read("disp")
        or node.read("equiv")
        or data.get(node.read("dataRef"), "")
    )
    if node.name == "x" and node.read("id").startswith("INTERPOLATION"):
        return True
    return has_word(shown) and not shown.lstrip().startswith(("<", "</", "[", "\\")) and any(c in shown for c in "{}%$")
