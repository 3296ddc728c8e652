"""Reads sentences a second time, without marks that may mislead the network, and keeps the likelier translation.

Words in brackets or quotes are rare in most training text. A network translates them by nonsense, or not at all, where
no mark is lost that a check could see: `(now)` becomes `(kehr)`. Knows no network.
"""

from __future__ import annotations

from math import inf

from nmt_cli.carrying.kind import compile_guard
from nmt_cli.carrying.spans import Span
from nmt_cli.search.sampling import TextId
from nmt_cli.translation.repair.budget import choose_repaired
from nmt_cli.translation.repair.carry_lost import PieceSearch, find_loss, make_attempt
from nmt_cli.translation.repair.enclosed import MarkedPiece, TokenScorer, find_doubtful_pairs, list_enclosed
from nmt_cli.translation.result import Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece


def read_again(
    pieces: dict[TextId, Piece],
    translations: dict[TextId, Translation],
    reader: LineReader,
    search: PieceSearch,
    score: TokenScorer,
) -> None:
    """Changes the pieces and translations of which another reading has a likelier translation, with no more lost."""
    # 1. Take the marks out.
    guard = compile_guard(reader.doubtful)
    others = {
        text_id: without_doubtful(pieces[text_id], translation, reader)
        for text_id, translation in translations.items()
        if reader.doubtful and guard.search(pieces[text_id].segment.text)
    }
    texts = {
        text_id: other.text
        for text_id, other in others.items()
        if other.text != pieces[text_id].text and other.is_translated
    }
    # 2. Search again, and keep the better translation.
    texts = {text_id: texts[text_id] for text_id in choose_repaired(texts)}
    for text_id, new in (search(texts) if texts else {}).items():
        piece, old = others[text_id], translations[text_id]
        if order(piece, new, reader, score) > order(pieces[text_id], old, reader, score):
            pieces[text_id] = piece
            translations[text_id] = new._replace(repairs=(*old.repairs, *new.repairs))


def without_doubtful(piece: Piece, translation: Translation, reader: LineReader) -> Piece:
    """Returns a piece without the marks that may mislead; the same if there are none."""
    attempt, spans = make_attempt(piece, translation), list[Span]()
    for kind in reader.doubtful:
        covered = attempt._replace(spans=[*piece.segment.spans, *spans])
        spans += kind.find_doubtful(covered) if kind.may_be_in(attempt.text, reader.context) else []
    return reader.with_spans(piece, [*piece.segment.spans, *spans]) if spans else piece


def order(piece: Piece, translation: Translation, reader: LineReader, score: TokenScorer) -> tuple[int, float]:
    """Returns a value that is higher for a better translation: one that lost less, or else a likelier one."""
    if not translation.hypotheses:
        return 0, -inf
    loss = find_loss(piece, translation, reader.context, reader.if_lost)
    (pairs,) = find_doubtful_pairs([MarkedPiece(piece, translation, list(list_enclosed(piece)))], score)
    return -len(loss) - sum(pair.is_lost for pair in pairs), translation.hypotheses[0].score
