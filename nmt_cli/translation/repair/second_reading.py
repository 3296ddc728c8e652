"""Reads sentences a second time, without marks that may mislead the network, and keeps the likelier translation.

Words in brackets or quotes are rare in most training text. A network translates them by nonsense, or not at all, where
no mark is lost that a check could see: `(now)` becomes `(kehr)`. Knows no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf

from nmt_cli.carrying.kind import compile_guard
from nmt_cli.carrying.spans import Span, find_partners
from nmt_cli.search.sampling import TextId
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.repair.carry_lost import PieceSearch, find_loss, list_attended, make_attempt
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import Piece

TokenScorer = Callable[
    [Sequence[str], Sequence[Sequence[int]]], list[tuple[float, ...]]
]  # of tokens, given source texts

EVIDENCE = 1.0  # nats by which a token is less likely without the words that it translates


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
    without_pairs = list(leave_out_pairs(piece, translation))
    scores = score(without_pairs, [translation.hypotheses[0].tokens] * len(without_pairs)) if without_pairs else []
    lost_pairs = [other for other in scores if not depends_on_source(translation.hypotheses[0], other)]
    return -len(loss) - len(lost_pairs), translation.hypotheses[0].score


def leave_out_pairs(piece: Piece, translation: Translation) -> Iterator[str]:
    """Yields the text without the words in each pair of marks to which no word of the translation attends most.

    In one sentence of two, their translation attends to a word beside them.
    """
    extracted, attended = piece.masked.extracted, list_attended(translation)
    words = [len(piece.text[: mark.offset].split()) for mark in extracted]  # before each mark
    for first, last in find_partners([mark.span.pair for mark in extracted]).items():
        if words[first] < words[last] and not any(words[first] <= word < words[last] for word in attended):
            yield normalise(piece.text[: extracted[first].offset].rstrip() + piece.text[extracted[last].offset :])


def depends_on_source(hypothesis: Hypothesis, others: Sequence[float]) -> bool:
    """Whether any token is less likely with another source, given the log-probability of each with that."""
    return any(
        chance - without > EVIDENCE for chance, without in zip(hypothesis.token_log_probabilities, others, strict=True)
    )
