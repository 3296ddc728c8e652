"""Exchange formats of translation tools: XLIFF, SDLXLIFF and TMX. Each source gets a target; nothing else changes.

    <source>Save <g id="1">it</g></source>                      is the text "Save it", and is followed by
    <target state="translated">SAVE <g id="1">IT</g></target>

The variants and the state of a unit are read as for pairs (`formats/exchange.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DecodedText
from nmt_cli.documents.marks import InlineItem
from nmt_cli.documents.paragraph import GUESSED_MARKS, Paragraph
from nmt_cli.documents.xml import (
    XmlNode,
    cut_document,
    decode_xml,
    enclose,
    escape_xml,
    make_text_item,
    parse_node,
    set_attribute,
)
from nmt_cli.formats.archives import refuse_part
from nmt_cli.formats.exchange import (
    TmxReader,
    XliffReader,
    find_variants,
    is_unfinished,
    read_languages,
    read_unit_name,
    read_variants,
)
from nmt_cli.formats.xml import MarkupToken, XmlUnit
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag
from nmt_cli.text.characters import COLONS, END_MARKS
from nmt_cli.text.words import has_word
from nmt_cli.text.wrapping import shorten_text
from nmt_cli.translation.result import Translation, drop_doubt_mark


def fits_model(source: DocumentSource, languages: tuple[str, str]) -> bool:
    """Whether the languages of a file match the model's, as far as both are known."""
    models = (source.source_language, source.target_language)
    return all(
        not (find_language_tag(model) and find_language_tag(code)) or has_same_primary_tag(model, code)
        for model, code in zip(models, languages, strict=True)
    )


def refuse_source(source: DocumentSource, languages: str) -> NoReturn:
    """Raises DataError for a file that has text in `languages`, but none in the model's source language."""
    model = find_language_tag(source.source_language)
    refuse_part(source.name, f"the file has {languages}, but the model translates from {model}", "name another --model")


def refuse_languages(source: DocumentSource, languages: tuple[str, str]) -> NoReturn:
    models = f"{find_language_tag(source.source_language)} -> {find_language_tag(source.target_language)}"
    refuse_part(
        source.name,
        f"the file is {languages[0] or '?'} -> {languages[1] or '?'}, but the model translates {models}",
        "name another --model, or correct the languages in the file",
    )


# An XLIFF unit, and how its target is written: segments, inline codes, states.


PAIRED_CODES = frozenset({"g", "pc", "mrk"})
CODE_ELEMENTS = frozenset({"x", "ph", "it"})  # stand for a word or a line break, if they show one
HALVES = {  # of a pair of codes, of which the second has the number of the first
    **dict.fromkeys(("bpt", "bx", "sc"), "open"),
    **dict.fromkeys(("ept", "ex", "ec"), "close"),
}
BREAK_TYPES = frozenset({"lb", "xlf:lb", "x-br", "x-html-br", "x-linebreak"})
# Where a text of several lines is parted: at an empty line, behind the end of a sentence, before an item of a list, and
# behind a line too short to be wrapped whose next one begins with a capital, without an indent.
ITEM_SIGN = r"[-*•][ \t]+"
TEXT_BREAK = re.compile(
    rf"((?:\s*\n[ \t\r]*\n\s*|(?<=[{re.escape(END_MARKS + COLONS)}])[ \t\r]*\n\s*|[ \t\r]*\n\s*(?={ITEM_SIGN})"
    r"|(?<![^\n]{40})[ \t\r]*\n(?=[A-ZÀ-ÞΑ-ΩА-Я]))"
    rf"(?:{ITEM_SIGN})?)"
)
SHOWN_BREAK = re.compile(r"(?i)\s*(?:<br\b[^<>]*>|\\r?\\?n)\s*|\s*\n\s*")
NEEDS_REVIEW = "units marked for review, because a check failed or the position of a tag is a guess"


