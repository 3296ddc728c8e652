"""Subtitles (WebVTT): the text of each cue is translated; times, settings, notes, styles and the header are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.documents.cues.document import CueDocument
from nmt_cli.documents.cues.turns import CUE_LINE
from nmt_cli.documents.document import TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.xml.scanner import MARKUP_SYNTAX
from nmt_cli.translation.placement.traced_text import TextRange

TIMING_LINE = re.compile(
    r"[ \t]*(?:\d{2,}:)?\d\d:\d\d\.\d{3}[ \t]+-->[ \t]+(?:\d{2,}:)?\d\d:\d\d\.\d{3}(?:[ \t][^\r\n]*)?\r?\n?"
)
VTT_KEPT_BLOCKS = ("NOTE", "STYLE", "REGION", "WEBVTT")


class WebVttDocument(CueDocument):
    syntax = MARKUP_SYNTAX

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: "utf-8")
        yield make_verbatim_unit(decoded.mark)
        if not decoded.text.startswith("WEBVTT"):
            self.source.refuse(1, "it is not WebVTT, whose first line is WEBVTT", "name its format with --format")
        yield from self.translate_cues(decoded.text, list(find_cues(decoded.text)))


def find_cues(text: str) -> Iterator[TextRange]:
    """Yields the range of each cue's text, without the line end after it."""
    start: int | None = None  # of the text of a cue, after its times
    block = ""  # the first line of what stands between two blank lines
    for match in CUE_LINE.finditer(text):
        line = match[0]
        if start is not None and line.strip() and "-->" not in line:
            continue
        if start is not None:
            yield make_range(text, start, match.start())
            start = None
        block = (block or line) if line.strip() else ""
        if line.strip() and not block.startswith(VTT_KEPT_BLOCKS) and TIMING_LINE.fullmatch(line):
            start, block = match.end(), ""
    if start is not None:
        yield make_range(text, start, len(text))


def make_range(text: str, start: int, end: int) -> TextRange:
    return TextRange(start, start + len(text[start:end].rstrip("\r\n")))
