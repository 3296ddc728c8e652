r"""Subtitles (SubRip), read by pysubs2: numbers and times stay as they are, byte for byte.

A cue is one text, whatever lines it is broken into, and is broken into as many again; a cue in which each line is
another speaker's (`- Yes.`) is a text a line. Tags such as `<i>` and `{\an8}` stay with their words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, Source, TranslationUnit, library, verbatim
from nmt_cli.documents.markup import Mark, MarkedText, with_marks
from nmt_cli.documents.sentences import has_letters, joined, sentences

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|\{\\[^{}\n]*\}")
OPENING = re.compile(r"<([A-Za-z][\w-]*)")
SPEAKER = re.compile(r"\s*(?:[-–—]\s*)(?=\S)")
LINE = re.compile(r"[^\n]*\n?")
NUMBER_AT_END = re.compile(r"\n\s*\n *\d+\s*\Z")  # of a cue that never came
GUESSED = "tags that were placed by guess"
NOT_FOUND = "cues that were left as they are, since the parser reads them differently from how they stand"


@dataclass(frozen=True)
class Line:
    """A text of a cue by sentences, and what stands before it: the dash of a speaker, or nothing."""

    before: str
    sentences: Sequence[MarkedText]


class SubtitleDocument(Document):
    def units(self) -> Iterator[TranslationUnit]:
        text = "".join(self.source.text_lines(ends=True))
        line_end = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n")
        written = 0
        for start, end in cues(text, self.source, self.notes):
            yield verbatim(text[written:start].replace("\n", line_end))
            cue = text[start:end]
            yield self.cue(cue, line_end) if has_letters(TAG.sub("", cue)) else verbatim(cue.replace("\n", line_end))
            written = end
        yield verbatim(text[written:].replace("\n", line_end))

    def cue(self, text: str, line_end: str) -> TranslationUnit:
        lines, apart = text.split("\n"), self.source.split_sentences
        spoken = [SPEAKER.match(TAG.sub("", line)) for line in lines]
        if len(lines) > 1 and all(spoken):
            parts = [without_tags(line) for line in lines]
            split = [speaker(part, apart=apart) for part in parts]
        else:
            split = [Line("", sentences(without_tags(joined(lines)), apart=apart))]

        def written(translations: Sequence[Translation]) -> str:
            remaining = iter(translations)
            found = [self.line(line, remaining) for line in split]
            return line_end.join(wrapped(found[0], len(lines)) if len(found) == 1 else found)

        return TranslationUnit(tuple(one.text for line in split for one in line.sentences), written)

    def line(self, line: Line, translations: Iterator[Translation]) -> str:
        placed = [with_marks(one, next(translations), str) for one in line.sentences]
        self.notes += Counter({GUESSED: sum(one.guessed for one in placed)})
        return line.before + joined(one.text for one in placed)


def cues(text: str, source: Source, notes: Counter[str]) -> Iterator[tuple[int, int]]:
    """Where the texts of the cues stand, in the order of the file. Raises DataError for what holds no cue at all."""
    pysubs2 = library("pysubs2", "pysubs2", "Subtitles")
    if not text.strip():
        return
    stamp = pysubs2.time.TIMESTAMP
    # Of a last line that is a number the parser thinks that it is the next cue's: so it is given one to think that of.
    numbered = text if NUMBER_AT_END.search(text) else f"{text}\n\n0"
    events = list(pysubs2.SSAFile.from_string(numbered, format_="srt", keep_html_tags=True))
    if not events:
        source.refuse(1, "no cue of a subtitle", "a cue has a line of two times: 00:00:01,000 --> 00:00:02,000")
    times = [line for line in LINE.finditer(text) if len(stamp.findall(line[0])) == 2]
    ends = [*(line.start() for line in times[1:]), len(text)]
    for event, line, end in zip(events, times, ends, strict=True):
        # So the parser writes the end of a line; and a line of blanks behind the cue, which belongs to none.
        content = event.text.replace("\\N", "\n").rstrip()
        place = text.find(content, line.end(), end)
        if place < 0:
            notes[NOT_FOUND] += 1
        elif content:
            yield place, place + len(content)


def without_tags(text: str) -> MarkedText:
    """The text with a mark for each pair of tags, and for each tag without a partner."""
    plain, place = "", 0
    marks: list[Mark] = []
    opened: list[int] = []  # places in `marks` of tags that wait for their partners
    for tag in TAG.finditer(text):
        plain += text[place : tag.start()]
        place = tag.end()
        if opened and closes(tag[0], marks[opened[-1]].fixed or ""):
            own = opened.pop()
            start, opening = marks[own].start, marks[own].fixed or ""
            if start < len(plain):
                marks[own] = Mark(start, len(plain), opening, tag[0], depth=len(opened))
                continue
        elif OPENING.match(tag[0]):
            opened.append(len(marks))
        marks.append(Mark(len(plain), len(plain), fixed=tag[0], depth=len(opened)))
    return MarkedText(plain + text[place:], tuple(marks))


def closes(tag: str, opening: str) -> bool:
    """Whether `tag` is the end of `opening`, as `</font>` is that of `<font color="red">`."""
    name = OPENING.match(opening)
    return name is not None and tag == f"</{name[1]}>"


def speaker(marked: MarkedText, *, apart: bool) -> Line:
    """The text without the dash before it."""
    found = SPEAKER.match(marked.text)
    length = found.end() if found else 0
    moved = tuple(
        replace(mark, start=max(0, mark.start - length), end=max(0, mark.end - length)) for mark in marked.marks
    )
    return Line(marked.text[:length], sentences(MarkedText(marked.text[length:], moved), apart=apart))


def wrapped(text: str, count: int) -> list[str]:
    """`text` in `count` lines at most, broken at blanks so that the longest is as short as can be.

    No line ends inside a tag, and a tag takes no room.
    """
    closed = TAG.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), len(TAG.sub("", word))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(filled(words, width)) <= count)
    return filled(words, widths[narrowest])


def filled(words: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Lines of at most `width` characters, each as long as can be; the words are given with their lengths."""
    lines, used = [""], 0
    for word, length in words:
        if lines[-1] and used + 1 + length > width:
            lines.append(word)
            used = length
        else:
            used += length + bool(lines[-1])
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines
