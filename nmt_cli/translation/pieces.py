"""Splits lines into pieces that are translated on their own, with their protected spans masked.

Knows text, spans and segments, but no networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.text.masking import MaskedText, mask
from nmt_cli.text.normalise import normalise
from nmt_cli.text.spans import Span, find_spans
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.input_folding import FoldedMask, InputFolding
from nmt_cli.translation.segments import Segment, cut

if TYPE_CHECKING:
    from nmt_cli.translation.glossary import Glossary


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

    @property
    def text(self) -> str:
        return self.masked.text

    @property
    def is_translated(self) -> bool:
        """Whether there is anything to translate; a piece of spans and marks alone stays as it is."""
        return bool(self.masked.text) and (self.masked.has_words or not self.masked.spans)

    @property
    def source_text(self) -> str:
        """The segment as it stands in the source, normalised."""
        if self.segment.spans:
            return self.layout.text
        return self.folded.unfolded if self.folded else self.masked.text

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
    def unchanged(self) -> str:
        """The segment itself, normalised between its spans; the spans are as they are to stand in the translation."""
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

    `carries` says whether the network has learned to carry placeholders over; else all spans are extracted.
    """

    def __init__(
        self,
        config: LineConfig,
        *,
        carries: bool,
        glossary: Glossary | None = None,
        folding: InputFolding | None = None,
    ) -> None:
        self.config = config
        self.carries = carries
        self.glossary = glossary
        self.folding = folding if config.fold else None

    def split_line(self, line: str, *, whole: bool = False) -> list[Piece]:
        """Returns the pieces of a line; none for a blank line, and with `whole` only one if it fits."""
        segments = cut(
            line, self.find_spans(line), self.config.max_words, by_sentence=self.config.split_sentences and not whole
        )
        pieces = [Piece(segment, mask(segment.text, segment.spans)) for segment in segments]
        pieces = [piece for piece in pieces if piece.text or piece.masked.spans]
        return pieces if self.folding is None else list(fold_pieces(pieces, line, self.folding))

    def find_spans(self, line: str) -> list[Span]:
        """Returns the protected spans and the glossary terms of a line, in order."""
        spans = find_spans(line) if self.config.protect else []
        if self.glossary is not None:
            spans = self.glossary.find(line, spans)
        return spans if self.carries else [span._replace(is_extracted=True) for span in spans]


def fold_pieces(pieces: Sequence[Piece], line: str, folding: InputFolding) -> Iterator[Piece]:
    """Yields the pieces of a line as the network knows them."""
    has_capitals, begins_sentence = not line.islower(), True
    for piece in pieces:
        folded = folding.fold(piece.masked, begins_sentence=begins_sentence, has_capitals=has_capitals)
        yield piece if folded is None else replace(piece, masked=folded.masked, folded=folded)
        begins_sentence = piece.segment.ends_sentence


def make_plain_piece(text: str) -> Piece:
    """Returns a text as one piece in which nothing is protected."""
    return Piece(Segment(text, (), blank_before=False, ends_sentence=True), MaskedText(text, (), ()))


def keep_verbatim(line: str) -> list[Piece]:
    """Returns a line that names a picture as one piece, unchanged; none for a blank line."""
    return [make_plain_piece(line)] if line.strip() else []
