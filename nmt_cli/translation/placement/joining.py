"""Joins the translations of the pieces of a line, with their protected spans put back. Does not depend on networks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial, reduce
from itertools import accumulate, chain
from math import log
from typing import Any

import numpy as np

from nmt_cli.arrays.types import END, UNKNOWN
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN, SpanKind
from nmt_cli.rewriting.protocol import Written
from nmt_cli.rewriting.rewrite import Rewriter, RewrittenText
from nmt_cli.text.characters import OPENING_BRACKETS
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import SENTENCE_END, UNKNOWN_PIECE
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.text.words import Link
from nmt_cli.translation.result import Hypothesis, MarkedPair, Placed, Translation, WordLinks, span_words
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import join_segments

LOG_EVEN_ODDS = log(0.5)
TO_REMOVE = rf"{PLACEHOLDER_PATTERN.pattern}|[{re.escape(OPENING_BRACKETS)}]\s"  # from a hypothesis
# Fields that follow each other.
CONCATENATED = (
    *("source_pieces", "unknown", "repairs", "read_as", "readings", "left_out", "unplaced", "other_senses", "kept"),
)
Parts = tuple[Hypothesis, ...]  # one per piece of a line
Chain = tuple[Any, Hypothesis] | None  # the chain of the pieces before, and a hypothesis of the next


def join_parts(
    line: str,
    pieces: Sequence[Piece],
    parts: Sequence[Translation],
    tokenizers: TokenizerPair | None,
    *,
    sampled: bool = False,
) -> Translation:
    """Joins the translations of the `pieces` of a line, which already contain the spans.

    Samples (`sampled`) are joined first to first and second to second, because the best combination would not be a
    sample. `tokenizers` is None if the source is not text.
    """
    if len(parts) == 1 and not pieces[0].masked.spans:
        # Most lines are one piece without spans: there is nothing to join.
        return parts[0] if parts[0].source == line else parts[0]._replace(source=line)
    from nmt_cli.translation.placement.alignment import split_ranges  # which few lines need

    # 1. Combine the hypotheses of the pieces.
    combinations = (pair_by_rank if sampled else combine_best)([part.hypotheses for part in parts])
    # 2. Join each combination.
    joined: dict[str, Any] = {
        name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in CONCATENATED
    }
    cut = next((part for part in parts if part.source_cut_from is not None), None)
    words = [PLACEHOLDER_PATTERN.sub("", piece.text) for piece in pieces]
    words += [span.text for piece in pieces for span in piece.segment.spans if span.kind is SpanKind.FOREIGN]
    ranges = list(split_ranges((" " if piece.segment.blank_before else "") + piece.source_text for piece in pieces))
    return Translation(
        source=line,
        **joined,
        hypotheses=tuple(join_hypotheses(pieces, combination, ranges) for combination in combinations),
        unseen=frozenset(chain.from_iterable(tokenizers.source.find_unseen(text) for text in words))
        if tokenizers
        else frozenset(),
        source_cut_from=cut.source_cut_from if cut else None,
        source_read=cut.source_read if cut else 0,
        carried=tuple(span.text for piece in pieces for span in piece.segment.spans if span.kind is SpanKind.NAME),
    )


def select_distinct(translation: Translation, most: int) -> Translation:
    """Returns the translation with at most `most` hypotheses: the best one for each distinct text."""
    if len(translation.hypotheses) < 2:
        return translation
    distinct: dict[str, Hypothesis] = {}
    for hypothesis in translation.hypotheses:
        distinct.setdefault(hypothesis.text, hypothesis)
    return translation._replace(hypotheses=tuple(distinct.values())[:most])


def end_like(translation: Translation, line: str) -> Translation:
    """Returns the translation with the spaces at the end of its line; those at the beginning are in a frame."""
    if not line[-1:].isspace():
        return translation
    blanks = line[len(line.rstrip()) :]
    ended = [hypothesis._replace(text=hypothesis.text.rstrip() + blanks) for hypothesis in translation.hypotheses]
    return translation._replace(hypotheses=tuple(ended))


def pair_by_rank(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """Combines the hypotheses of the same rank; the last of a shorter list is repeated."""
    number = max(map(len, lists), default=0)
    return [tuple(hypotheses[min(rank, len(hypotheses) - 1)] for hypotheses in lists) for rank in range(number)]


def combine_best(lists: Sequence[Sequence[Hypothesis]]) -> list[Parts]:
    """Returns the best combinations of one hypothesis from each list, as many as the longest list has hypotheses.

    Repair may rank a hypothesis before one with a higher score, which then counts as having the lower score.
    """
    number = max(map(len, lists), default=0)
    sums: list[tuple[float, Chain]] = [(0.0, None)] if lists else []
    for hypotheses in lists:
        scores = list(accumulate((hypothesis.score for hypothesis in hypotheses), min))
        longer: list[tuple[float, Chain]] = [
            (total + score, (former, hypothesis))
            for rank, (total, former) in enumerate(sums, start=1)
            # Combinations with hypotheses of a lower rank cannot be among the best `number`.
            for score, hypothesis in zip(scores[: number // rank], hypotheses, strict=False)
        ]
        sums = sorted(longer, key=lambda pair: -pair[0])[:number]
    return [list_chained(linked) for _, linked in sums]


def list_chained(linked: Chain) -> Parts:
    """Returns the hypotheses of a chain, first to last."""
    parts: list[Hypothesis] = []
    while linked is not None:
        linked, hypothesis = linked
        parts.append(hypothesis)
    return tuple(reversed(parts))


def restore_piece(
    piece: Piece, translation: Translation | None, tokenizers: TokenizerPair | None, prefix: str
) -> Translation:
    """Returns the translation of a piece with its spans restored.

    A piece with nothing to translate stays as it is, after `prefix`; so does a label whose translation is unlikely,
    because a network trained on sentences turns single words into nonsense.
    """
    if piece.recalled is not None:
        return mark_recalled(piece, translation, prefix)
    best = translation.hypotheses[:1] if translation is not None and piece.segment.is_label else ()
    if translation is None or any(hypothesis.log_probability < LOG_EVEN_ODDS for hypothesis in best):
        unchanged = copy_piece(piece, prefix)
        return unchanged if translation is None else unchanged._replace(kept=(piece.unchanged,))
    if tokenizers is None or is_complete(piece, translation):
        return translation
    from nmt_cli.translation.placement.span_placement import restore_translation  # which few lines need

    return restore_translation(piece, translation, tokenizers)


def mark_recalled(piece: Piece, translation: Translation | None, prefix: str) -> Translation:
    """Returns a piece's translation from a memory, with the words that its marks enclose on both sides.

    The network may have linked the words; a mark around the whole piece goes around its whole translation.
    """
    translation = translation or copy_piece(piece, prefix)
    best, source = translation.hypotheses[0], piece.segment.text
    first, *others = best.words or (WordLinks.from_texts(source, best.text),)
    whole = MarkedPair(span_words(source), span_words(best.text), is_piece=True)
    marked = (whole, *(() if piece.recalled is None else piece.recalled.marked))
    return translation._replace(hypotheses=(best._replace(words=(first._replace(marked=marked), *others)),))


def undo_rewrites(translation: Translation, rewritten: RewrittenText, piece: Piece | None = None) -> Translation:
    """Undoes the rewrites of a line, or of a piece, in its translation."""

    def write(hypothesis: Hypothesis) -> Hypothesis:
        spans = [span.text for span in hypothesis.spans]
        find_links = tuple if piece is None else partial(find_read_links, translation, hypothesis, piece)
        return hypothesis._replace(text=rewritten.write(hypothesis.text, Written(spans, find_links)))

    return translation._replace(
        hypotheses=tuple(map(write, translation.hypotheses)),
        read_as=rewritten.read_as or translation.read_as,
        readings=(*rewritten.readings, *translation.readings),
    )


def keep_marks(translation: Translation, piece: Piece, rewriter: Rewriter) -> Translation:
    """Returns the translation after the rewrites have restored the marks of the source in each hypothesis."""
    source, hypotheses = piece.segment.text, translation.hypotheses
    texts = [reduce(lambda text, rewrite: rewrite.keep(source, text), rewriter.rewrites, x.text) for x in hypotheses]
    if texts == [hypothesis.text for hypothesis in translation.hypotheses]:
        return translation
    pairs = zip(translation.hypotheses, texts, strict=True)
    return translation._replace(hypotheses=tuple(hypothesis._replace(text=text) for hypothesis, text in pairs))


def find_read_links(translation: Translation, hypothesis: Hypothesis, piece: Piece) -> tuple[Link, ...]:
    """Returns the links from the words read by the network to those of a hypothesis; empty without attention."""
    from nmt_cli.translation.placement.alignment import link_words  # which few lines need

    if not hypothesis.attention.any():
        return ()
    if not hypothesis.words or hypothesis.words[0].links is None:
        return link_words(translation.source_pieces, hypothesis.pieces, hypothesis.attention)
    read: dict[int, list[int]] = {}  # the words that the network read, for each word of the piece
    for word, source in piece.source_words.items():
        read.setdefault(source, []).append(word)
    return tuple((word, target) for source, target in hypothesis.words[0].links for word in read.get(source, ()))


def is_complete(piece: Piece, translation: Translation) -> bool:
    """Whether a translation needs no restoring.

    There are no spans to put back, no placeholders or spaces after brackets to remove from its hypotheses, and every
    source subword belongs to one word (an unknown one may cover several) that rewriting did not move.
    """
    if piece.masked.spans or (piece.rewritten is not None and not piece.rewritten.keeps_words):
        return False
    if PLACEHOLDER_PATTERN.search(piece.text):
        return True
    return UNKNOWN_PIECE not in translation.source_pieces and not any(
        re.search(TO_REMOVE, hypothesis.text) for hypothesis in translation.hypotheses
    )


def copy_piece(piece: Piece, prefix: str) -> Translation:
    """Returns a piece with nothing to translate as its own translation, which is certain and follows the `prefix`."""
    unchanged, prefix = piece.unchanged, normalise(prefix)
    text = f"{prefix} {unchanged}".strip() if prefix else unchanged
    before, count, source = len(prefix.split()), len(unchanged.split()), len(piece.source_text.split())
    links = tuple((min(index, max(0, source - 1)), before + index) for index in range(count))
    copied = Hypothesis(
        text=text,
        tokens=(UNKNOWN, END),
        pieces=(text, SENTENCE_END),
        log_probability=0.0,
        score=0.0,
        token_log_probabilities=(0.0, 0.0),
        attentions=(np.eye(2, dtype=np.float32),),
        finished=True,
        spans=tuple(Placed(span.text, "unchanged", False, span.kind is SpanKind.TERM) for span in piece.spans),
        words=(WordLinks.from_texts(piece.source_text, text, links),),
    )
    return Translation(piece.text, (unchanged, SENTENCE_END), (copied,), frozenset())


def join_hypotheses(pieces: Sequence[Piece], parts: Sequence[Hypothesis], source_ranges: Sequence[range]) -> Hypothesis:
    """Joins the hypotheses of the pieces of a line; `source_ranges` are the words of each piece in the source."""
    if len(parts) == 1:
        return parts[0]
    from nmt_cli.translation.placement.alignment import split_ranges

    texts = list(join_segments([piece.segment for piece in pieces], [part.text for part in parts]))
    words = tuple(
        part.words[0]._replace(source=source, target=target) if part.words else WordLinks(source, target)
        for source, target, part in zip(source_ranges, split_ranges(texts), parts, strict=True)
    )
    return Hypothesis.from_parts("".join(texts), parts)._replace(words=words)
