"""Subtitles (WebVTT): the text of each cue is translated; times, settings, notes, styles and the header stay.

See `cue_paragraph` for what is inside a cue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.cue_paragraph import LINE, read_cue, write_cue
from nmt_cli.documents.document import Document, TranslationUnit, keep_verbatim
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.xml.scanner import escape_markup, spell_text

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

TIMES = re.compile(
    r"[ \t]*(?:\d{2,}:)?\d\d:\d\d\.\d{3}[ \t]+-->[ \t]+(?:\d{2,}:)?\d\d:\d\d\.\d{3}(?:[ \t][^\r\n]*)?\r?\n?"
)


class WebVttDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: "utf-8")
        yield keep_verbatim(decoded.mark)
        if not decoded.text.startswith("WEBVTT"):
            self.source.refuse(1, "it is not WebVTT, whose first line is WEBVTT", "name its format with --format")
        kept: list[str] = []
        for part in split_cues(decoded.text):
            if isinstance(part, Paragraph) and part.texts:
                yield keep_verbatim("".join(kept))
                yield self.make_unit(part)
                kept = []
            else:
                kept.append(part if isinstance(part, str) else part.raw)
        yield keep_verbatim("".join(kept))

    def make_unit(self, cue: Paragraph) -> TranslationUnit:
        def write_unit(translations: Sequence[Translation]) -> str:
            return write_cue(cue, translations, self.notes)

        return TranslationUnit(cue.texts, write_unit)


def split_cues(text: str) -> Iterator[str | Paragraph]:
    """Yields the text of each cue as a paragraph, and everything else as it stands."""
    inside: list[str] | None = None  # the lines of a cue, after its times
    block: list[str] = []
    for match in LINE.finditer(text):
        line = match[0]
        if inside is not None and line.strip() and "-->" not in line:
            inside.append(line)
            continue
        if inside is not None:
            yield from make_cue("".join(inside))
            inside = None
        block = [*block, line] if line.strip() else []
        is_note = block[:1] and block[0].startswith(("NOTE", "STYLE", "REGION", "WEBVTT"))
        if line.strip() and not is_note and TIMES.fullmatch(line):
            inside, block = [], []
        yield line
    if inside:
        yield from make_cue("".join(inside))


def make_cue(text: str) -> Iterator[str | Paragraph]:
    """Yields the lines of a cue as a paragraph, and the line end after it."""
    bare = text.rstrip("\r\n")
    yield read_cue(bare, lambda part: spell_text(part, escape_markup), escape_markup)
    yield text[len(bare) :]
