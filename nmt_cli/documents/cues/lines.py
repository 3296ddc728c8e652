"""Subtitles and lyrics with a cue per line: a pattern finds its text; times, styles and the rest are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from nmt_cli.documents.cues.document import CueDocument
from nmt_cli.documents.document import TranslationUnit
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.translation.placement.traced_text import TextRange

LINE_CUE_MEBIBYTES = 48


class LineCueDocument(CueDocument):
    """A file with a cue per line; its subclasses are the table."""

    cue: ClassVar[re.Pattern[str]]

    def read_units(self) -> Iterator[TranslationUnit]:
        text = self.source.read_text(LINE_CUE_MEBIBYTES)
        yield from self.translate_cues(text, [TextRange(*match.span("text")) for match in self.cue.finditer(text)])


class AdvancedSubtitleDocument(LineCueDocument):
    """Advanced SubStation: the tenth field of a dialogue line, unless it is a drawing."""

    cue = re.compile(r"^Dialogue:(?:[^,\r\n]*,){9}(?![^\r\n]*\{[^{}\r\n]*\\p[1-9])(?P<text>[^\r\n]*)", re.MULTILINE)
    line_end = re.compile(r"\\[Nn]")
    syntax = TextSyntax(re.compile(r"\\[Nnh]|[ \t]+"), lambda _: " ", str)


class MicroDvdDocument(LineCueDocument):
    """MicroDVD: `{100}{150}A line|and another`."""

    cue = re.compile(r"^\ufeff?\{\d+\}\{\d*\}(?P<text>[^\r\n]*)", re.MULTILINE)
    line_end = re.compile(r"\|")
    syntax = TextSyntax(re.compile(r"\||[ \t]+"), lambda _: " ", lambda text: text.replace("|", "/"))


class LyricsDocument(LineCueDocument):
    """Lyrics (LRC): `[00:12.00]A line`, also with times of words."""

    cue = re.compile(r"^\ufeff?(?:\[\d+:\d+(?:[.:]\d+)?\][ \t]*)+(?P<text>[^\r\n]*)", re.MULTILINE)
    syntax = TextSyntax(re.compile(r"[ \t]+"), lambda _: " ", str)