class TargetBuilder:
    """Writes a unit with its translation."""

    def __init__(self, node: XmlNode, document: XliffDocument, *, is_second: bool, is_unfinished: bool) -> None:
        config, reads_back = document.source.config, document.source.reads_back
        self.node = node
        self.is_second = is_second
        self.is_unfinished = is_unfinished
        self.data = document.data
        self.notes = document.notes
        self.reviews_all = config.fuzzy
        self.target = node.find("target")
        self.source = node.find("source")
        self.segmented = node.find("seg-source")
        self.prefix = "" if self.source is None else self.source.tag[1 : self.source.tag.index("source")]
        replaces = config.retranslate or reads_back or self.target is None
        translated = [] if replaces or self.target is None else find_segments(self.target)
        self.existing = {mark.read("mid"): mark for mark in translated if mark.content.strip()}
        self.parts: list[str | Paragraph] = []
        self.translated_ids: list[str] = []
        model = self.segmented or self.source
        if model is not None and self.needs_translation(replaces):
            self.parts = list(self.read_parts(model))
        self.texts = tuple(text for part in self.parts if isinstance(part, Paragraph) for text in part.texts)

    def needs_translation(self, retranslate: bool) -> bool:
        if self.target is None or not self.target.content.strip() or retranslate:
            return True
        if self.segmented is not None and find_segments(self.segmented):
            return any(mark.read("mid") not in self.existing for mark in find_segments(self.segmented))
        return self.is_unfinished and self.source is not None and self.target.content == self.source.content

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
                yield from read_paragraphs(child)
            elif child.name in PAIRED_CODES and child.end and not is_protected(child):
                yield from enclose(child, self.read_items(child.children))
            elif child.name in HALVES:
                yield InlineItem(HALVES[child.name], tuple(self.read_point(child)), name=find_pair(child))  # type: ignore[arg-type]
            elif child.name in CODE_ELEMENTS and breaks_line(child, self.data):
                yield InlineItem("break", (child.raw,))
            elif is_protected(child) and has_word(child.text):
                yield InlineItem("code", (child.raw,))
            elif child.name in CODE_ELEMENTS and shows_word(child, self.data):
                yield InlineItem("code", (child.raw,))
            else:
                yield InlineItem("point", tuple(self.read_point(child)), keeps_order=child.name not in ("x", "ph"))

    def read_point(self, node: XmlNode) -> Iterator[str | Paragraph]:
        """Yields a code element; the text of a nested <sub> is translated."""
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
        end = (self.target.end if self.target is not None else "") or f"</{self.prefix}target>"
        target = f"{self.write_target_tag(needs_review)}{content}{end}"
        children = [
            self.write_definitions(child, needs_review)
            if isinstance(child, XmlNode) and child.name == "seg-defs"
            else child
            for child in self.node.children
        ]
        return f"{tag}{put_child(children, target, self.target, self.segmented or self.source)}{self.node.end}"

    def write_target_tag(self, needs_review: bool) -> str:
        tag = self.target.tag if self.target is not None else f"<{self.prefix}target>"
        tag = f"{tag[:-2].rstrip()}>" if tag.endswith("/>") else tag
        if self.is_second or self.node.find("seg-defs") is not None:
            return tag
        return set_attribute(tag, "state", "needs-review-translation" if needs_review else "translated")

    def write_definitions(self, node: XmlNode, needs_review: bool) -> MarkupToken:
        """Returns SDLXLIFF's segment definitions, with the state of translated segments updated."""
        parts = [node.tag]
        for child in node.children:
            raw = child.raw
            if isinstance(child, XmlNode) and child.read("id") in self.translated_ids:
                tag = set_attribute(child.tag, "conf", "Draft" if needs_review else "Translated")
                raw = f"{set_attribute(tag, 'origin', 'mt')}{child.content}{child.end}"
            parts.append(raw)
        return MarkupToken("other", "".join([*parts, node.end]))


def put_child(children: Sequence[XmlNode | MarkupToken], new: str, old: XmlNode | None, before: XmlNode | None) -> str:
    """Returns the content of an element with `new` in place of the child `old`, or after `before` if `old` is None.

    In the latter case, `new` gets the same whitespace before it as `before` has.
    """
    written = []
    for index, child in enumerate(children):
        written.append(new if child is old else child.raw)
        if child is before and old is None:
            blanks = children[index - 1].raw if index else ""
            written.append((blanks if not blanks.strip() else "") + new)
    return "".join(written)


def is_segment(node: XmlNode) -> bool:
    return node.name == "mrk" and node.read("mtype") == "seg"


def find_segments(node: XmlNode) -> list[XmlNode]:
    """Returns the segments inside an element, at any depth."""
    result = []
    for child in node.elements:
        result += [child] if is_segment(child) else find_segments(child)
    return result


def is_protected(node: XmlNode) -> bool:
    """Whether an element is a <mrk> whose text must not be translated."""
    return node.name == "mrk" and (node.read("translate") == "no" or node.read("mtype") == "protected")


def read_paragraphs(token: MarkupToken) -> Iterator[InlineItem]:
    """Yields the text of a token, divided into separate texts at some of its line ends."""
    for number, part in enumerate(TEXT_BREAK.split(token.raw) if token.kind == "text" else (token.raw,)):
        if part:
            yield InlineItem("break", (part,)) if number % 2 else make_text_item(token._replace(raw=part))


def find_pair(half: XmlNode) -> str:
    """Returns the number that an opening code and its closing code share."""
    return next(filter(None, map(half.read, ("rid", "startRef", "i", "id"))), "")


def find_shown(node: XmlNode, data: Mapping[str, str]) -> str:
    """Returns the original text that a code element represents, as far as it is known."""
    shown = next(filter(None, map(node.read, ("equiv-text", "disp", "equiv"))), "")
    return node.text or shown or data.get(node.read("dataRef"), "")


def breaks_line(node: XmlNode, data: Mapping[str, str]) -> bool:
    """Whether a code element is a line break, which separates texts."""
    kinds = {node.read(name).lower() for name in ("ctype", "type", "subType")}
    return bool(kinds & BREAK_TYPES) or SHOWN_BREAK.fullmatch(find_shown(node, data)) is not None


def shows_word(node: XmlNode, data: Mapping[str, str]) -> bool:
    """Whether a code element represents a word, such as `{name}`, rather than a tag such as `<br>`."""
    shown = find_shown(node, data)
    if node.name == "x" and node.read("id").startswith("INTERPOLATION"):
        return True
    return has_word(shown) and not shown.lstrip().startswith(("<", "</", "[", "\\")) and any(c in shown for c in "{}%$")


# Translation memories (TMX): each unit without a variant in the target language gets one; all others are kept.


LONGEST_LIST = 60  # characters of the languages of a file, as they are shown
SEVERAL_SOURCES = "units with several variants in the source language (only one was translated)"


class TmxDocument(Document):
    has_source = False  # whether any unit has a text in the model's source language

    def read_units(self) -> Iterator[TranslationUnit]:
        self.languages: dict[str, None] = {}
        decoded = decode_xml(self.source)
        yield make_verbatim_unit(decoded.mark)
        for before, unit, raw in cut_document(self.source, decoded.text, TmxReader.unit_names):
            yield make_verbatim_unit(decoded.encode(before))
            if unit is not None:
                yield self.make_unit(unit, raw, decoded)
        if self.languages and not self.has_source:
            languages = shorten_text(", ".join(self.languages), LONGEST_LIST)
            refuse_source(self.source, f"the languages {languages}")

    def make_unit(self, unit: XmlUnit, raw: str, decoded: DecodedText) -> TranslationUnit:
        """Returns a unit that writes a target-language variant; verbatim if there is one already, or no source text."""
        variants = read_variants(unit.element)
        codes = tuple([code for code, _ in variants])
        self.languages |= dict.fromkeys(codes)
        sources, targets = (
            find_variants(codes, language, has_same_primary_tag)
            for language in (self.source.source_language, self.source.target_language)
        )
        self.has_source |= bool(sources)
        self.notes += Counter({SEVERAL_SOURCES: int(len(sources) > 1)})
        keeps = not (self.source.config.retranslate or self.source.reads_back)
        if not sources or (keeps and targets and variants[targets[0]][1].strip()):
            return make_verbatim_unit(decoded.encode(raw))
        node = parse_node(raw)
        nodes = [child for child in node.elements if child.name == "tuv"]
        source, target = nodes[sources[0]], nodes[targets[0]] if targets else None
        segment = source.find("seg")
        if segment is None:
            return make_verbatim_unit(decoded.encode(raw))
        paragraph = Paragraph(list(read_segment(segment.children)), escape_xml)
        written = target.find("seg") if self.source.reads_back and target is not None else None
        held = paragraph if written is None else Paragraph(list(read_segment(written.children)), escape_xml)

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            text = paragraph.write(map(drop_doubt_mark, translations), self.notes)
            return decoded.encode(self.write_variant(node, source, target, text))

        return TranslationUnit(paragraph.texts, write_unit, raw=decoded.encode(raw), content=held.content)

    def write_variant(self, node: XmlNode, source: XmlNode, target: XmlNode | None, text: str) -> str:
        """Returns a unit with `text` in the target language, in place of an empty variant or after the source."""
        tag = find_language_tag(self.source.target_language) or self.source.target_language
        start, rest, end = f'<tuv xml:lang="{tag}">', "", "</tuv>"
        if target is not None:
            others = (child for child in target.children if not (isinstance(child, XmlNode) and child.name == "seg"))
            rest = "".join(child.raw for child in others)
            start, end = target.tag, target.end
        variant = f"{start}{rest}<seg>{text}</seg>{end}"
        return f"{node.tag}{put_child(node.children, variant, target, source)}{node.end}"


