"""The translations of the pieces of a line made one: protected spans put back, pieces joined. Knows no network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np

from nmt_cli.arrays.special_ids import END, UNKNOWN
from nmt_cli.text.masking import PLACEHOLDER
from nmt_cli.text.symbols import SENTENCE_END, UNKNOWN_PIECE
from nmt_cli.translation.pieces import Piece
from nmt_cli.translation.result import Hypothesis, Placed, Translation, Words
from nmt_cli.translation.segments import joints
from nmt_cli.translation.span_alignment import PieceWords, restored_links, words_of_piece
from nmt_cli.translation.span_placement import Sides, Spelling, restore
from nmt_cli.translation.word_alignment import word_ranges

Parts = tuple[Hypothesis, ...]  # of the pieces of a line, one each


def joined(
    line: str,
    pieces: Sequence[Piece],
    found: Sequence[Translation | None],
    sides: Sides | None,
    *,
    prefix: str = "",
    drawn: bool = False,
) -> Translation:
    """What the translations `found` of its `pieces` make of a line; a piece with nothing to translate has none.

    `sides` are the tokenizers, where the source is text. A first piece with nothing to translate is given the `prefix`
    here, which search forces on others. Hypotheses that were `drawn` are joined first with first, second with second:
    the best that they could make together would be no samples.
    """
    prefixes = [prefix if place == 0 else "" for place in range(len(pieces))]
    own = [restored(piece, one, sides, text) for piece, one, text in zip(pieces, found, prefixes, strict=True)]
    if len(own) == 1 and not pieces[0].masked.spans:
        # As it is for most lines: there is nothing to join.
        return own[0] if own[0].source == line else own[0]._replace(source=line)
    ranks = (alike if drawn else best)([one.hypotheses for one in own])
    cut = next((one for one in own if one.source_cut_from is not None), None)
    words = (piece.masked.words for piece in pieces)
    ranges = list(word_ranges((" " if one.segment.blank_before else "") + one.source_text for one in pieces))
    return Translation(
        source=line,
        source_pieces=tuple(chain.from_iterable(one.source_pieces for one in own)),
        hypotheses=tuple(whole_hypothesis(pieces, parts, ranges) for parts in ranks),
        unseen=frozenset(chain.from_iterable(sides.source.unseen(text) for text in words)) if sides else frozenset(),
        repairs=tuple(chain.from_iterable(one.repairs for one in own)),
        source_cut_from=cut.source_cut_from if cut else None,
        source_read=cut.source_read if cut else 0,
    )


def alike(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """The hypotheses of one rank together; the last of a shorter list with all that follow."""
    number = max(map(len, lists), default=0)
    return [tuple(own[min(rank, len(own) - 1)] for own in lists) for rank in range(number)]


def best(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """The choices of one of each list with the highest sums of scores, as many as the longest list has, best first.

    Repair may prefer a hypothesis to one of a higher score, which then counts for no more than it.
    """
    number = max(map(len, lists), default=0)
    sums: list[tuple[float, Parts]] = [(0.0, ())] if lists else []
    for own in lists:
        scores = list(accumulate((one.score for one in own), min))
        longer = [
            (total + score, (*parts, one))
            for rank, (total, parts) in enumerate(sums, start=1)
            for score, one in zip(scores[: number // rank], own, strict=False)  # so many are better than what follows
        ]
        sums = sorted(longer, key=lambda pair: -pair[0])[:number]
    return [parts for _, parts in sums]


def restored(piece: Piece, found: Translation | None, sides: Sides | None, prefix: str) -> Translation:
    """The translation of a piece with its protected spans; `prefix` and itself, where there is nothing to translate."""
    if found is None:
        return Translation(piece.text, (piece.unchanged, SENTENCE_END), (unchanged(piece, prefix),), frozenset())
    if sides is None or needs_nothing(piece, found):
        return found
    source = words_of_piece(piece, found.source_pieces, sides.source)
    labels = tuple(with_spans(found.source_pieces, piece))
    own = (hypothesis_with_spans(one, piece, found.source_pieces, sides, source) for one in found.hypotheses)
    return found._replace(source_pieces=labels, hypotheses=tuple(own))


def needs_nothing(piece: Piece, found: Translation) -> bool:
    """Whether no span is to be put into its hypotheses, and no placeholder, which stands for nothing, out of them; and
    whether each piece of its source is of one word.
    """
    if piece.masked.spans:
        return False
    if PLACEHOLDER.search(piece.text):
        return True
    return UNKNOWN_PIECE not in found.source_pieces and not any(
        PLACEHOLDER.search(one.text) for one in found.hypotheses
    )


def hypothesis_with_spans(
    one: Hypothesis, piece: Piece, labels: Sequence[str], sides: Sides, source: PieceWords
) -> Hypothesis:
    said = Spelling(one.text, one.tokens, sides.target, one.unknown)
    restored = restore(piece.masked, said, labels, one.attention, sides.source)
    words = Words.of(piece.source_text, restored.text, restored_links(restored, source))
    pieces = tuple(with_spans(one.pieces, piece))
    return one._replace(text=restored.text, pieces=pieces, placed=restored.placed, words=(words,))


def with_spans(pieces: Sequence[str], piece: Piece) -> list[str]:
    """`pieces` with the carried spans themselves instead of their placeholders."""
    texts = {name: span.text for name, span in zip(piece.masked.names, piece.masked.carried, strict=True)}
    return [texts.get(one, one) for one in pieces]


def unchanged(piece: Piece, prefix: str) -> Hypothesis:
    """What a piece with nothing to translate becomes: certainly itself, behind the `prefix`."""
    own = piece.unchanged
    text = f"{prefix} {own}".strip()
    before, count, source = len(prefix.split()), len(own.split()), len(piece.source_text.split())
    links = tuple((min(place, max(0, source - 1)), before + place) for place in range(count))
    return Hypothesis(
        text=text,
        tokens=(UNKNOWN, END),
        pieces=(text, SENTENCE_END),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0, 0.0),
        attentions=(np.eye(2, dtype=np.float32),),
        finished=True,
        placed2=tuple(Placed(span.text, "unchanged", dropped=False) for span in piece.masked.spans),
        words=(Words.of(piece.source_text, text, links),),
    )


def whole_hypothesis(
    pieces: Sequence[Piece], parts: Sequence[Hypothesis], source_ranges: Sequence[range]
) -> Hypothesis:
    """The hypotheses of the pieces of a line as one; its score is the sum of theirs."""
    if len(parts) == 1:
        return parts[0]
    texts = list(joints([piece.segment for piece in pieces], [part.text for part in parts]))
    return Hypothesis(
        text="".join(texts),
        tokens=tuple(chain.from_iterable(part.tokens for part in parts)),
        pieces=tuple(chain.from_iterable(part.pieces for part in parts)),
        log_probability=sum(part.log_probability for part in parts),
        score=sum(part.score for part in parts),
        token_log_probabilities=tuple(chain.from_iterable(part.token_log_probabilities for part in parts)),
        attentions=tuple(chain.from_iterable(part.attentions for part in parts)),
        finished=all(part.finished for part in parts),
        placed2=tuple(chain.from_iterable(part.placed2 for part in parts)),
        words=tuple(
            Words(source, target, part.words[0].links if part.words else None)
            for source, target, part in zip(source_ranges, word_ranges(texts), parts, strict=True)
        ),
    )
