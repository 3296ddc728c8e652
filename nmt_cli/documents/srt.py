r"""Subtitles (SubRip), parsed by pysubs2: numbers and times stay byte for byte.

What one speaker says in a cue is one text, however many lines it has, and its translation is wrapped to the same
number of lines. A sentence that goes on in the next cue is translated as one and divided again (`cues`). Tags such as
`<i>` and `{\an8}` stay with their words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from nmt_cli.documents.cues import LONGEST_SENTENCE, TAG, JoinedText, Turn, goes_on, split_turns, wrap_like
from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, import_library, keep_verbatim
from nmt_cli.documents.markup import MarkedText, project_marks
from nmt_cli.documents.sentences import join_sentences
from nmt_cli.text.words import has_letters

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

MAXIMUM_SIZE = 48  # MiB, of which the parser makes about 1 GiB in memory
LINE = re.compile(r"[^\n]*\n?")
LINE_END = re.compile(r"\r?\n")
NUMBER_AT_END = re.compile(r"\n\s*\n *\d+\s*\Z")  # of a cue that does not follow
GUESSED = "tags whose positions are guesses"
NOT_FOUND = "cues that were not translated: they could not be located in the file after parsing"


@dataclass(frozen=True)
class Cue:
    """The text of a cue: the characters [start, end) of a file."""

    start: int
    end: int
    turns: Sequence[Turn]  # none without a letter


class SubtitleDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        text = self.source.read_text(MAXIMUM_SIZE)
        self.line_ends = LINE_END.findall(text)  # a file may mix them, after it was put together from several
        text = text.replace("\r\n", "\n")
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        cues = [
            Cue(start, end, split_turns(text[start:end]) if has_letters(TAG.sub("", text[start:end])) else ())
            for start, end in find_cues(text, self.source, self.notes)
        ]
        position = 0
        for group in self.group_cues(cues, is_cased=has_capitals(text, cues)):
            yield keep_verbatim(self.write_ends(text[position : group[0].start], position))
            yield self.make_unit(text, group)
            position = group[-1].end
        yield keep_verbatim(self.write_ends(text[position:], position))

    def write_ends(self, text: str, position: int) -> str:
        """Returns a text with the line ends that follow `position` in the file."""
        first, *lines = text.split("\n")
        index = bisect_left(self.breaks, position)
        return first + "".join(end + line for end, line in zip(self.line_ends[index:], lines, strict=False))

    def group_cues(self, cues: Sequence[Cue], *, is_cased: bool) -> Iterator[list[Cue]]:
        """Yields the cues, those together through which a sentence goes on."""
        group: list[Cue] = []
        for cue in cues:
            joins = (
                self.source.split_sentences
                and 0 < len(group) < LONGEST_SENTENCE
                and bool(group[-1].turns and cue.turns)
                and goes_on(group[-1].turns[-1], cue.turns[0], is_cased=is_cased)
            )
            if group and not joins:
                yield group
                group = []
            group.append(cue)
        if group:
            yield group

    def make_unit(self, text: str, cues: Sequence[Cue]) -> TranslationUnit:
        """Returns the unit of one cue, or of several through which a sentence goes on."""
        if not cues[0].turns:
            return keep_verbatim(self.write_ends(text[cues[0].start : cues[0].end], cues[0].start))
        pieces = list(make_pieces(cues, self.source.must_split))

        def write_cues(translations: Sequence[Translation]) -> str:
            remaining = iter(translations)
            written: list[list[str]] = [[] for _ in cues]
            for piece in pieces:
                self.write_piece(piece, list(islice(remaining, len(piece.texts))), written)
            whole = ""
            for index, cue in enumerate(cues):
                if index:
                    whole += self.write_ends(text[cues[index - 1].end : cue.start], cues[index - 1].end)
                whole += self.write_ends("\n".join(written[index]), cue.start)
            return whole

        return TranslationUnit(tuple(text for piece in pieces for text in piece.texts), write_cues)

    def write_piece(self, piece: CueText, translations: Sequence[Translation], written: list[list[str]]) -> None:
        """Appends the lines of a turn, or of one that goes on in other cues, to those of its cues."""
        if piece.joined is not None:
            texts = [join_sentences(parts) for parts in piece.joined.divide(piece.ranges, translations)]
        else:
            placed = [project_marks(part, new, str) for part, new in zip(piece.sentences, translations, strict=True)]
            self.notes += Counter({GUESSED: sum(part.guessed for part in placed)})
            texts = [join_sentences(part.text for part in placed)]
        for offset, (turn, text) in enumerate(zip(piece.turns, texts, strict=True)):
            first, *others = wrap_like(text, turn)
            written[piece.cue + offset] += [turn.before + first, *others]


@dataclass(frozen=True)
class CueText:
    """Texts that are translated one by one: those of a turn, or of turns of consecutive cues that are one text."""

    cue: int  # the index of the first cue
    turns: Sequence[Turn]  # one per cue
    sentences: Sequence[MarkedText] = ()
    joined: JoinedText | None = None
    ranges: Sequence[tuple[int, int]] = ()  # of the sentences of `joined`

    @property
    def texts(self) -> list[str]:
        if self.joined is None:
            return [sentence.text for sentence in self.sentences]
        return [self.joined.text[start:end].strip() for start, end in self.ranges]


def make_pieces(cues: Sequence[Cue], must_split: Callable[[str], bool]) -> Iterator[CueText]:
    """Yields the pieces of cues through which sentences go on: from the last turn of each to the first of the next."""
    index = 0
    while index < len(cues):
        *turns, last = cues[index].turns
        yield from (CueText(index, [turn], turn.split(must_split)) for turn in turns)
        chain, first = [last], index
        while index + 1 < len(cues):
            index += 1
            following, *others = cues[index].turns
            chain.append(following)
            if others:
                break
        if len(chain) == 1:
            yield CueText(first, chain, last.split(must_split))
            return
        joined = JoinedText(tuple(turn.text.text.strip() for turn in chain))
        yield CueText(first, chain, joined=joined, ranges=joined.split(must_split))
        remaining = cues[index].turns[1:]
        if not remaining:
            return
        cues = [*cues[:index], replace(cues[index], turns=remaining), *cues[index + 1 :]]


def has_capitals(text: str, cues: Sequence[Cue]) -> bool:
    """Whether the cues are written with small letters and capitals, so that a small one goes on with a sentence."""
    return any(character.isupper() for cue in cues for character in TAG.sub("", text[cue.start : cue.end]))


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
