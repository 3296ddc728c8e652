"""Forced decoding of lines: how likely the model finds given translations, with spans masked as in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt_cli.arrays.special_ids import END
from nmt_cli.search.beam import Found
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.forced import Forced, force
from nmt_cli.sources.source import Row
from nmt_cli.text.masking import MaskedSide, as_it_is, masked_sides
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.translation.batch_search import CELLS, ROWS, batches
from nmt_cli.translation.joining import with_spans
from nmt_cli.translation.pieces import Piece
from nmt_cli.translation.result import Placed, Translation, Words
from nmt_cli.translation.segments import Segment
from nmt_cli.translation.span_alignment import given_links, words_of_piece
from nmt_cli.translation.span_placement import Sides
from nmt_cli.translation.translator import Translator

Pair = tuple[MaskedSide, MaskedSide]  # source and target


def force_lines(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    progress: Callable[[int], None] | None = None,
    *,
    limit: int | None = None,
) -> list[Forced]:
    """Each of `targets` under the model, as a translation of its line of `sources`; `progress` hears how many are done.

    Attention is cut to the length of each source. An unknown token counts as the model's unknown token. Of a source
    `limit` tokens are read at most, or as many as in training.
    """
    return force_rows(translator, *read(translator, as_learnt(translator, sources, targets), limit), progress)


def read(translator: Translator, pairs: Sequence[Pair], limit: int | None) -> tuple[list[Row], list[list[int]]]:
    """The sources as the network is given them, and the targets in ids."""
    rows = translator.source.rows([source.masked.text for source, _ in pairs], limit)
    ids = translator.target.encode_all([target.masked.text for _, target in pairs])
    return rows, [[*own, END] for own in ids]


def force_rows(
    translator: Translator,
    rows: Sequence[Row],
    targets: Sequence[Sequence[int]],
    progress: Callable[[int], None] | None = None,
) -> list[Forced]:
    size = translator.target.vocabulary_size
    result: list[Forced | None] = [None] * len(rows)
    done = 0
    lengths = [max(len(row), len(ids)) for row, ids in zip(rows, targets, strict=True)]
    for batch in batches(lengths, SearchConfig(beam_size=1), max(1, min(ROWS, CELLS // size))):
        own = [targets[index] for index in batch]
        source = translator.source.batch([rows[index] for index in batch])
        for index, one in zip(batch, force(translator.engine, source, own, size), strict=True):
            length = len(rows[index])
            result[index] = Forced(one.tokens, one.log_probabilities, one.likeliest, one.attention[:, :length])
        done += len(batch)
        if progress is not None:
            progress(done)
    return [one for one in result if one is not None]


def as_learnt(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> list[Pair]:
    """The pairs as training saw them: with placeholders for what is protected and stands on both sides.

    As they are, if nothing is to be protected.
    """
    normal = [normalise(target) for target in targets]
    if not (translator.carries and translator.reader.config.protect):
        read = map(normalise, sources) if translator.reads_text else sources
        return [(as_it_is(source), as_it_is(target)) for source, target in zip(read, normal, strict=True)]
    return [masked_sides(*pair) for pair in zip(map(normalise, sources), normal, strict=True)]


def forced_translations(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], *, limit: int | None = None
) -> list[Translation]:
    """The given targets in the form in which the model's own translations come, with probabilities and attention."""
    pairs = as_learnt(translator, sources, targets)
    rows, ids = read(translator, pairs, limit)
    found = translator.translations(sources, rows, [[as_found(one)] for one in force_rows(translator, rows, ids)])
    if translator.subwords is None:
        return found
    sides = Sides(translator.subwords, translator.target)
    return [
        unmasked(one, pair, sides) if pair[0].spans or (has_unknown(one) and pair[1].masked.text) else one
        for one, pair in zip(found, pairs, strict=True)
    ]


def has_unknown(translation: Translation) -> bool:
    """Whether a piece may be of several words."""
    return any(UNKNOWN_PIECE in one for one in (translation.source_pieces, *(h.pieces for h in translation.hypotheses)))


def unmasked(translation: Translation, pair: Pair, sides: Sides) -> Translation:
    """The translation with what its placeholders stand for, and the links of the words of both sides as they were."""
    source, target = (
        Piece(Segment(one.text, one.spans, blank_before=False, ends_sentence=True), one.masked) for one in pair
    )
    (best,) = translation.hypotheses
    of_source = words_of_piece(source, translation.source_pieces, sides.source)
    of_target = words_of_piece(target, best.pieces, sides.target)
    links = given_links(source, target, (of_source, of_target), best.attention)
    hypothesis = best._replace(
        text=target.source_text,
        pieces=tuple(with_spans(best.pieces, target)),
        placed=tuple(Placed(span.text, "unchanged", dropped=False) for span in target.masked.spans),
        words=(Words.of(source.source_text, target.source_text, links),),
    )
    return translation._replace(
        source_pieces=tuple(with_spans(translation.source_pieces, source)),
        hypotheses=(hypothesis,),
        unseen=frozenset(sides.source.unseen(source.masked.words)),
    )


def as_found(forced: Forced) -> Found:
    return Found(
        tokens=forced.tokens,
        log_probability=forced.log_probability,
        score=forced.log_probability,
        token_log_probabilities=forced.log_probabilities,
        attention=forced.attention,
        finished=True,
    )
