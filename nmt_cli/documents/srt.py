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

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, import_library, keep_verbatim
from nmt_cli.documents.markup import Mark, MarkedText, project_marks
from nmt_cli.documents.sentences import has_letters, join_sentences, split_marked

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
class CueLine:
    """A text of a cue by sentences, and what stands before it: the dash of a speaker, or nothing."""

    before: str
    sentences: Sequence[MarkedText]


class SubtitleDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        text = "".join(self.source.decode_lines(ends=True))
        line_end = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n")
        written = 0
        for start, end in find_cues(text, self.source, self.notes):
            yield keep_verbatim(text[written:start].replace("\n", line_end))
            cue = text[start:end]
            yield (
                self.make_unit(cue, line_end)
                if has_letters(TAG.sub("", cue))
                else keep_verbatim(cue.replace("\n", line_end))
            )
            written = end
        yield keep_verbatim(text[written:].replace("\n", line_end))

    def make_unit(self, text: str, line_end: str) -> TranslationUnit:
        lines, apart = text.split("\n"), self.source.split_sentences
        spoken = [SPEAKER.match(TAG.sub("", line)) for line in lines]
        if len(lines) > 1 and all(spoken):
            parts = [extract_tags(line) for line in lines]
            split = [split_speaker(part, by_sentence=apart) for part in parts]
        else:
            split = [CueLine("", split_marked(extract_tags(join_sentences(lines)), by_sentence=apart))]

        def write_cue(translations: Sequence[Translation]) -> str:
            remaining = iter(translations)
            written = [self.write_line(line, remaining) for line in split]
            return line_end.join(wrap_text(written[0], len(lines)) if len(written) == 1 else written)

        return TranslationUnit(tuple(sentence.text for line in split for sentence in line.sentences), write_cue)

    def write_line(self, line: CueLine, translations: Iterator[Translation]) -> str:
        placed = [project_marks(part, next(translations), str) for part in line.sentences]
        self.notes += Counter({GUESSED: sum(part.guessed for part in placed)})
        return line.before + join_sentences(part.text for part in placed)


def find_cues(text: str, source: DocumentSource, notes: Counter[str]) -> Iterator[tuple[int, int]]:
    """Where the texts of the cues stand, in the order of the file. Raises DataError for what holds no cue at all."""
    pysubs2 = import_library("pysubs2", "pysubs2", "Subtitles")
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
        position = text.find(content, line.end(), end)
        if position < 0:
            notes[NOT_FOUND] += 1
        elif content:
            yield position, position + len(content)


def extract_tags(text: str) -> MarkedText:
    """The text with a mark for each pair of tags, and for each tag without a partner."""
    plain, position = "", 0
    marks: list[Mark] = []
    open_tags: list[int] = []  # places in `marks` of tags that wait for their partners
    for tag in TAG.finditer(text):
        plain += text[position : tag.start()]
        position = tag.end()
        if open_tags and is_closed_by(tag[0], marks[open_tags[-1]].fixed or ""):
            index = open_tags.pop()
            start, opening = marks[index].start, marks[index].fixed or ""
            if start < len(plain):
                marks[index] = Mark(start, len(plain), opening, tag[0], depth=len(open_tags))
                continue
        elif OPENING.match(tag[0]):
            open_tags.append(len(marks))
        marks.append(Mark(len(plain), len(plain), fixed=tag[0], depth=len(open_tags)))
    return MarkedText(plain + text[position:], tuple(marks))


def is_closed_by(tag: str, opening: str) -> bool:
    """Whether `tag` is the end of `opening`, as `</font>` is that of `<font color="red">`."""
    name = OPENING.match(opening)
    return name is not None and tag == f"</{name[1]}>"


def split_speaker(marked: MarkedText, *, by_sentence: bool) -> CueLine:
    """The text without the dash before it."""
    match = SPEAKER.match(marked.text)
    length = match.end() if match else 0
    moved = tuple(
        replace(mark, start=max(0, mark.start - length), end=max(0, mark.end - length)) for mark in marked.marks
    )
    return CueLine(marked.text[:length], split_marked(MarkedText(marked.text[length:], moved), by_sentence=by_sentence))


def wrap_text(text: str, count: int) -> list[str]:
    """`text` in `count` lines at most, broken at blanks so that the longest is as short as can be.

    No line ends inside a tag, and a tag takes no room.
    """
    closed = TAG.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), len(TAG.sub("", word))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(fill_lines(words, width)) <= count)
    return fill_lines(words, widths[narrowest])


def fill_lines(words: Sequence[tuple[str, int]], width: int) -> list[str]:
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
