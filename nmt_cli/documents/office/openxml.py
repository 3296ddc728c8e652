"""Office Open XML: word processing (docx) and presentations (pptx).

    <w:p><w:r><w:t>Press </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>Save</w:t></w:r></w:p>      text "Press Save"
    <w:p><w:r><w:t>PRESS </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>SAVE</w:t></w:r></w:p>      each word in its run

Translates the main text with its tables and text boxes, headers, footers, footnotes and endnotes; slides with their
notes; charts and diagrams. Keeps comments, properties, styles, layouts and macros."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from nmt_cli.documents.document import TranslationUnit
from nmt_cli.documents.marks import InlineItem, Wrapper, make_text
from nmt_cli.documents.office.archive import ArchiveDocument, ParagraphReader, make_point
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.documents.xml import XmlNode, enclose, escape_xml, make_text_item
from nmt_cli.formats.archives import refuse_part
from nmt_cli.formats.xml import MarkupToken
from nmt_cli.text.aligned import Edit
from nmt_cli.text.words import has_word

# Paragraphs of Office Open XML (docx, pptx), whose text consists of runs with their own properties.
#
# A run wraps its text: each word of a translation takes the run of its source word. Links and insertions are marks.
# Fields (page numbers, references) are kept, except the text of a link. Deleted, moved and hidden text, formulas and
# comments are kept. A line break or tab divides a paragraph into segments.


CONTAINERS = frozenset("hyperlink ins moveTo smartTag sdt sdtContent bdo dir customXml".split())
RUN_BREAKS = frozenset("br cr tab ptab".split())
SHAPES = frozenset("drawing pict object AlternateContent".split())  # may hold text boxes
FORMULAS_AND_FIELDS = frozenset("oMath oMathPara fldSimple fld m".split())
PARAGRAPHS = frozenset({"p"})
OFF = ("0", "false", "off")
# What Word writes of a run that nobody sees: the revision, the language, what was proofread.
UNSEEN = re.compile(r'\s(?:\w+:rsid\w*|lang|altLang|dirty|err|smtClean|noProof)="[^"]*"|<\w+:(?:lang|noProof)\b[^>]*/>')
EMPTY_PROPERTIES = re.compile(r"<(\w+:rPr)\s*(?:/>|></\1>)")


class RunReader(ParagraphReader):
    paragraphs = PARAGRAPHS
    needs_text = frozenset({"hyperlink", "field"})

    def read_items(self, node: XmlNode) -> list[InlineItem]:
        return group_fields(list(self.read_children(node)))

    def read_children(self, node: XmlNode) -> Iterator[InlineItem]:
        for child in node.children:
            if not isinstance(child, XmlNode):
                yield make_point(child.raw)
            elif child.name == "r" and child.end:
                yield from self.read_run(child)
            elif child.name == "br":
                yield InlineItem("break", (child.raw,))
            elif child.end and (child.name in CONTAINERS or is_link_field(child)):
                yield from enclose(child, self.read_children(child))
            elif child.name in FORMULAS_AND_FIELDS and has_word(child.text):
                yield InlineItem("code", (child.raw,))
            elif child.name in SHAPES:
                yield make_point(list(self.read_blocks(child)))
            else:
                yield make_point(child.raw, keeps_order=True)

    def read_run(self, run: XmlNode) -> Iterator[InlineItem]:
        """Yields the text and other content of a run."""
        properties, children = split_properties(run)
        if not children or is_hidden(run):
            yield make_point(run.raw)
            return
        before = run.tag + properties
        wrapper = Wrapper(before, run.end, form=EMPTY_PROPERTIES.sub("", UNSEEN.sub("", before)))
        for child in children:
            if isinstance(child, XmlNode):
                yield from self.read_run_child(child, wrapper)
            else:
                yield make_point(child.raw, (wrapper,))

    def read_run_child(self, child: XmlNode, run: Wrapper) -> Iterator[InlineItem]:
        if child.name == "t" and child.end and child.text:
            yield from read_run_text(child, run)
        elif child.name == "noBreakHyphen":
            yield read_hyphen(child, run)
        elif child.name in RUN_BREAKS:
            yield InlineItem("break", (child.raw,), wrappers=(run,))
        elif child.name in SHAPES:
            yield make_point(list(self.read_blocks(child)), (run,))
        elif child.name in ("fldChar", "instrText"):
            name = child.read("fldCharType") if child.name == "fldChar" else child.text
            yield make_point(child.raw, (run,), name=f"{child.name} {name.strip()}", keeps_order=True)
        else:
            yield make_point(child.raw, (run,))


def read_run_text(node: XmlNode, run: Wrapper) -> Iterator[InlineItem]:
    """Yields the text of a text element in a run."""
    needs_space = not node.tag.startswith("<a:") and "xml:space" not in node.tag
    spaced = f'{node.tag[:-1]} xml:space="preserve">' if needs_space else ""
    wrapper = Wrapper(node.tag, node.end, spaced, node.text)
    for child in node.children:
        if isinstance(child, XmlNode):
            yield make_point(child.raw, (run, wrapper))
        else:
            yield make_text_item(child, (run, wrapper))


def read_hyphen(node: XmlNode, run: Wrapper) -> InlineItem:
    """Returns a hyphen element of a run as a character; any replacement gets a text element of its own."""
    prefix = node.tag[1 : node.tag.index(node.name)]

    def write_text(text: str) -> str:
        return f'<{prefix}t xml:space="preserve">{escape_xml(text)}</{prefix}t>'

    return make_text(node.raw, [Edit(0, len(node.raw), "-")], (run, Wrapper("", "", escape=write_text)))


def split_properties(run: XmlNode) -> tuple[str, list[XmlNode | MarkupToken]]:
    """Splits a run into its leading properties and the rest."""
    first = next(iter(run.elements), None)
    end = run.children.index(first) + 1 if first is not None and first.name == "rPr" else 0
    return "".join(child.raw for child in run.children[:end]), run.children[end:]


def is_hidden(run: XmlNode) -> bool:
    """Whether the text of a run is hidden."""
    properties = run.find("rPr")
    vanish = properties.find("vanish") if properties else None
    return vanish is not None and vanish.read("val") not in OFF


def is_link_field(node: XmlNode) -> bool:
    return node.name == "fldSimple" and node.read("instr").strip().upper().startswith("HYPERLINK")


def group_fields(items: list[InlineItem]) -> list[InlineItem]:
    """Groups the items of each field into one: code or, for a link, a pair of tags around its text.

    A field that shares a run with other text, or continues in another paragraph, is left as separate points.
    """
    result: list[InlineItem] = []
    begins: list[int] = []
    for item in items:
        result.append(item)
        if item.name == "fldChar begin":
            begins.append(len(result) - 1)
        elif item.name == "fldChar end" and begins:
            start = begins.pop()
            field = result[start:]
            if begins_run(result[start - 1] if start else None, field) and is_balanced(field):
                result[start:] = make_field(field)
    return split_shared(items, result)


def split_shared(items: list[InlineItem], result: list[InlineItem]) -> list[InlineItem]:
    """Returns the grouped items, or the original items if a run lies both inside and after a field."""
    runs = {id(item.wrappers[0]) for item in result if item.wrappers}
    grouped = {id(item.wrappers[0]) for item in items if item.wrappers} - runs
    lost = sum(1 for item in items if item.wrappers and id(item.wrappers[0]) in grouped)
    kept = sum(1 for item in result if item.wrappers)
    return result if lost + kept == sum(1 for item in items if item.wrappers) else items


def begins_run(before: InlineItem | None, field: Sequence[InlineItem]) -> bool:
    """Whether a field begins with a run that it does not share with the item before it."""
    return not (before and before.wrappers and before.wrappers[:1] == field[0].wrappers[:1])


def is_balanced(items: Sequence[InlineItem]) -> bool:
    """Whether each opening tag has its closing tag among the items."""
    steps = ({"open": 1, "close": -1}.get(item.kind, 0) for item in items)
    depths = list(accumulate(steps, initial=0))
    return min(depths) == 0 == depths[-1]


def make_field(field: Sequence[InlineItem]) -> list[InlineItem]:
    """Returns a field as a pair of tags around the text of a link, or as one kept item."""
    separators = [index for index, item in enumerate(field) if item.name == "fldChar separate"]
    first = separators[0] if separators else len(field) - 1
    instruction = "".join(item.name.removeprefix("instrText") for item in field[:first] if "instrText" in item.name)
    result = field[first + 1 : -1]
    if (
        instruction.strip().upper().startswith("HYPERLINK")
        and separators
        and begins_run(field[first], result or field[-1:])
    ):
        opening = InlineItem("open", (flatten(field[: first + 1]),), name="field")
        return [opening, *result, InlineItem("close", (flatten(field[-1:]),), name="field")]
    kind = "code" if has_word("".join(item.text for item in result)) else "point"
    return [InlineItem(kind, (flatten(field),))]  # type: ignore[arg-type]


def flatten(items: Sequence[InlineItem]) -> str:
    """Returns the items as spelled in the source, with their runs."""
    return Paragraph(items, escape_xml).raw


CONTENT_TYPES = "[Content_Types].xml"
SHARED_PARTS = ("drawingml.chart+xml", "drawingml.diagramData+xml", "ms-office.drawingml.diagramDrawing+xml")


class OpenXmlDocument(ArchiveDocument):
    main: str  # how the content type of the main part ends
    parts: tuple[str, ...]  # how those of the parts with text end

    def check_format(self) -> None:
        if not self.has_part(CONTENT_TYPES):
            refuse_part(
                self.source.name, f"this is not {self.kind}: {CONTENT_TYPES} is missing", "check the file's name"
            )
        self.types: dict[str, str] = {}
        for values in self.read_tags(CONTENT_TYPES, "Override"):
            self.types[html.unescape(values.get("partname", "")).lstrip("/")] = values.get("contenttype", "")
        if not any(self.main in kind for kind in self.types.values()):
            refuse_part(self.source.name, f"this is not {self.kind}", "name its format with --format")

    def has_text(self, name: str) -> bool:
        return self.types.get(name, "").endswith((*self.parts, *SHARED_PARTS))

    def read_part(self, name: str) -> Iterator[TranslationUnit]:
        return RunReader().read_units(self.open_part(name), self.notes)


class DocxDocument(OpenXmlDocument):
    kind = "docx"
    main = "wordprocessingml"
    parts = (
        "wordprocessingml.document.main+xml",
        "wordprocessingml.template.main+xml",
        "ms-word.document.macroEnabled.main+xml",
        "wordprocessingml.header+xml",
        "wordprocessingml.footer+xml",
        "wordprocessingml.footnotes+xml",
        "wordprocessingml.endnotes+xml",
        "wordprocessingml.styles+xml",  # for the language of the document
    )


class PptxDocument(OpenXmlDocument):
    kind = "pptx"
    main = "presentationml"
    parts = ("presentationml.slide+xml", "presentationml.notesSlide+xml")
