"""A line as pieces that are translated on their own, and their translations as one line.

Knows text, spans and segments, nothing of networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.text.masking import MaskedText, mask
from nmt_cli.text.normalise import normalise
from nmt_cli.text.spans import Span, find_spans
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.segments import Segment, cut

if TYPE_CHECKING:
    from nmt_cli.translation.glossary import Glossary


class Written(NamedTuple):
    """A segment with its spans, all in normal form."""

    text: str
    places: tuple[int, ...]  # in it, of each character of the masked text that is no blank
    carried: tuple[range, ...]  # the characters of each carried span

    def find_word(self, position: int) -> int:
        """The number of the word that the character at `place` belongs to."""
        return len(self.text[: position + 1].split()) - 1


@dataclass(frozen=True)
class Piece:
    """A segment of a line as the network is given it."""

    segment: Segment
    masked: MaskedText

    @property
    def text(self) -> str:
        return self.masked.text

    @property
    def is_translated(self) -> bool:
        """Whether the network has anything to do: what is nothing but spans and marks stays as it is."""
        return bool(self.masked.text) and (self.masked.has_words or not self.masked.spans)

    @property
    def source_text(self) -> str:
        """The segment as it stands in the source, in normal form."""
        return self.written.text if self.segment.spans else self.masked.text

    @cached_property
    def written(self) -> Written:
        """What a segment with spans looks like, and where in it the masked text stands."""
        text, position = "", 0
        places: list[int] = []
        carried: list[range] = []
        for span in (*self.segment.spans, None):
            between = between_spans(self.segment.text[position : span.start if span else None])
            places += [len(text) + at for at, character in enumerate(between) if character != " "]
            text += between
            if span is None:
                break
            normalised = normalise(self.segment.text[span.start : span.end])
            if not span.is_extracted:
                places += [len(text)] * len(PLACEHOLDERS[len(carried)])
                carried.append(range(len(text), len(text) + len(normalised)))
            text, position = text + normalised, span.end
        return Written(text, tuple(places), tuple(carried))

    @property
    def unchanged(self) -> str:
        """The segment itself, with what its spans are to become, in the normal form of text between these."""
        text, position = "", 0
        for span in self.segment.spans:
            text += between_spans(self.segment.text[position : span.start]) + span.text
            position = span.end
        return (text + between_spans(self.segment.text[position:])).strip()


def between_spans(text: str) -> str:
    """`text` normalised, but for single blanks at its ends."""
    return normalise(f"|{text}|")[1:-1]


class LineReader:
    """Cuts lines into pieces and masks what is protected in them.

    `carries` tells whether the network has learnt to carry placeholders over; else all spans are lifted.
    """

    def __init__(self, config: LineConfig, *, carries: bool, glossary: Glossary | None = None) -> None:
        self.config = config
        self.carries = carries
        self.glossary = glossary

    def split_line(self, line: str, *, whole: bool = False) -> list[Piece]:
        """None for a blank line; one, if it fits and is wanted `whole`."""
        segments = cut(
            line, self.find_spans(line), self.config.max_words, by_sentence=self.config.split_sentences and not whole
        )
        pieces = [Piece(segment, mask(segment.text, segment.spans)) for segment in segments]
        return [piece for piece in pieces if piece.text or piece.masked.spans]

    def find_spans(self, line: str) -> list[Span]:
        spans = find_spans(line) if self.config.protect else []
        if self.glossary is not None:
            spans = self.glossary.find(line, spans)
        return spans if self.carries else [span._replace(is_extracted=True) for span in spans]


def make_plain_piece(text: str) -> Piece:
    """A text as one piece in which nothing is protected."""
    return Piece(Segment(text, (), blank_before=False, ends_sentence=True), MaskedText(text, (), ()))


def keep_verbatim(line: str) -> list[Piece]:
    """What names something else than text, like a picture: one piece, as it is; none of a blank line."""
    return [make_plain_piece(line)] if line.strip() else []
