"""The translations of the pieces of a line made one: protected spans put back, pieces joined. Knows no network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from nmt_cli.arrays.special_ids import END, UNKNOWN
from nmt_cli.text.masking import PLACEHOLDER
from nmt_cli.text.symbols import SENTENCE_END, UNKNOWN_PIECE
from nmt_cli.translation.pieces import Piece
from nmt_cli.translation.placement.units import Spelling
from nmt_cli.translation.result import Hypothesis, Placed, Translation, Words
from nmt_cli.translation.segments import join_segments
from nmt_cli.translation.span_alignment import PieceWords, map_words, restore_links
from nmt_cli.translation.span_placement import Sides, restore
from nmt_cli.translation.word_alignment import split_ranges

Parts = tuple[Hypothesis, ...]  # of the pieces of a line, one each


def join_pieces(
    line: str,
    pieces: Sequence[Piece],
    translations: Sequence[Translation | None],
    sides: Sides | None,
    *,
    prefix: str = "",
    drawn: bool = False,
) -> Translation:
    """Joins the translations of its `pieces` to that of a line; a piece with nothing to translate has None.

    `sides` are the tokenizers, where the source is text. A first piece with nothing to translate gets the `prefix`
    here, which search forces on others. Samples (`drawn`) are joined first with first, second with second: the best
    combination would be no sample.
    """
    prefixes = [prefix if index == 0 else "" for index in range(len(pieces))]
    inputs = zip(pieces, translations, prefixes, strict=True)
    parts = [restore_piece(piece, translation, sides, text) for piece, translation, text in inputs]
    if len(parts) == 1 and not pieces[0].masked.spans:
        # As it is for most lines: there is nothing to join.
        return parts[0] if parts[0].source == line else parts[0]._replace(source=line)
    ranks = (pair_by_rank if drawn else combine_best)([part.hypotheses for part in parts])
    cut = next((part for part in parts if part.source_cut_from is not None), None)
    words = (piece.masked.words for piece in pieces)
    ranges = list(split_ranges((" " if piece.segment.blank_before else "") + piece.source_text for piece in pieces))
    return Translation(
        source=line,
        source_pieces=tuple(chain.from_iterable(part.source_pieces for part in parts)),
        hypotheses=tuple(join_hypotheses(pieces, chosen, ranges) for chosen in ranks),
        unseen=frozenset(chain.from_iterable(sides.source.find_unseen(text) for text in words))
        if sides
        else frozenset(),
        repairs=tuple(chain.from_iterable(part.repairs for part in parts)),
        source_cut_from=cut.source_cut_from if cut else None,
        source_read=cut.source_read if cut else 0,
    )


def pair_by_rank(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """Combines hypotheses of the same rank; the last of a shorter list goes with all that follow."""
    number = max(map(len, lists), default=0)
    return [tuple(hypotheses[min(rank, len(hypotheses) - 1)] for hypotheses in lists) for rank in range(number)]


def combine_best(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """Combines one hypothesis of each list; returns the combinations of highest score, as many as the longest list has.

    Repair may prefer a hypothesis to one of a higher score, which then counts for no more than it.
    """
    number = max(map(len, lists), default=0)
    sums: list[tuple[float, Parts]] = [(0.0, ())] if lists else []
    for hypotheses in lists:
        scores = list(accumulate((hypothesis.score for hypothesis in hypotheses), min))
        longer = [
            (total + score, (*parts, hypothesis))
            for rank, (total, parts) in enumerate(sums, start=1)
            # So many of this list are better than what follows.
            for score, hypothesis in zip(scores[: number // rank], hypotheses, strict=False)
        ]
        sums = sorted(longer, key=lambda pair: -pair[0])[:number]
    return [parts for _, parts in sums]


def restore_piece(piece: Piece, translation: Translation | None, sides: Sides | None, prefix: str) -> Translation:
    """Returns the translation of a piece with its spans; `prefix` and the piece itself if nothing is translated."""
    if translation is None:
        return Translation(piece.text, (piece.unchanged, SENTENCE_END), (keep_piece(piece, prefix),), frozenset())
    if sides is None or needs_nothing(piece, translation):
        return translation
    source = map_words(piece, translation.source_pieces, sides.source)
    labels = tuple(replace_placeholders(translation.source_pieces, piece))
    hypotheses = (
        restore_hypothesis(hypothesis, piece, translation.source_pieces, sides, source)
        for hypothesis in translation.hypotheses
    )
    return translation._replace(source_pieces=labels, hypotheses=tuple(hypotheses))


def needs_nothing(piece: Piece, translation: Translation) -> bool:
    """Whether no span is to be put into its hypotheses, and no placeholder, which stands for nothing, out of them; and
    whether each piece of its source is of one word.
    """
    if piece.masked.spans:
        return False
    if PLACEHOLDER.search(piece.text):
        return True
    return UNKNOWN_PIECE not in translation.source_pieces and not any(
        PLACEHOLDER.search(hypothesis.text) for hypothesis in translation.hypotheses
    )


def restore_hypothesis(
    hypothesis: Hypothesis, piece: Piece, labels: Sequence[str], sides: Sides, source: PieceWords
) -> Hypothesis:
    said = Spelling(hypothesis.text, hypothesis.tokens, sides.target, hypothesis.unknown)
    restored = restore(piece.masked, said, labels, hypothesis.attention, sides.source)
    words = Words.from_texts(piece.source_text, restored.text, restore_links(restored, source))
    pieces = tuple(replace_placeholders(hypothesis.pieces, piece))
    return hypothesis._replace(text=restored.text, pieces=pieces, placed_spans=restored.placed, words=(words,))


def replace_placeholders(pieces: Sequence[str], piece: Piece) -> list[str]:
    """Returns `pieces` with the masked spans themselves instead of their placeholders."""
    texts = {name: span.text for name, span in zip(piece.masked.names, piece.masked.masked, strict=True)}
    return [texts.get(name, name) for name in pieces]


def keep_piece(piece: Piece, prefix: str) -> Hypothesis:
    """Returns a piece with nothing to translate as a certain hypothesis: itself, behind the `prefix`."""
    kept = piece.unchanged
    text = f"{prefix} {kept}".strip()
    before, count, source = len(prefix.split()), len(kept.split()), len(piece.source_text.split())
    links = tuple((min(index, max(0, source - 1)), before + index) for index in range(count))
    return Hypothesis(
        text=text,
        tokens=(UNKNOWN, END),
        pieces=(text, SENTENCE_END),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0, 0.0),
        attentions=(np.eye(2, dtype=np.float32),),
        finished=True,
        placed_spans=tuple(Placed(span.text, "unchanged", dropped=False) for span in piece.masked.spans),
        words=(Words.from_texts(piece.source_text, text, links),),
    )


def join_hypotheses(pieces: Sequence[Piece], parts: Sequence[Hypothesis], source_ranges: Sequence[range]) -> Hypothesis:
    """Joins the hypotheses of the pieces of a line; the score is the sum of theirs."""
    if len(parts) == 1:
        return parts[0]
    texts = list(join_segments([piece.segment for piece in pieces], [part.text for part in parts]))
    return Hypothesis(
        text="".join(texts),
        tokens=tuple(chain.from_iterable(part.tokens for part in parts)),
        pieces=tuple(chain.from_iterable(part.pieces for part in parts)),
        log_probability=sum(part.log_probability for part in parts),
        score=sum(part.score for part in parts),
        token_log_probabilities=tuple(chain.from_iterable(part.token_log_probabilities for part in parts)),
        attentions=tuple(chain.from_iterable(part.attentions for part in parts)),
        finished=all(part.finished for part in parts),
        placed_spans=tuple(chain.from_iterable(part.placed_spans for part in parts)),
        words=tuple(
            Words(source, target, part.words[0].links if part.words else None)
            for source, target, part in zip(source_ranges, split_ranges(texts), parts, strict=True)
        ),
    )
