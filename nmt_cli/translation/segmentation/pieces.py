"""Splits lines into independently translated pieces, with their protected spans masked.

Knows text, spans and segments, but no networks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.masking import MaskedText
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.rewriting.rewrite import RewrittenText
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.segmentation.segments import Segment

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import RecalledTranslation
    from nmt_cli.translation.result import Origin


class SegmentLayout(NamedTuple):
    """The normalised text of a segment with its spans, and the positions of the masked text in it."""

    text: str
    read: AlignedText  # what the network reads, with `text` as its source
    masked: tuple[range, ...]  # the characters of each masked span in `text`

    def find_word(self, position: int) -> int:
        """Returns the index of the word that contains the character at `position`."""
        return len(self.text[: position + 1].split()) - 1


@dataclass(frozen=True)
class Piece:
    """A segment of a line, masked and rewritten for the network."""

    segment: Segment
    masked: MaskedText
    rewritten: RewrittenText | None = None  # the masked text as the network reads it, if that is another
    is_name: bool = False  # whether it names a picture, which is translated whatever its name
    recalled: RecalledTranslation | None = None  # its translation in a memory, if that has it

    @property
    def text(self) -> str:
        return self.masked.text

    @property
    def is_translated(self) -> bool:
        """Whether there is anything to translate; a piece of only spans, digits and punctuation is kept."""
        return self.recalled is None and (self.is_name or self.masked.has_words)

    @property
    def source_text(self) -> str:
        """The normalised segment of the source; a frame includes the spaces at its ends."""
        if self.segment.is_frame:
            return normalise_between(self.segment.text)
        if self.segment.spans:
            return self.layout.text
        return self.rewritten.source if self.rewritten else self.masked.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans, the masked ones first."""
        return self.segment.spans if self.segment.is_frame else self.masked.spans

    @property
    def changes_spans(self) -> bool:
        """Whether a span is written differently in the translation, such as a glossary term."""
        return any(self.segment.text[span.start : span.end] != span.text for span in self.segment.spans)

    @cached_property
    def layout(self) -> SegmentLayout:
        """The segment with its spans, and the positions of the masked text in it."""
        text, position = "", 0
        positions: list[int] = []
        masked: list[range] = []
        for span in (*self.segment.spans, None):
            between = normalise_between(self.segment.text[position : span.start if span else None])
            positions += [len(text) + index for index, character in enumerate(between) if character != " "]
            text += between
            if span is None:
                break
            normalised = normalise(self.segment.text[span.start : span.end])
            if not span.is_extracted:
                positions += [len(text)] * len(PLACEHOLDERS[len(masked)])
                masked.append(range(len(text), len(text) + len(normalised)))
            text, position = text + normalised, span.end
        before = self.rewritten.source if self.rewritten is not None else self.masked.text
        aligned = align_letters(before, positions)
        read = aligned if self.rewritten is None else self.rewritten.aligned.trace(aligned)
        return SegmentLayout(text, read, tuple(masked))

    @property
    def source_words(self) -> dict[int, int]:
        """Maps each word that the network reads to a word of the segment."""
        layout = self.layout
        starts = (match.start() for match in re.finditer(r"\S+", self.text))
        return {word: layout.find_word(layout.read.origins[start]) for word, start in enumerate(starts)}

    @property
    def unchanged(self) -> str:
        """The segment itself, normalised between its spans, which are written as in the translation.

        A frame is kept exactly unless it is an amount; for a piece recalled from a memory, this is its translation.
        """
        if self.recalled is not None:
            return self.recalled.text
        write = str if self.segment.is_frame else normalise_between
        source, text, position = self.segment.text, "", 0
        for span in (*self.segment.spans, None):
            between = write(source[position : span.start if span else None])
            is_doubled = text.endswith(".") and between.startswith(".") and not source.endswith(".", 0, position)
            text += between[is_doubled:] + (span.text if span else "")  # one stop serves "3 Std." and the sentence
            position = span.end if span else position
        return text if self.segment.is_frame else text.strip()


def align_letters(text: str, positions: Sequence[int]) -> AlignedText:
    """Aligns the characters of a text with `positions` in another; a space gets the previous character's position."""
    remaining, origin = iter(positions), 0
    characters: list[tuple[str, int]] = []
    for character in text:
        origin = origin if character == " " else next(remaining, origin)
        characters.append((character, origin))
    return AlignedText.from_characters(characters)


def normalise_between(text: str) -> str:
    """Normalises the text between two spans, reducing the spaces at each end to one."""
    return normalise(f"|{text}|")[1:-1]


def make_frame_piece(segment: Segment, *, is_amount: bool = False) -> Piece:
    """Returns a segment as a piece that is kept, including its numbers, unless it `is_amount`."""
    if not is_amount:
        spans = tuple(
            span if span.kind is SpanKind.QUOTE else span._replace(text=segment.text[span.start : span.end])
            for span in segment.spans
        )
        segment = segment._replace(spans=spans)
    return Piece(segment, MaskedText("", (), ()))


def make_plain_piece(text: str) -> Piece:
    """Returns a text as one piece in which nothing is protected."""
    return Piece(Segment(text, (), blank_before=False, ends_sentence=True), MaskedText(text, (), ()))


def find_origin(pieces: Sequence[Piece]) -> Origin:
    """Returns the origin of a line's translation."""
    origins = {piece.recalled.origin for piece in pieces if piece.recalled is not None}
    if not origins:
        return "network"
    if any(piece.is_translated for piece in pieces):
        return "memory_part"
    return "memory_numbers" if "memory_numbers" in origins else "memory"
