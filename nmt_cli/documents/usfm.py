r"""Bible text in USFM: verses, headings and footnotes are translated, and every mark is kept byte for byte.

    \v 1 In the \nd Lord\nd* we.      the text "In the Lord we."
    \v 1 IN THE \nd LORD\nd* WE.      the mark is where its word is

A verse is one text, and its lines of poetry are divided again; references in notes and cross-references are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nmt_cli.documents.document import Document, Location, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DOCUMENT_MEBIBYTES
from nmt_cli.documents.marks import InlineItem, ItemKind, TextSyntax, TranslatedPart, read_spelled_text
from nmt_cli.documents.paragraph import Paragraph
from nmt_cli.formats.usfm import OPTIONAL_BREAK, UsfmMark, read_marks
from nmt_cli.text.wrapping import shorten_text
from nmt_cli.translation.result import Translation

# Marks whose line says what a file, a chapter or a table of contents is, references below headings, and remarks.
KEPT_LINES = frozenset("id ide usfm sts rem c cp toc3 toca1 toca2 toca3 r sr mr".split())
NOTE_TEXTS = frozenset("ft fq fqa fk fl fp".split())  # of a footnote, which are translated
USFM_SYNTAX = TextSyntax(
    re.compile(rf"[ \t\r\n]*{OPTIONAL_BREAK}[ \t\r\n]*|[ \t\r\n]+|~"),
    lambda _: " ",
    lambda text: text.replace("\\", ""),
)
LINE_MARK = re.compile(r"(?<=\n)\\[\w-]+")
WITHIN_LINE = re.compile(r"(?<=\S)[ \t]*(\\[\w-]+)(?![\w*-])")
LONGEST_NUMBER = 20  # characters of a chapter's or a verse's, as it is shown
MILESTONE_END = "\\*"
USFM_BLANKS = " \t\r\n"


class UsfmDocument(Document):
    """A book, or several."""

    def read_units(self) -> Iterator[TranslationUnit]:
        text = self.source.read_text(DOCUMENT_MEBIBYTES)
        lines = enumerate(text.splitlines(keepends=True), start=1)
        parser = UsfmParser(list(read_marks(lines, self.source.refuse)))
        for part in parser.read_parts():
            if isinstance(part, str):
                yield make_verbatim_unit(part)
            else:
                yield self.make_unit(part)._replace(location=parser.location)

    def make_unit(self, verse: TranslatedPart) -> TranslationUnit:
        def write_verse(translations: Sequence[Translation]) -> str:
            """Puts each mark that begins a line in the source at the beginning of a line."""
            written, end = verse.write(iter(translations), self.notes), "\r\n" if "\r\n" in verse.raw else "\n"
            marks = frozenset(LINE_MARK.findall(verse.raw))
            return WITHIN_LINE.sub(lambda match: f"{end}{match[1]}" if match[1] in marks else match[0], written)

        content = verse.content if isinstance(verse, Paragraph) else None
        return TranslationUnit(verse.texts, write_verse, raw=verse.raw, content=content)


class UsfmParser:
    """Divides a book into text to keep and paragraphs, one for each verse or heading."""

    def __init__(self, marks: Sequence[UsfmMark]) -> None:
        self.marks = marks
        self.index = 1  # behind the first, which has only what stands before the marks
        self.book = self.chapter = self.verse = ""
        self.is_heading = False
        self.items: list[InlineItem] = []

    @property
    def location(self) -> Location:
        chapter = f"{self.book} {self.chapter}".strip()
        return Location(chapter, f"{chapter}:{self.verse}" if self.verse and not self.is_heading else "")

    def read_parts(self) -> Iterator[str | TranslatedPart]:
        yield self.marks[0].text
        while self.index < len(self.marks):
            mark = self.marks[self.index]
            self.index += 1
            if mark.kind == "note":
                self.add_note(mark)
            elif mark.kind == "milestone":
                self.add_milestone(mark.raw, mark.text)
            elif mark.kind == "character":
                self.add_character(mark)
            elif mark.kind == "paragraph" and self.has_text and not self.is_heading:  # a further line of a verse
                self.add_with_blank(mark, "point", keeps_order=True)
            else:
                yield from self.finish_paragraph()
                yield from self.begin_paragraph(mark)
        yield from self.finish_paragraph()

    @property
    def has_text(self) -> bool:
        return any(item.text.strip() for item in self.items)

    def begin_paragraph(self, mark: UsfmMark) -> Iterator[str]:
        """Yields a mark with what belongs to it, and begins a paragraph with the text after it."""
        name, text, number = mark.name, mark.text, mark.number
        if name == "id":
            self.book, self.chapter, self.verse = mark.book, "", ""
        elif mark.kind == "place":
            shown = "" if number is None else shorten_text(number[0].strip(" \t\r\n~"), LONGEST_NUMBER)
            self.chapter, self.verse = (shown, "") if name == "c" else (self.chapter, shown)
        self.is_heading = name == "id" or mark.kind == "heading"
        end = len(text)
        if name not in KEPT_LINES:
            end = number.end() if number and name == "v" else len(text) - len(text.lstrip())
        yield mark.raw + text[:end]
        self.add_text(text[end:])

    def add_text(self, text: str) -> None:
        if text:
            self.items.append(read_spelled_text(text, USFM_SYNTAX))

    def add_milestone(self, mark: str, text: str) -> None:
        """Adds a milestone with its attributes, up to the mark that ends it unless it ends itself."""
        if self.index < len(self.marks) and self.marks[self.index].raw == MILESTONE_END != mark:
            mark, text = f"{mark}{text}{MILESTONE_END}", self.marks[self.index].text
            self.index += 1
        self.items.append(InlineItem("point", (mark,), keeps_order=True))
        self.add_text(text)

    def add_character(self, mark: UsfmMark) -> None:
        """Adds a character mark; attributes after a bar belong to its closing mark."""
        if mark.is_end:
            attributes = ""
            if self.items and self.items[-1].kind == "text" and "|" in self.items[-1].raw:
                before, _, behind = self.items.pop().raw.partition("|")
                self.add_text(before)
                attributes = f"|{behind}"
            self.items.append(InlineItem("close", (attributes + mark.raw,), name=mark.name))
            self.add_text(mark.text)
        else:
            self.add_with_blank(mark, "open", name=mark.name)

    def add_with_blank(self, mark: UsfmMark, kind: ItemKind, *, name: str = "", keeps_order: bool = False) -> None:
        """Adds a mark with the spaces after it, and the text that follows."""
        bare = mark.text.lstrip()
        raw = mark.raw + mark.text[: len(mark.text) - len(bare)]
        self.items.append(InlineItem(kind, (raw,), name=name, keeps_order=keeps_order))
        self.add_text(bare)

    def add_note(self, mark: UsfmMark) -> None:
        """Adds a note as a point; the texts of a footnote are translated."""
        name, inner, behind = mark.name, [mark], ""
        while self.index < len(self.marks) and not mark.is_end:
            mark = self.marks[self.index]
            if mark.kind == "place":  # it is never closed
                break
            self.index += 1
            if mark.is_end and mark.name == name:
                inner.append(mark._replace(text=""))
                behind = mark.text
                break
            inner.append(mark)
        template = (
            tuple(read_note(inner)) if name in ("f", "fe", "ef") else ("".join(mark.raw + mark.text for mark in inner),)
        )
        self.items.append(InlineItem("point", template))
        self.add_text(behind)

    def finish_paragraph(self) -> Iterator[str | TranslatedPart]:
        """Yields the paragraph read so far, and the marks after its text."""
        after: list[str | TranslatedPart] = []
        while self.items and self.items[-1].kind in ("point", "text") and not self.items[-1].text.strip():
            after.extend(reversed(self.items.pop().template))
        if self.items and self.items[-1].kind == "text":
            raw = self.items.pop().raw
            body = raw.rstrip(USFM_BLANKS)
            self.add_text(body)
            after.append(raw[len(body) :])
        if self.items:
            yield Paragraph(pair_marks(self.items), USFM_SYNTAX.escape)
        self.items = []
        yield from reversed(after)


def read_note(marks: Sequence[UsfmMark]) -> Iterator[str | TranslatedPart]:
    """Yields the parts of a footnote: marks, caller and references unchanged, and texts as paragraphs."""
    for mark in marks:
        if mark.name not in NOTE_TEXTS or mark.is_end:
            yield mark.raw + mark.text
            continue
        inner = mark.text.lstrip()
        body = inner.rstrip(USFM_BLANKS)
        yield mark.raw + mark.text[: len(mark.text) - len(inner)]
        yield Paragraph([read_spelled_text(body, USFM_SYNTAX)], USFM_SYNTAX.escape)
        yield inner[len(body) :]


def pair_marks(items: Sequence[InlineItem]) -> list[InlineItem]:
    """Returns the items, turning each mark that lacks its other half into a point."""
    paired: set[int] = set()
    waiting: list[int] = []
    for index, item in enumerate(items):
        if item.kind == "open":
            waiting.append(index)
        elif item.kind == "close" and waiting and items[waiting[-1]].name == item.name:
            paired |= {waiting.pop(), index}
    return [
        item
        if item.kind not in ("open", "close") or index in paired
        else InlineItem("point", item.template, keeps_order=True)
        for index, item in enumerate(items)
    ]
