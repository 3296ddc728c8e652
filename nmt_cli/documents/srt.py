r"""Subtitles (SubRip), parsed by pysubs2: numbers and times stay byte for byte.

A cue is one text, however many lines it has, and its translation is wrapped to the same number of lines. If each line
of a cue is another speaker's (`- Yes.`), each is a text. Tags such as `<i>` and `{\an8}` stay with their words.
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
from nmt_cli.documents.sentences import join_sentences, split_marked
from nmt_cli.text.words import has_letters

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|\{\\[^{}\n]*\}")
OPENING = re.compile(r"<([A-Za-z][\w-]*)")
SPEAKER = re.compile(r"\s*(?:[-–—]\s*)(?=\S)")
LINE = re.compile(r"[^\n]*\n?")
NUMBER_AT_END = re.compile(r"\n\s*\n *\d+\s*\Z")  # of a cue that does not follow
GUESSED = "tags whose positions are guesses"
NOT_FOUND = "cues that were not translated: they could not be located in the file after parsing"


@dataclass(frozen=True)
class CueLine:
    """The sentences of a text in a cue, and the string before them: a speaker's dash, or nothing."""

    before: str
    sentences: Sequence[MarkedText]


class SubtitleDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        text = "".join(self.source.decode_lines(ends=True))
        line_end = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n")
        position = 0
        for start, end in find_cues(text, self.source, self.notes):
            yield keep_verbatim(text[position:start].replace("\n", line_end))
            cue = text[start:end]
            yield (
                self.make_unit(cue, line_end)
                if has_letters(TAG.sub("", cue))
                else keep_verbatim(cue.replace("\n", line_end))
            )
            position = end
        yield keep_verbatim(text[position:].replace("\n", line_end))

    def make_unit(self, text: str, line_end: str) -> TranslationUnit:
        """Returns the unit of a cue: one text, or one per line if each line is another speaker's."""
        lines, by_sentence = text.split("\n"), self.source.split_sentences
        if len(lines) > 1 and all(SPEAKER.match(TAG.sub("", line)) for line in lines):
            cue_lines = [split_speaker(extract_tags(line), by_sentence=by_sentence) for line in lines]
        else:
            cue_lines = [CueLine("", split_marked(extract_tags(join_sentences(lines)), by_sentence=by_sentence))]

        def write_cue(translations: Sequence[Translation]) -> str:
            remaining = iter(translations)
            written = [self.write_line(line, remaining) for line in cue_lines]
            return line_end.join(wrap_text(written[0], len(lines)) if len(written) == 1 else written)

        return TranslationUnit(tuple(sentence.text for line in cue_lines for sentence in line.sentences), write_cue)

    def write_line(self, line: CueLine, translations: Iterator[Translation]) -> str:
        placed = [project_marks(part, next(translations), str) for part in line.sentences]
        self.notes += Counter({GUESSED: sum(part.guessed for part in placed)})
        return line.before + join_sentences(part.text for part in placed)


def find_cues(text: str, source: DocumentSource, notes: Counter[str]) -> Iterator[tuple[int, int]]:
    """Yields the range [start, end) of each cue's text, in order. Raises DataError if there is no cue at all."""
    pysubs2 = import_library("pysubs2", "pysubs2", "Subtitles")
    if not text.strip():
        return
    stamp = pysubs2.time.TIMESTAMP
    # The parser takes a number on the last line for that of a next cue, and drops it. So it gets one that it may drop.
    numbered = text if NUMBER_AT_END.search(text) else f"{text}\n\n0"
    events = list(pysubs2.SSAFile.from_string(numbered, format_="srt", keep_html_tags=True))
    if not events:
        source.refuse(1, "there is no cue", "each has a line with two times: 00:00:01,000 --> 00:00:02,000")
    times = [line for line in LINE.finditer(text) if len(stamp.findall(line[0])) == 2]
    ends = [*(line.start() for line in times[1:]), len(text)]
    for event, line, end in zip(events, times, ends, strict=True):
        # The parser writes a line end as \N. Blank lines after the cue do not belong to it.
        content = event.text.replace("\\N", "\n").rstrip()
        position = text.find(content, line.end(), end)
        if position < 0:
            notes[NOT_FOUND] += 1
        elif content:
            yield position, position + len(content)


def extract_tags(text: str) -> MarkedText:
    """Returns the text without its tags, with a mark for each pair of tags and for each tag without a partner."""
    plain, position = "", 0
    marks: list[Mark] = []
    open_tags: list[int] = []  # indices in `marks` of tags whose end has not been read yet
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
    """Whether `tag` is the end tag of `opening`, as `</font>` is that of `<font color="red">`."""
    name = OPENING.match(opening)
    return name is not None and tag == f"</{name[1]}>"


def split_speaker(marked: MarkedText, *, by_sentence: bool) -> CueLine:
    """Splits a text into the speaker's dash and the sentences after it."""
    match = SPEAKER.match(marked.text)
    length = match.end() if match else 0
    moved = tuple(
        replace(mark, start=max(0, mark.start - length), end=max(0, mark.end - length)) for mark in marked.marks
    )
    return CueLine(marked.text[:length], split_marked(MarkedText(marked.text[length:], moved), by_sentence=by_sentence))


def wrap_text(text: str, count: int) -> list[str]:
    """Wraps `text` at blanks into at most `count` lines, of which the longest is as short as possible.

    No line ends inside a tag, and tags count as empty.
    """
    closed = TAG.sub(lambda tag: tag[0].replace(" ", "\0"), text)
    words = [(word.replace("\0", " "), len(TAG.sub("", word))) for word in closed.split(" ")]
    lengths = [length for _, length in words]
    widths = range(max(lengths), sum(lengths) + len(words))
    narrowest = bisect_left(widths, True, key=lambda width: len(fill_lines(words, width)) <= count)
    return fill_lines(words, widths[narrowest])


def fill_lines(words: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Returns lines of at most `width` characters, each as long as possible; the words come with their lengths."""
    lines, used = [""], 0
    for word, length in words:
        if lines[-1] and used + 1 + length > width:
            lines.append(word)
            used = length
        else:
            used += length + bool(lines[-1])
            lines[-1] = f"{lines[-1]} {word}".lstrip(" ")
    return lines
