"""Matches given translations with the pieces of their sources, so that scoring reads a pair as translation does.

Search masks, rewrites and splits a line; its own output must get the score that search gave it. A pair that cannot be
matched, such as one sentence for two, is scored as a whole (`forced`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.masking import (
    MaskedSide,
    escape_placeholders,
    make_span_key,
    mask,
    number_spans,
    select_spans,
)
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import cut


class MatchedPiece(NamedTuple):
    """A piece and its given translation, masked; None for a kept piece."""

    piece: Piece
    target: MaskedSide | None


def match_pieces(pieces: Sequence[Piece], target: str, reader: LineReader) -> list[MatchedPiece] | None:
    """Returns each piece with its part of the normalised `target`, with masked spans; None if one is missing."""
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

    Kept pieces occur unchanged in the target. Between two of them, it has as many sentences as the source.
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
    """Returns the sentences of a text; None if there are not `count`."""
    text = text.strip()
    if count < 2:
        sentences = [text] if text else []
    else:
        spans, config = find_spans(text), reader.config
        segments = cut(text, spans, config.max_words, reader.context.languages[1], by_sentence=config.split_sentences)
        sentences = [segment.text.strip() for segment in segments]
    return sentences if len(sentences) == count else None


def mask_target(piece: Piece, text: str) -> MaskedSide | None:
    """Masks or takes out the piece's spans in its translation; None if one is missing.

    Equal spans are numbered as in the source, in order.
    """
    if piece.rewritten is not None and piece.rewritten.was_quoted:
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
