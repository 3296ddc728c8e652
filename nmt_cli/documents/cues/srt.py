"""Subtitles (SubRip), parsed by pysubs2: numbers and times are kept byte for byte."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from nmt_cli.documents.cues.document import CueDocument
from nmt_cli.documents.cues.turns import CUE_LINE
from nmt_cli.documents.document import TranslationUnit, import_library
from nmt_cli.documents.marks.spelling import TextSyntax
from nmt_cli.translation.placement.traced_text import TextRange

SRT_MEBIBYTES = 48  # of which the parser makes about 1 GiB in memory
NUMBER_AT_END = re.compile(r"\n\s*\n *\d+\s*\Z")  # of a cue that does not follow
CUES_NOT_LOCATED = "cues that were not translated: they could not be located in the file after parsing"


class SubtitleDocument(CueDocument):
    syntax = TextSyntax(re.compile(r"[ \t\r\n]+"), lambda _: " ", str)

    def read_units(self) -> Iterator[TranslationUnit]:
        text = self.source.read_text(SRT_MEBIBYTES)
        breaks = [match.start() - count for count, match in enumerate(re.finditer("\r\n", text))]
        cues = [
            TextRange(*(position + bisect_left(breaks, position) for position in cue))
            for cue in self.find_cues(text.replace("\r\n", "\n"))
        ]
        yield from self.translate_cues(text, cues)

    def find_cues(self, text: str) -> Iterator[TextRange]:
        """Yields the range of each cue's text, in order. Raises DataError if there are no cues."""
        pysubs2 = import_library("pysubs2", "pysubs2", "Subtitles")
        if not text.strip():
            return
        stamp = pysubs2.time.TIMESTAMP
        # The parser takes a number on the last line for that of a next cue, and drops it: it gets one that it may drop.
        numbered = text if NUMBER_AT_END.search(text) else f"{text}\n\n0"
        events = list(pysubs2.SSAFile.from_string(numbered, format_="srt", keep_html_tags=True))
        if not events:
            self.source.refuse(1, "there is no cue", "each has a line with two times: 00:00:01,000 --> 00:00:02,000")
        times = [line for line in CUE_LINE.finditer(text) if len(stamp.findall(line[0])) == 2]
        ends = [*(line.start() for line in times[1:]), len(text)]
        for event, line, end in zip(events, times, ends, strict=True):
            # The parser writes a line end as \N. Blank lines after the cue do not belong to it.
            content = event.text.replace("\\N", "\n").rstrip()
            position = text.find(content, line.end(), end)
            if position < 0:
                self.notes[CUES_NOT_LOCATED] += 1
            elif content:
                yield TextRange(position, position + len(content))
