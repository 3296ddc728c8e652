"""Paragraphs with inline marks: their representation, and how they are written with a translation.

A paragraph lists its items in file order: text, opening and closing tags, points (anything between two characters: an
image, a comment, a footnote), code (kept, and represented in the text as `{1}`), and breaks, which divide a paragraph
into segments. A segment is one text for the translator, however many sentences it has.

Everything written comes from the items, byte for byte, except the characters of the translation. A character aligned
with an equal one of the source is spelled as there (`&nbsp;`, a line break for a blank), so that a translation equal to
its source changes nothing.

Must not know any format. `translation.placement` decides where marks go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Content, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.marks.items import MAXIMUM_ITEMS, InlineItem, ParagraphSegment, TranslatedPart
from nmt_cli.documents.marks.writing import InlineOutput, write_segment

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

LONGEST_KEPT = 1 << 16  # characters of text that is kept, which make a unit
OVERFULL = f"texts kept untranslated, each with more than {MAXIMUM_ITEMS:,} marks, runs or lines"
GUESSED_MARKS = "marks (emphasis, links, code) whose positions are guesses"


@dataclass(frozen=True, eq=False)
class Paragraph:
    """The items of a paragraph. `escape` makes plain text safe for the format."""

    items: Sequence[InlineItem]
    escape: Callable[[str], str]
    needs_text: frozenset[str] = frozenset()  # names of tags that must not be empty: a link without words is lost
    domain: str = ""  # of its texts

    @property
    def raw(self) -> str:
        """The paragraph as spelled in the source."""
        output = InlineOutput(self.escape)
        for item in self.items:
            output.write_raw(item.raw, item.wrappers)
        return output.finish()

    @property
    def text(self) -> str:
        """The plain text, without marks and code."""
        return "".join(item.text for item in self.items)

    @cached_property
    def segments(self) -> list[ParagraphSegment]:
        """The segments, with each break as a segment of its own."""
        groups = groupby(enumerate(join_points(self.items)), lambda pair: pair[0] if pair[1].kind == "break" else -1)
        return [ParagraphSegment([item for _, item in group]) for _, group in groups]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for segment in self.segments for text in segment.list_texts())

    @property
    def content(self) -> Content:
        """Its texts, the signs of its marks, and how its texts are written."""
        spelled = "".join(item.raw for item in self.items if item.kind == "text")
        parts = (part for item in self.items if item.kind not in ("text", "break", "cut") for part in item.template)
        return Content(self.texts, "".join(part for part in parts if isinstance(part, str)), spelled)

    def write(self, translations: Iterator[Translation], notes: Counter[str]) -> str:
        """Writes the paragraph, consuming one translation for each of its texts."""
        output = InlineOutput(self.escape)
        for segment in self.segments:
            translation = next(translations) if segment.is_translated else None
            rendered = [write_template(item.template, translations, notes) for item in segment.items]
            translation = None if segment.is_overfull else translation
            guessed = write_segment(segment, translation, rendered, output, self.needs_text)
            notes += Counter({GUESSED_MARKS: guessed, OVERFULL: int(segment.is_overfull)})
        return output.finish()

    def make_unit(
        self, notes: Counter[str], encode: Callable[[str], str | bytes] = str, content: Content | None = None
    ) -> TranslationUnit:
        """Returns the paragraph as a unit of a document; `encode` finishes its text, or makes bytes of it."""

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            return encode(self.write(iter(translations), notes))

        return TranslationUnit(
            self.texts, write_unit, domain=self.domain, raw=encode(self.raw), content=content or self.content
        )


def join_points(items: Iterable[InlineItem]) -> Iterator[InlineItem]:
    """Yields the items, neighbouring points as one: nothing can come between them."""
    for _, group in groupby(items, lambda item: (item.kind, item.name, item.wrappers, item.keeps_order)):
        first, *others = group
        if first.kind != "point" or not others:
            yield from (first, *others)
            continue
        yield replace(first, template=tuple(chain(first.template, *(item.template for item in others))))


def make_units(
    parts: Iterable[str | Paragraph],
    notes: Counter[str],
    encode: Callable[[str], str | bytes],
    *,
    reads_back: bool = False,
) -> Iterator[TranslationUnit]:
    """Yields the parts of a document as units: the text between two paragraphs is one, or several if it is long.

    With `reads_back`, a paragraph without texts is one, too: a translation may have no letters.
    """
    verbatim: list[str] = []
    size = 0
    for part in parts:
        if isinstance(part, Paragraph) and (part.texts or reads_back):
            yield make_verbatim_unit(encode("".join(verbatim)))
            yield part.make_unit(notes, encode)
            verbatim, size = [], 0
            continue
        verbatim.append(part if isinstance(part, str) else part.raw)
        size += len(verbatim[-1])
        if size > LONGEST_KEPT:
            yield make_verbatim_unit(encode("".join(verbatim)))
            verbatim, size = [], 0
    yield make_verbatim_unit(encode("".join(verbatim)))


def write_template(
    template: Sequence[str | TranslatedPart], translations: Iterator[Translation], notes: Counter[str]
) -> str:
    """Writes a template, consuming one translation for each text of its paragraphs."""
    return "".join(part if isinstance(part, str) else part.write(translations, notes) for part in template)
