"""Searches sentences again in which the network lost something it should have written, now carrying that.

Dates, small numbers, brackets and slashes are left to the network, which usually writes them in its language's way
(`IF_LOST` of `carrying.kinds`). The translation with fewer faults is kept. Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise

from nmt_cli.carrying.kind import Attempt, Context, LostKind, compile_guard
from nmt_cli.carrying.spans import Span
from nmt_cli.search.sampling import TextId
from nmt_cli.text.symbols import BLANK, PLACEHOLDERS
from nmt_cli.translation.repair.budget import choose_repaired
from nmt_cli.translation.result import Repair, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

PieceSearch = Callable[[Mapping[TextId, str]], Mapping[TextId, Translation]]


Loss = Mapping[LostKind, Sequence[Span]]  # what a translation lost of each kind


def repair_losses(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    reader: LineReader,
    search: PieceSearch,
    kinds: Sequence[LostKind],
) -> None:
    """Carries what the network lost; changes the pieces and translations that thereby have fewer faults."""
    # 1. Find what each translation lost.
    guard = compile_guard(kinds)
    losses = {
        text_id: find_loss(pieces[text_id], translation, reader.context, kinds)
        for text_id, translation in translations.items()
        if guard.search(pieces[text_id].segment.text)
    }
    losses = {text_id: losses[text_id] for text_id in choose_repaired(id for id, loss in losses.items() if loss)}
    faults = {text_id: len(loss) for text_id, loss in losses.items()}
    while losses := {text_id: loss for text_id, loss in losses.items() if loss}:
        # 2. Carry it, as far as there are placeholders; a piece that then has no words is kept.
        carried = {text_id: carry_more(pieces[text_id], loss, reader) for text_id, loss in losses.items()}
        for text_id in [text_id for text_id, piece in carried.items() if not piece.is_translated]:
            pieces[text_id] = carried.pop(text_id)
            del translations[text_id], losses[text_id]
        # 3. Search again, for all kinds together.
        searched = search({text_id: piece.text for text_id, piece in carried.items()}) if carried else {}
        # 4. Keep the translation with fewer faults, and all repairs; else try again without what stays lost.
        for text_id, piece in carried.items():
            before, after = losses[text_id], find_loss(piece, searched[text_id], reader.context, kinds)
            helped = {kind: spans for kind, spans in before.items() if kind not in after}
            losses[text_id] = helped if len(helped) < len(before) else {}
            if len(helped) == len(before) and len(after) < faults[text_id]:
                earlier = (*translations[text_id].repairs, *searched[text_id].repairs)
                repairs = dict.fromkeys(Repair(kind.fault, kind.remedy) for kind in before)
                pieces[text_id] = piece
                translations[text_id] = searched[text_id]._replace(repairs=(*earlier, *repairs))


def find_loss(piece: Piece, translation: Translation, context: Context, kinds: Sequence[LostKind]) -> Loss:
    """Returns what a translation lost of a piece; of overlapping spans, the first kind's."""
    loss: dict[LostKind, list[Span]] = {}
    attempt = make_attempt(piece, translation)
    for kind in kinds:
        lost = kind.find_lost(attempt, context) if kind.may_be_in(attempt.text, context) else []
        others = [other for spans in loss.values() for other in spans]
        if new := [span for span in lost if not any(is_overlapping(span, other) for other in others)]:
            loss[kind] = new
    return loss


def make_attempt(piece: Piece, translation: Translation) -> Attempt:
    """Returns a piece with the network's translation of it."""

    def finds_place(span: Span) -> bool:
        offset = next(extracted.offset for extracted in piece.masked.extracted if extracted.span == span)
        return attends_to_neighbours(piece.text, offset, translation)

    return Attempt(piece.segment.text, piece.segment.spans, piece.text, translation.text, finds_place)


def carry_more(piece: Piece, loss: Loss, reader: LineReader) -> Piece:
    """Returns a piece that carries the lost spans, as far as there is room, instead of spans within them."""
    lost = [span for spans in loss.values() for span in spans]
    kept = [span for span in piece.segment.spans if not any(is_overlapping(span, other) for other in lost)]
    room = len(PLACEHOLDERS) - sum(not span.is_extracted for span in kept)
    masked = [span for span in lost if not span.is_extracted][:room]
    return reader.with_spans(piece, [*kept, *(span for span in lost if span.is_extracted), *masked])


def is_overlapping(span: Span, other: Span) -> bool:
    """Whether two spans share characters."""
    return span.start < other.end and other.start < span.end


def attends_to_neighbours(text: str, offset: int, translation: Translation) -> bool:
    """Whether two adjacent words of a translation attend to the words left and right of an offset in a text.

    An article may precede the word attended to on the left.
    """
    left = len(text[:offset].split()) - 1
    either = {(left, left + 1), (left - 1, left + 1)}
    return not translation.hypotheses or not either.isdisjoint(pairwise(list_attended(translation)))


def list_attended(translation: Translation) -> list[int]:
    """Returns the source word that each word of the best hypothesis attends to most; the ends are no words."""
    best = translation.hypotheses[0]
    source_words = number_words(translation.source_pieces)
    words: dict[int, list[int]] = {}
    for token, word in enumerate(number_words(best.pieces[: -1 if best.finished else None])):
        words.setdefault(word, []).append(token)
    attention = best.attention[:, :-1]
    return [source_words[int(attention[tokens].mean(axis=0).argmax())] for tokens in words.values()]


def number_words(pieces: Sequence[str]) -> list[int]:
    """Returns the word number of each piece; the first may or may not begin with a blank."""
    return list(accumulate(index > 0 and piece.startswith(BLANK) for index, piece in enumerate(pieces)))
