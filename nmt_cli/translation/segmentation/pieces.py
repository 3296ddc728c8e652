"""Splits lines into pieces that are translated on their own, with their protected spans masked.

Knows text, spans and segments, but no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nmt_cli.carrying.masking import MaskedText, mask
from nmt_cli.carrying.numbers import NumberNotation, is_label
from nmt_cli.carrying.spans import DIGIT, Span, cover_spans, find_spans
from nmt_cli.rewriting.rewrite import FoldedMask, InputFolding
from nmt_cli.search.sampling import TextId
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.words import has_letters
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.segmentation.segments import Segment, cut, is_plain

if TYPE_CHECKING:
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.translation.memory.lookup import RecalledTranslation
    from nmt_cli.translation.result import Origin, Translation

NEAR = 20  # characters behind a number that may say what it is: 5 to 6 p.m.


class SegmentLayout(NamedTuple):
    """The text of a segment with its spans, normalised, and where in it the masked text stands."""

    text: str
    positions: tuple[int, ...]  # in `text`, of each character of the masked text that is not a blank
    masked: tuple[range, ...]  # the characters of each masked span

    def find_word(self, position: int) -> int:
        """Returns the index of the word to which the character at `position` belongs."""
        return len(self.text[: position + 1].split()) - 1


@dataclass(frozen=True)
class Piece:
    """A segment of a line, masked and folded as the network reads it."""

    segment: Segment
    masked: MaskedText
    folded: FoldedMask | None = None  # how `masked` differs from the segment, if it was folded
    is_name: bool = False  # whether it names a picture, which is translated whatever its name
    recalled: RecalledTranslation | None = None  # its translation in a memory, if that has it

    @property
    def text(self) -> str:
        return self.masked.text

    @property
    def is_translated(self) -> bool:
        """Whether there is anything to translate; a piece of spans, digits and marks alone stays as it is."""
        return self.recalled is None and (self.is_name or self.masked.has_words)

    @property
    def has_digits(self) -> bool:
        """Whether it has digits, perhaps only in its spans. Fast: a translation asks for each of its pieces."""
        return DIGIT.search(self.segment.text) is not None

    @property
    def source_text(self) -> str:
        """The segment as it stands in the source, normalised; a frame with the blanks at its ends."""
        if self.segment.is_frame:
            return normalise_between(self.segment.text)
        if self.segment.spans:
            return self.layout.text
        return self.folded.unfolded if self.folded else self.masked.text

    @property
    def spans(self) -> tuple[Span, ...]:
        """All spans, the masked ones first."""
        return self.segment.spans if self.segment.is_frame else self.masked.spans

    @property
    def changes_spans(self) -> bool:
        """Whether a span is written differently in the translation, such as a term of a glossary."""
        return any(self.segment.text[span.start : span.end] != span.text for span in self.segment.spans)

    @cached_property
    def layout(self) -> SegmentLayout:
        """The segment with its spans, and where in it the masked text stands."""
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
        if self.folded is not None:
            positions = follow_origins(positions, self.folded)
        return SegmentLayout(text, tuple(positions), tuple(masked))

    @property
    def source_words(self) -> dict[int, int]:
        """For each word that the network reads, the word of the segment that it is."""
        layout, offsets = self.layout, accumulate(map(len, self.text.split()), initial=0)
        last = len(layout.positions) - 1
        return {
            word: layout.find_word(layout.positions[min(offset, last)])
            for word, offset in enumerate(offsets)
            if last >= 0
        }

    @property
    def unchanged(self) -> str:
        """The segment itself, normalised between its spans; the spans are as they are to stand in the translation.

        A frame stays exactly as it is; what a memory has translated is its translation there.
        """
        if self.recalled is not None:
            return self.recalled.text
        if self.segment.is_frame:
            return self.segment.text
        text, position = "", 0
        for span in self.segment.spans:
            text += normalise_between(self.segment.text[position : span.start]) + span.text
            position = span.end
        return (text + normalise_between(self.segment.text[position:])).strip()


def follow_origins(positions: Sequence[int], folded: FoldedMask) -> list[int]:
    """Returns where each character of a folded text stands, blanks left out; `positions` are those of the unfolded."""
    numbers = list(accumulate((character != " " for character in folded.unfolded), initial=0))
    letters = zip(folded.masked.text, folded.origins, strict=True)
    return [positions[min(numbers[origin], len(positions) - 1)] for letter, origin in letters if letter != " "]


def normalise_between(text: str) -> str:
    """Returns the text between two spans normalised, with a single blank at each end that had any."""
    return normalise(f"|{text}|")[1:-1]


class LineReader:
    """Splits lines into pieces and masks their protected spans.

    `carries` says whether the network has learned to carry placeholders over; else spans are extracted, but plain
    numbers stay in the text. They stay there too for a network that has learned placeholders, but not for numbers.
    """

    def __init__(
        self,
        config: LineConfig,
        *,
        carries: bool,
        carries_numbers: bool = True,
        glossary: Glossary | None = None,
        folding: InputFolding | None = None,
        notation: NumberNotation | None = None,
    ) -> None:
        """`notation` says how the target writes numbers; without it, they stay as they are."""
        self.config = config
        self.carries = carries
        self.carries_numbers = carries and carries_numbers
        self.glossary = glossary
        self.folding = folding if config.fold else None
        self.notation = notation

    def split_line(self, line: str, *, whole: bool = False) -> list[Piece]:
        """Returns the pieces of a line; none for a blank line, and with `whole` only one if it fits.

        A line without a letter outside its spans is one piece, which stays byte for byte.
        """
        if not has_letters(line) and self.glossary is None:
            return [self.make_frame(line)] if normalise(line) else []
        segments = self.split_segments(line, whole=whole)
        pieces = [
            make_frame_piece(segment) if segment.is_frame else Piece(segment, mask(segment.text, segment.spans))
            for segment in segments
        ]
        pieces = [piece for piece in pieces if piece.text or piece.masked.spans or piece.segment.is_frame]
        if pieces and not any(piece.is_translated or piece.changes_spans for piece in pieces):
            return [self.make_frame(line)]
        return pieces if self.folding is None else list(fold_pieces(pieces, line, self.folding))

    def protect_more(self, piece: Piece, spans: Sequence[Span]) -> Piece:
        """Returns a piece with further protected spans, folded as it was."""
        spans = self.convert_numbers(spans, piece.segment.text)
        segment = piece.segment._replace(spans=tuple(sorted([*piece.segment.spans, *spans])))
        protected = Piece(segment, mask(segment.text, segment.spans))
        return protected if self.folding is None else next(fold_pieces([protected], segment.text, self.folding))

    def make_frame(self, line: str) -> Piece:
        """Returns a line as one piece that stays byte for byte."""
        spans = tuple(find_spans(line)) if self.config.protect else ()
        return make_frame_piece(Segment(line, spans, blank_before=False, ends_sentence=True, is_frame=True))

    def split_segments(self, text: str, *, whole: bool = False, in_choice: bool = False) -> list[Segment]:
        """Returns the segments of a text: its sentences, what frames them, and the tags that divide them."""
        spans = self.find_spans(text, in_choice=in_choice)
        choice = next((span for span in spans if span.is_choice), None) if not whole else None
        if choice is not None and (in_texts := self.split_around_choice(text, choice)):
            return in_texts
        by_sentence = self.config.split_sentences and not whole
        if whole or not self.config.protect:
            return cut(text, spans, self.config.max_words, by_sentence=by_sentence)
        parts = split_at_dividers(text, spans) if by_sentence else [Segment(text, tuple(spans), False, False)]
        segments: list[Segment] = []
        for part in parts:
            if part.is_frame:
                segments.append(part)
                continue
            framed = [
                piece
                for segment in cut(part.text, part.spans, self.config.max_words, by_sentence=by_sentence)
                for piece in take_frame_off(segment)
            ]
            if framed and part.is_glued:
                framed[0] = framed[0]._replace(is_glued=True)
            segments += framed
        return segments

    def split_around_choice(self, text: str, choice: Span) -> list[Segment]:
        """Returns the segments of a message of ICU; the words around a choice go into each of its texts."""
        from nmt_cli.carrying.choices import split_choice  # which few lines need

        parts = split_choice(text[choice.start : choice.end])
        if parts is None:
            return []
        before, after = text[: choice.start], text[choice.end :]
        moves = has_letters(before) or has_letters(after)
        segments: list[Segment] = []
        for part in parts:
            inner: list[Segment] = []
            if part.is_text:
                inner = self.split_segments(before + part.text + after if moves else part.text, in_choice=True)
            if inner:
                segments += [inner[0]._replace(is_glued=True), *inner[1:]]
            else:
                segments.append(Segment(part.text, (), False, False, is_frame=True, is_glued=bool(segments)))
        if moves:
            return segments
        first, *rest = segments
        last = [Segment(after, (), False, False, is_frame=True, is_glued=True)] if after else []
        return [first._replace(text=before + first.text), *rest, *last]

    def find_spans(self, line: str, *, in_choice: bool = False) -> list[Span]:
        """Returns the protected spans and the glossary terms of a line, in order; `#` is a number in a choice."""
        spans = find_spans(line) if self.config.protect else []
        if in_choice:
            spans = add_number_signs(line, spans)
        if self.glossary is not None:
            spans = self.glossary.find(line, spans)
        if self.config.protect and ("*" in line or "_" in line or "~" in line):
            from nmt_cli.carrying.emphasis import find_emphasis  # which few lines need

            spans = sorted([*spans, *find_emphasis(line, spans)])
        if self.config.protect and ("&" in line or "_" in line):
            from nmt_cli.carrying.accelerators import find_accelerator  # which few lines need

            sign = find_accelerator(line, spans)
            spans = sorted([*spans, sign]) if sign else spans
        if self.config.protect and self.folding is not None:
            spans = self.folding.add_unknown_words(line, spans, carries=self.carries)
        spans = self.convert_numbers(spans, line)
        if self.carries_numbers:
            return spans
        spans = [span for span in spans if not (span.is_number and is_plain_number(span))]
        return spans if self.carries else [span._replace(is_extracted=True) for span in spans]

    def convert_numbers(self, spans: Sequence[Span], text: str) -> list[Span]:
        """Returns the spans of a text, with that of each number as the target writes it; a version is no number."""
        if self.notation is None or not spans:
            return list(spans)
        convert = self.notation.convert
        return [
            span._replace(text=convert(span.text, text[span.end : span.end + NEAR]))
            if span.is_number and not is_label(text, span.start)
            else span
            for span in spans
        ]


def take_frame_off(segment: Segment) -> list[Segment]:
    """Returns the segment, and what frames its words as segments of their own."""
    if is_plain(segment):
        return [segment]
    from nmt_cli.translation.segmentation.frames import frame_segment  # which few lines need

    return frame_segment(segment)


def split_at_dividers(text: str, spans: Sequence[Span]) -> Iterator[Segment]:
    """Yields the parts of a text between line breaks, tabs and tags of blocks, such as `<br>`, and these as frames."""
    dividers = [(span.start, span.end) for span in spans if span.is_block_tag]
    if "\t" in text or "\n" in text or "\r" in text:
        dividers = sorted([*dividers, *(match.span() for match in re.finditer(r"[\t\r\n]+", text))])
    if not dividers:
        yield Segment(text, tuple(spans), False, False)
        return
    from nmt_cli.translation.segmentation.frames import cut_segment  # which few lines need

    # 1. Join the dividers that only blanks separate, and take the blanks around them along.
    ranges: list[tuple[int, int]] = []
    for start, end in dividers:
        start = len(text[:start].rstrip())
        end += len(text[end:]) - len(text[end:].lstrip())
        if ranges and ranges[-1][1] >= start:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    # 2. Yield what is between them, and each of them.
    whole, position = Segment(text, tuple(spans), False, False), 0
    for start, end in [*ranges, (len(text), len(text))]:
        if start > position:
            yield cut_segment(whole, position, start)._replace(is_glued=position > 0)
        if end > start:
            yield cut_segment(whole, start, end)._replace(is_frame=True, is_glued=start > 0)
        position = end


def add_number_signs(text: str, spans: Sequence[Span]) -> list[Span]:
    """Returns `spans` and the number signs in a text of a choice, which stand for its number."""
    signs = (
        Span(match.start(), match.end(), "#", is_extracted=False, is_number=True)
        for match in re.finditer("#", cover_spans(text, spans))
    )
    return sorted([*spans, *signs])


def is_plain_number(span: Span) -> bool:
    """Whether a span is a number that a network without placeholders had better read: digits and marks alone."""
    return re.fullmatch(r"[\d\s.,:/'’()+±~≈−–-]+", span.text) is not None


def make_frame_piece(segment: Segment) -> Piece:
    """Returns a segment that stays as it is, and so do its numbers."""
    spans = tuple(span._replace(text=segment.text[span.start : span.end]) for span in segment.spans)
    return Piece(segment._replace(spans=spans), MaskedText("", (), ()))


def fold_pieces(pieces: Sequence[Piece], line: str, folding: InputFolding) -> Iterator[Piece]:
    """Yields the pieces of a line as the network knows them."""
    has_capitals, begins_sentence = not line.islower(), True
    for piece in pieces:
        folded = folding.fold(piece.masked, begins_sentence=begins_sentence, has_capitals=has_capitals)
        yield piece if folded is None else replace(piece, masked=folded.masked, folded=folded)
        begins_sentence = piece.segment.ends_sentence or piece.segment.is_frame


def make_plain_piece(text: str) -> Piece:
    """Returns a text as one piece in which nothing is protected."""
    return Piece(Segment(text, (), blank_before=False, ends_sentence=True), MaskedText(text, (), ()))


def keep_verbatim(line: str) -> list[Piece]:
    """Returns a line that names a picture as one piece, unchanged; none for a blank line."""
    return [replace(make_plain_piece(line), is_name=True)] if line.strip() else []


def number_pieces(split_lines: Sequence[Sequence[Piece]], first_line: int) -> dict[TextId, Piece]:
    """Returns the pieces by line and place in it; `first_line` is the number of the first line."""
    return {
        TextId(number, index): piece
        for number, pieces in enumerate(split_lines, start=first_line)
        for index, piece in enumerate(pieces)
    }


def find_origin(pieces: Sequence[Piece]) -> Origin:
    """Returns where the translation of a line comes from."""
    origins = {piece.recalled.origin for piece in pieces if piece.recalled is not None}
    if not origins:
        return "network"
    if any(piece.is_translated for piece in pieces):
        return "memory_part"
    return "memory_numbers" if "memory_numbers" in origins else "memory"


class PieceMemory(Protocol):
    """Knows translations of lines and sentences, which are then not searched."""

    def recall_pieces(self, line: str, pieces: Sequence[Piece], reader: LineReader) -> list[Piece]:
        """Returns the pieces of a line, those that the memory knows with their translation."""
        ...

    def link_pieces(self, translator: Any, pieces: Mapping[TextId, Piece]) -> dict[TextId, Translation]:
        """Returns those of the known translations whose words could be linked to their sources."""
        ...
