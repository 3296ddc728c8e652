"""Subtitles (WebVTT): the text of each cue is translated; times, settings, notes, styles and the header stay.

See `cue_paragraph` for what is inside a cue. A sentence that goes on in the next cue is translated as one and divided
again (`cues`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt_cli.documents.cue_paragraph import LINE, read_cue, write_cue
from nmt_cli.documents.cues import LONGEST_SENTENCE, JoinedText, Turn, goes_on, split_turns, wrap_like
from nmt_cli.documents.document import Document, TranslationUnit, keep_verbatim
from nmt_cli.documents.encodings import decode_document
from nmt_cli.documents.marks.paragraph import Paragraph
from nmt_cli.documents.sentences import join_sentences
from nmt_cli.documents.xml.scanner import escape_markup, spell_text

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

PLAIN = re.compile(r"((?:<[A-Za-z][^<>\n]*>)*)([^<>{}]*)((?:</[A-Za-z]+>)*)")
TIMES = re.compile(
    r"[ \t]*(?:\d{2,}:)?\d\d:\d\d\.\d{3}[ \t]+-->[ \t]+(?:\d{2,}:)?\d\d:\d\d\.\d{3}(?:[ \t][^\r\n]*)?\r?\n?"
)


class WebVttDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_document(self.source, lambda _: "utf-8")
        yield keep_verbatim(decoded.mark)
        if not decoded.text.startswith("WEBVTT"):
            self.source.refuse(1, "it is not WebVTT, whose first line is WEBVTT", "name its format with --format")
        parts = list(split_cues(decoded.text))
        position = 0
        for indices in self.group_cues(parts):
            yield keep_verbatim("".join(map(read_raw, parts[position : indices[0]])))
            yield self.make_unit(parts[indices[0] : indices[-1] + 1])
            position = indices[-1] + 1
        yield keep_verbatim("".join(map(read_raw, parts[position:])))

    def group_cues(self, parts: Sequence[str | Paragraph]) -> Iterator[list[int]]:
        """Yields the indices of the cues with text, those together through which a sentence goes on."""
        is_cased = any(map(str.isupper, "".join(part.raw for part in parts if isinstance(part, Paragraph))))
        group: list[int] = []
        last: PlainCue | None = None
        for index, part in enumerate(parts):
            if not isinstance(part, Paragraph) or not part.texts:
                continue
            cue = read_plain_cue(part.raw) if self.source.split_sentences else None
            if group and not (len(group) < LONGEST_SENTENCE and cue and last and last.goes_on(cue, is_cased=is_cased)):
                yield group
                group = []
            group.append(index)
            last = cue
        if group:
            yield group

    def make_unit(self, parts: Sequence[str | Paragraph]) -> TranslationUnit:
        """Returns the unit of a cue, or of several through which a sentence goes on, with what is between them."""
        first, *others = parts
        if isinstance(first, Paragraph) and not others:
            return TranslationUnit(first.texts, lambda translations: write_cue(first, translations, self.notes))
        cues = [read_plain_cue(part.raw) if isinstance(part, Paragraph) else part for part in parts]
        joined = JoinedText(tuple(cue.turn.text.text for cue in cues if isinstance(cue, PlainCue)))
        ranges = joined.split(self.source.must_split)

        def write_unit(translations: Sequence[Translation]) -> str:
            texts = map(join_sentences, joined.divide(ranges, translations))
            return "".join(cue.write(next(texts)) if isinstance(cue, PlainCue) else str(cue) for cue in cues)

        return TranslationUnit(tuple(joined.text[start:end].strip() for start, end in ranges), write_unit)


@dataclass(frozen=True)
class PlainCue:
    """A cue of one speaker without tags but around the whole of it, which may go on in the next cue."""

    lead: str  # the tags before its text
    turn: Turn
    tail: str
    line_end: str

    def goes_on(self, following: PlainCue, *, is_cased: bool) -> bool:
        """Whether a sentence goes on in the next cue, by the same speaker."""
        is_same = (self.lead, self.tail) == (following.lead, following.tail)
        return is_same and goes_on(self.turn, following.turn, is_cased=is_cased)

    def write(self, text: str) -> str:
        return f"{self.lead}{self.line_end.join(map(escape_markup, wrap_like(text, self.turn)))}{self.tail}"


def read_plain_cue(raw: str) -> PlainCue | None:
    """Returns a cue that can be joined with others; None for any other."""
    match = PLAIN.fullmatch(raw)
    if match is None:
        return None
    lead, written, tail = match.groups()
    line_end = "\r\n" if "\r\n" in written else "\n"
    lines = [html.unescape(line) for line in written.split(line_end)]
    is_same = line_end.join(escape_markup(" ".join(line.split())) for line in lines) == written
    turns = split_turns("\n".join(lines)) if is_same else []
    return PlainCue(lead, turns[0], tail, line_end) if len(turns) == 1 and not turns[0].before else None


def read_raw(part: str | Paragraph) -> str:
    return part if isinstance(part, str) else part.raw


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
