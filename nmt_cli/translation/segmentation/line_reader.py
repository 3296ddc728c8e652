"""Reads lines as pieces, masked and rewritten; matches given translations with the pieces of their sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nmt_cli.carrying.glossary import TERMS, Glossary
from nmt_cli.carrying.kinds import DOUBTFUL, IF_LOST, KINDS, SYNTAX, find_spans, is_amount, write_spans
from nmt_cli.carrying.masking import MaskedSide, escape_placeholders, make_span_key, mask, number_spans, select_spans
from nmt_cli.carrying.names import NameFinder
from nmt_cli.carrying.numbers import NumberNotation
from nmt_cli.carrying.people import find_missing_names
from nmt_cli.carrying.spans import Context, DoubtfulKind, LostKind, Span, SpanKind
from nmt_cli.carrying.syntax import split_choice
from nmt_cli.rewriting.characters import Characters
from nmt_cli.rewriting.marks import Quotes
from nmt_cli.rewriting.protocol import Rewrite, TextContext
from nmt_cli.rewriting.rewrite import Rewriter
from nmt_cli.rewriting.slips import Slips
from nmt_cli.rewriting.spelling import Abbreviations, Entities, GenderForms
from nmt_cli.text.characters import DASHES, HYPHENS
from nmt_cli.text.normalise import normalise
from nmt_cli.text.words import has_letters
from nmt_cli.translation.config import LineOptions
from nmt_cli.translation.segmentation.dividers import ANY_GUARD, DividedLine, divide, frame_segment
from nmt_cli.translation.segmentation.pieces import Piece, make_frame_piece, make_plain_piece
from nmt_cli.translation.segmentation.segments import Segment, cut, is_plain

if TYPE_CHECKING:
    from nmt_cli.search.constraints import TextId
    from nmt_cli.translation.result import Translation


# Splits lines into pieces: finds protected spans, cuts between them, masks them and rewrites the rest.


FILLED_IN = "_"  # the last sign of a field of a form, which stands for the words before those behind it


class LineReader:
    """Splits lines into pieces and masks their protected spans.

    `copies_placeholders` says whether the network has learned to copy placeholders; otherwise spans are extracted, and
    plain numbers stay in the text.
    """

    if_lost: tuple[LostKind, ...] = IF_LOST  # what is carried in a second search
    doubtful: tuple[DoubtfulKind, ...] = DOUBTFUL  # what is taken out in a second reading

    def __init__(
        self,
        config: LineOptions,
        *,
        copies_placeholders: bool,
        glossary: Glossary | None = None,
        rewriter: Rewriter | None = None,
        notation: NumberNotation | None = None,
        languages: tuple[str, str] = ("", ""),
    ) -> None:
        """`notation` writes numbers in the target's notation; without it, they are unchanged.

        `languages` are the codes of source and target, empty if unknown.
        """
        self.config, self.glossary = config, glossary
        self.copies_placeholders = copies_placeholders
        self.rewriter = choose_rewrites(rewriter, config)
        self.kinds = KINDS if config.protect else (TERMS,)
        names = make_name_finder(self.rewriter) if self.copies_placeholders else None
        characters: Characters | None = self.rewriter.find(Characters)
        self.is_prose = names.source.has_form if names else None
        self.context = Context(
            languages,
            copies_placeholders,
            is_word=names.source.has_word if names else None,
            find_names=names.find_names if names else None,
            find_terms=glossary.find_terms if glossary else None,
            find_foreign_words=characters.find_foreign_words if characters else None,
            find_missing_names=partial(find_missing_names, source=names.source, target=names.target) if names else None,
            keeps_digits=notation.marks.keeps_digits if notation else None,
            write_number=notation.convert if notation else None,
            find_usual_case=names.source.find_usual_case if names else None,
        )

    def split_line(self, line: str) -> list[Piece]:
        """Returns the pieces of a line, rewritten for the network."""
        rewritten = self.rewriter.read_line(line)
        return self.rewrite(self.split(rewritten.text if rewritten else line), line)

    def split(self, line: str, *, whole: bool = False) -> list[Piece]:
        """Returns the pieces of a line: none for a blank line, and with `whole` a single one if the line fits.

        A line without a letter outside its spans is one piece, kept byte for byte, unless it is an amount.
        """
        if not has_letters(line) and not self.has_terms(line):
            return [self.make_frame(line)] if normalise(line) else []
        segments = self.split_segments(line, whole=whole)
        pieces = [
            make_frame_piece(segment) if segment.is_frame else Piece(segment, mask(segment.text, segment.spans))
            for segment in segments
        ]
        pieces = [piece for piece in pieces if piece.text or piece.masked.spans or piece.segment.is_frame]
        if pieces and not any(piece.is_translated or piece.changes_spans for piece in pieces):
            return [self.make_frame(line)]
        return pieces

    def has_terms(self, line: str) -> bool:
        """Whether a line has a glossary term."""
        return self.context.find_terms is not None and any(True for _ in self.context.find_terms(line))

    def rewrite(self, pieces: Sequence[Piece], line: str) -> list[Piece]:
        """Rewrites the pieces of a line for the network."""
        return list(rewrite_pieces(pieces, line, self.rewriter))

    def with_spans(self, piece: Piece, spans: Sequence[Span]) -> Piece:
        """Returns a piece with other protected spans, rewritten as before."""
        added = [span._replace(is_extracted=span.is_extracted or not self.copies_placeholders) for span in spans]
        text = piece.segment.text
        old = [span for span in added if span in piece.segment.spans]
        new = write_spans([span for span in added if span not in piece.segment.spans], text, self.context)
        segment = piece.segment._replace(spans=tuple(sorted([*old, *new])))
        changed = Piece(segment, mask(text, segment.spans))
        return next(rewrite_pieces([changed], text, self.rewriter))

    def make_frame(self, line: str) -> Piece:
        """Returns a line as one piece, kept byte for byte unless it is an amount, whose notation changes."""
        spans = tuple(self.find_spans(line))
        frame = Segment(line, spans, blank_before=False, ends_sentence=True, is_frame=True)
        return make_frame_piece(frame, is_amount=self.config.protect and is_amount(line))

    def split_segments(self, text: str, *, whole: bool = False, in_choice: bool = False) -> list[Segment]:
        """Returns the segments of a text: its sentences, their frames, and the tags that divide them."""
        choice = None if whole or "{" not in text else self.find_choice(text)
        if choice is not None and (in_texts := self.split_around_choice(text, choice)):
            return in_texts
        by_sentence = self.config.split_sentences and not whole
        if whole or not self.config.protect:
            return self.cut_text(text, self.find_spans(text, in_choice=in_choice), by_sentence=by_sentence)
        if by_sentence and (parts := self.divide(text)):
            return [segment for part in parts for segment in self.split_part(part, in_choice=in_choice)]
        spans = self.find_spans(text, in_choice=in_choice)
        segments = self.cut_text(text, spans, by_sentence=by_sentence)
        return [part for segment in segments for part in split_off_frame(segment, self.context.languages[0])]

    def find_choice(self, text: str) -> Span | None:
        return next((span for span in find_spans(text, self.context, SYNTAX) if span.kind is SpanKind.CHOICE), None)

    def divide(self, text: str) -> list[Segment]:
        """Returns the frames and texts into which a line is divided; empty if it is not divided."""
        if not re.search(ANY_GUARD, text):
            return []
        quotes: Quotes | None = self.rewriter.find(Quotes)
        pair = quotes.target_pair if quotes is not None else None
        spans = find_spans(text, self.context, SYNTAX)
        return divide(DividedLine(text, spans, self.context.languages, pair, self.is_prose))

    def split_part(self, part: Segment, *, in_choice: bool) -> Iterator[Segment]:
        """Yields the segments of a part of a divided line, which is read as a line of its own."""
        if part.is_frame:
            yield part
            return
        for number, segment in enumerate(self.split_segments(part.text, in_choice=in_choice)):
            is_label = part.is_label and not segment.is_frame
            is_glued = segment.is_glued or (part.is_glued and not number)
            segment = segment._replace(is_glued=is_glued, is_label=is_label)
            yield segment if number else segment._replace(goes_on=part.goes_on, is_report=part.is_report)

    def cut_text(self, text: str, spans: Sequence[Span], *, by_sentence: bool) -> list[Segment]:
        return cut(text, spans, self.config.max_words, self.context.languages[0], by_sentence=by_sentence)

    def split_around_choice(self, text: str, choice: Span) -> list[Segment]:
        """Returns the segments of an ICU message; the words around a choice go into each of its texts."""
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
        """Returns the protected spans and glossary terms of a line, in order; in a choice, `#` is a number."""
        context = self.context._replace(in_choice=in_choice)
        spans = write_spans(find_spans(line, context, self.kinds), line, context)
        if self.copies_placeholders:
            return spans
        # A network without placeholders should read numbers of only digits and marks.
        plain = re.compile(rf"[\d\s.,:/'’()+±~≈−{re.escape(HYPHENS + DASHES)}]+")
        others = (span for span in spans if not (span.is_number and plain.fullmatch(span.text)))
        return [span._replace(is_extracted=True) for span in others]


class PictureLines(LineReader):
    """Reads lines that name pictures: each is one piece, whatever its name; nothing is protected or rewritten."""

    if_lost = doubtful = ()

    def __init__(self, config: LineOptions, **options: Any) -> None:
        super().__init__(config, **options)
        self.rewriter = Rewriter(())

    def split(self, line: str, *, whole: bool = False) -> list[Piece]:
        return [replace(make_plain_piece(line), is_name=True)] if line.strip() else []


def split_off_frame(segment: Segment, language: str) -> list[Segment]:
    """Separates a segment from its frame, which becomes segments of its own."""
    if is_plain(segment):
        return [segment]
    return frame_segment(segment, language)


def choose_rewrites(rewriter: Rewriter | None, config: LineOptions) -> Rewriter:
    """Returns the rewriter with the rewrites that `config` allows; HTML references need no model."""

    def is_allowed(rewrite: Rewrite) -> bool:
        if rewrite.scope == "line":
            return config.protect
        return config.fold and (config.slips or not isinstance(rewrite, Slips))

    return (rewriter or Rewriter([Entities()])).select(is_allowed)


def make_name_finder(rewriter: Rewriter) -> NameFinder | None:
    """Returns the finder of names and codes; None if nothing is known of the training text."""
    characters = rewriter.find(Characters)
    if rewriter.model is None or characters is None:
        return None
    slips = rewriter.find(Slips) or Slips.from_model(rewriter.model)
    forms = [*filter(None, map(rewriter.find, (Abbreviations, GenderForms)))]

    def cover_forms(text: str) -> str:
        return reduce(lambda covered, rewrite: rewrite.cover_forms(covered), forms, text)

    model = rewriter.model
    return NameFinder(model.source, model.target, slips, characters.spell, cover_forms, model.languages)


def rewrite_pieces(pieces: Sequence[Piece], line: str, rewriter: Rewriter) -> Iterator[Piece]:
    """Yields the pieces of a line, rewritten for the network."""
    has_capitals, begins_sentence = not line.islower(), True
    for piece in pieces:
        rewritten = None
        if piece.recalled is None:
            context = TextContext(
                begins_sentence and not piece.segment.goes_on, has_capitals, is_report=piece.segment.is_report
            )
            rewritten = rewriter.read(piece.masked, context)
        if rewritten is not None:
            piece = replace(piece, masked=rewritten.mask(piece.masked), rewritten=rewritten)
        yield piece
        is_frame, text = piece.segment.is_frame, piece.segment.text.rstrip()
        begins_sentence = piece.segment.ends_sentence or (is_frame and not text.endswith(FILLED_IN))


class PieceMemory(Protocol):
    """Knows translations of lines and sentences, which are then not searched."""

    def recall_pieces(self, line: str, pieces: Sequence[Piece], reader: LineReader) -> list[Piece]:
        """Returns the pieces of a line, with translations where known."""

    def with_neighbours(self, translator: Any, most: int) -> Any:
        """Returns a translator guided by at most `most` similar entries for each text."""

    def link_pieces(self, tools: Any, pieces: Mapping[TextId, Piece]) -> dict[TextId, Translation]:
        """Returns the known translations whose words could be linked to their sources."""


# Matches given translations with the pieces of their sources, so that scoring reads a pair as translation does.
#
# Search masks, rewrites and splits a line; its own output must get the score that search gave it. A pair that cannot be
# matched, such as one sentence for two, is scored as a whole (`forced`).


class MatchedPiece(NamedTuple):
    """A piece and its given translation, masked; None for a kept piece."""

    piece: Piece
    target: MaskedSide | None


def match_pieces(pieces: Sequence[Piece], target: str, reader: LineReader) -> list[MatchedPiece] | None:
    """Returns each piece with its part of the normalised `target`, spans masked; None if a part or span is missing."""
    parts = split_target(pieces, target, reader)
    if parts is None:
        return None
    matched: list[MatchedPiece] = []
    for piece, part in zip(pieces, parts, strict=True):
        masked = mask_target(piece, part) if piece.is_translated else None
        if piece.is_translated and masked is None:
            return None
        matched.append(MatchedPiece(piece, masked))
    return matched


def split_target(pieces: Sequence[Piece], target: str, reader: LineReader) -> list[str] | None:
    """Returns the part of `target` for each piece, in order; None if their numbers differ.

    Kept pieces must occur unchanged in the target, which must have as many sentences between them as the source.
    """
    parts: list[str] = []
    waiting, position = 0, 0  # the number of translated pieces before, and where their translation begins
    for index, piece in enumerate(pieces):
        if piece.is_translated:
            waiting += 1
            continue
        kept = " ".join(piece.unchanged.split())
        start = target.find(kept, position) if index + 1 < len(pieces) else len(target) - len(kept)
        if start < position or not target.startswith(kept, start):
            return None
        sentences = split_sentences(target[position:start], waiting, reader)
        if sentences is None:
            return None
        parts += [*sentences, kept]
        waiting, position = 0, start + len(kept)
    sentences = split_sentences(target[position:], waiting, reader)
    return None if sentences is None else [*parts, *sentences]


def split_sentences(text: str, count: int, reader: LineReader) -> list[str] | None:
    """Returns the sentences of a text; None unless there are exactly `count`."""
    text = text.strip()
    if count < 2:
        sentences = [text] if text else []
    else:
        spans, config = find_spans(text), reader.config
        segments = cut(text, spans, config.max_words, reader.context.languages[1], by_sentence=config.split_sentences)
        sentences = [segment.text.strip() for segment in segments]
    return sentences if len(sentences) == count else None


def mask_target(piece: Piece, text: str) -> MaskedSide | None:
    """Masks or extracts the piece's spans in its translation; None if one is missing.

    Equal spans are numbered as in the source, in order.
    """
    if piece.rewritten is not None and piece.rewritten.find_memo(Quotes) is not None:
        return None
    spans = piece.masked.spans
    if not spans:
        return MaskedSide(text, (), mask(escape_placeholders(text), ()))
    extracted = {make_span_key(span) for span in spans if span.is_extracted}
    span_counts = Counter(map(make_span_key, spans))
    target_spans = [span._replace(is_extracted=make_span_key(span) in extracted) for span in find_spans(text)]
    chosen = select_spans(target_spans, span_counts)
    if Counter(map(make_span_key, chosen)) != span_counts:
        return None
    masked = mask(escape_placeholders(text), chosen, number_spans(chosen, piece.masked))
    return MaskedSide(text, tuple(chosen), masked) if masked.text else None