def read_segment(children: Sequence[XmlNode | MarkupToken]) -> Iterator[InlineItem]:
    """Yields the text of a segment with its codes as marks."""
    for child in children:
        if not isinstance(child, XmlNode):
            yield make_text_item(child)
        elif child.name in HALVES:
            yield InlineItem(HALVES[child.name], (child.raw,), name=find_pair(child))  # type: ignore[arg-type]
        elif child.name == "hi" and child.end:
            yield from enclose(child, read_segment(child.children))
        else:
            yield InlineItem("point", (child.raw,), keeps_order=True)


# XLIFF 1.2, XLIFF 2 and SDLXLIFF: `<source>` is translated into `<target>`; nothing else changes.
#
# Existing translations are kept unless `retranslate` is set. Inline elements (`<g> <x> <ph> <pc> <mrk>`) are kept and
# placed. Segments of a unit (`<mrk mtype="seg">`) are translated separately. The state of a translation becomes
# `translated` or, if a check failed or a position was guessed, one that asks for review.


PARTS_OF_UNITS = XliffReader.unit_names | {"originalData"}
TAGS_AROUND = frozenset({"xliff", "file", "unit"})
KEPT_AROUND = frozenset({"bin-unit", "alt-trans", "reference", "note", "notes", "skl", "seg-defs"})  # with all inside
OTHER_LANGUAGES = "units left unchanged, in a <file> of other languages"


class XliffDocument(Document):
    languages = ("", "")  # of the <file>
    has_files = False  # whether any <file> has the languages of the model

    def read_units(self) -> Iterator[TranslationUnit]:
        self.data: dict[str, str] = {}  # of XLIFF 2: the code of the unit's inline elements, by id
        self.others: list[tuple[str, str]] = []
        decoded = decode_xml(self.source)
        yield make_verbatim_unit(decoded.mark)
        seen: list[str] = []  # what stands before the next unit
        for before, unit, raw in cut_document(self.source, decoded.text, PARTS_OF_UNITS, TAGS_AROUND):
            seen.append(before)
            if unit is None or unit.element.tag not in XliffReader.unit_names:
                seen.append("" if unit is None else self.read_outer(unit, raw))
            elif (translated := self.make_unit(unit, raw, decoded)) is not None:
                yield make_verbatim_unit(decoded.encode("".join(seen)))
                yield translated
                seen = []
            else:
                seen.append(raw)
        yield make_verbatim_unit(decoded.encode("".join(seen)))
        if self.others and not self.has_files:
            refuse_languages(self.source, self.others[0])

    def read_outer(self, unit: XmlUnit, raw: str) -> str:
        """Reads the markup around units and returns it, with the target language of a file added if it is missing."""
        name, version = unit.element.tag, unit.context.get("xliff", {}).get("version", "")
        if name in ("unit", "originalData"):
            nodes = parse_node(raw).elements if name == "originalData" else []
            self.data = {data.read("id"): data.text for data in nodes}
        elif (name == "xliff") == version.startswith("2"):
            self.languages = read_languages(unit.context)
            if not fits_model(self.source, self.languages):
                self.others.append(self.languages)
                return raw
            self.has_files = True
            language = find_language_tag(self.source.target_language)
            attribute = "trgLang" if name == "xliff" else "target-language"
            return raw if self.languages[1] or not language else set_attribute(raw, attribute, language)
        return raw

    def make_unit(self, unit: XmlUnit, raw: str, decoded: DecodedText) -> TranslationUnit | None:
        """Returns the unit of a trans-unit or segment, or None if it is kept unchanged."""
        if any(name in KEPT_AROUND for name, _ in unit.outer):
            return None
        if not fits_model(self.source, self.languages):
            self.notes[OTHER_LANGUAGES] += 1
            return None
        around = [unit.element.attrib, *(attributes for _, attributes in reversed(unit.outer))]
        nearest = (attributes.get("translate") for attributes in around)
        if next((value for value in nearest if value in ("yes", "no")), "yes") == "no":
            return None
        is_second = unit.context.get("xliff", {}).get("version", "").startswith("2")
        unfinished = is_unfinished(unit.element, unit.element.find("target"))
        builder = TargetBuilder(parse_node(raw), self, is_second=is_second, is_unfinished=unfinished)
        if not builder.texts and not self.source.reads_back:
            return None

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            return decoded.encode(builder.write(translations))

        held = builder.target if self.source.reads_back else builder.segmented or builder.source
        content = None if held is None or builder.existing else builder.make_paragraph(held.children).content
        return TranslationUnit(
            builder.texts, write_unit, raw=decoded.encode(raw), content=content, context=read_unit_name(unit.element)
        )
