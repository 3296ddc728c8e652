"""Forced decoding of lines: how likely the model finds given translations, with spans masked as in training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt_cli.arrays.special_ids import END
from nmt_cli.search.beam import SearchResult
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.masking import MaskedSide, leave_unmasked, mask_sides
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.translation.decoding import decode_results
from nmt_cli.translation.joining import replace_placeholders
from nmt_cli.translation.pieces import Piece
from nmt_cli.translation.result import Placed, Translation, Words
from nmt_cli.translation.segments import Segment
from nmt_cli.translation.span_alignment import link_given, map_words
from nmt_cli.translation.span_placement import Sides
from nmt_cli.translation.translator import Translator

MaskedPair = tuple[MaskedSide, MaskedSide]  # source and target


def force_lines(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    progress: Callable[[int], None] | None = None,
    *,
    limit: int | None = None,
) -> list[ForcedTarget]:
    """Scores each of `targets` as the translation of its line of `sources`; `progress` receives how many are done.

    Attention is cut to the length of each source. An unknown token counts as the model's unknown token. At most `limit`
    tokens of a source are read, or as many as in training.
    """
    rows, ids = encode_pairs(translator, mask_pairs(translator, sources, targets), limit)
    return translator.batch_search.force(rows, ids, progress)


def force_translations(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], *, limit: int | None = None
) -> list[Translation]:
    """Returns given targets in the form of the model's own translations, with probabilities and attention."""
    # 1. Mask and encode both sides as in training.
    pairs = mask_pairs(translator, sources, targets)
    rows, ids = encode_pairs(translator, pairs, limit)
    # 2. Score the targets, and take them for the results of a search.
    results = [[make_result(forced)] for forced in translator.batch_search.force(rows, ids)]
    translations = decode_results(sources, rows, results, translator.source, translator.target)
    if translator.subwords is None:
        return translations
    # 3. Put back what was masked, and words whose pieces are unknown.
    sides = Sides(translator.subwords, translator.target)
    return [
        unmask_translation(translation, pair, sides)
        if pair[0].spans or (has_unknown(translation) and pair[1].masked.text)
        else translation
        for translation, pair in zip(translations, pairs, strict=True)
    ]


def mask_pairs(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> list[MaskedPair]:
    """Returns the pairs as training saw them: with placeholders for protected spans that stand on both sides.

    Returns them as they are if nothing is protected.
    """
    normalised = [normalise(target) for target in targets]
    if not (translator.carries and translator.reader.config.protect):
        lines = map(normalise, sources) if translator.reads_text else sources
        return [
            (leave_unmasked(source), leave_unmasked(target)) for source, target in zip(lines, normalised, strict=True)
        ]
    return [mask_sides(*pair) for pair in zip(map(normalise, sources), normalised, strict=True)]


def encode_pairs(
    translator: Translator, pairs: Sequence[MaskedPair], limit: int | None
) -> tuple[list[SourceRow], list[list[int]]]:
    """Returns the rows of the sources, and the targets in ids that end with END."""
    rows = translator.source.make_rows([source.masked.text for source, _ in pairs], limit)
    ids = translator.target.encode_all([target.masked.text for _, target in pairs])
    return rows, [[*target, END] for target in ids]


def has_unknown(translation: Translation) -> bool:
    """Whether a piece may stand for several words."""
    sides = (translation.source_pieces, *(hypothesis.pieces for hypothesis in translation.hypotheses))
    return any(UNKNOWN_PIECE in pieces for pieces in sides)


def unmask_translation(translation: Translation, pair: MaskedPair, sides: Sides) -> Translation:
    """Returns the translation with the spans of its placeholders, and the links between the words of both sides."""
    source, target = (
        Piece(Segment(side.text, side.spans, blank_before=False, ends_sentence=True), side.masked) for side in pair
    )
    (best,) = translation.hypotheses
    of_source = map_words(source, translation.source_pieces, sides.source)
    of_target = map_words(target, best.pieces, sides.target)
    links = link_given(source, target, (of_source, of_target), best.attention)
    hypothesis = best._replace(
        text=target.source_text,
        pieces=tuple(replace_placeholders(best.pieces, target)),
        placed_spans=tuple(Placed(span.text, "unchanged", dropped=False) for span in target.masked.spans),
        words=(Words.from_texts(source.source_text, target.source_text, links),),
    )
    return translation._replace(
        source_pieces=tuple(replace_placeholders(translation.source_pieces, source)),
        hypotheses=(hypothesis,),
        unseen=frozenset(sides.source.find_unseen(source.masked.words)),
    )


def make_result(forced: ForcedTarget) -> SearchResult:
    """Returns a scored target in the form of a search result."""
    return SearchResult(
        tokens=forced.tokens,
        log_probability=forced.log_probability,
        score=forced.log_probability,
        token_log_probabilities=forced.log_probabilities,
        attention=forced.attention,
        finished=True,
    )
