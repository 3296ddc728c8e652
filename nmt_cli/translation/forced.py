"""Forced decoding of lines: scores given translations under the model, with spans masked as in training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nmt_cli.arrays.special_ids import END
from nmt_cli.carrying.masking import MaskedSide, leave_unmasked, mask_sides
from nmt_cli.rewriting.protocol import TextContext
from nmt_cli.rewriting.rewrite import RewrittenText
from nmt_cli.search.beam import SearchResult
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.translation.decoding import decode_results
from nmt_cli.translation.placement.joining import join_parts, restore_piece
from nmt_cli.translation.placement.restoring import link_sides, replace_placeholders
from nmt_cli.translation.result import Placed, Translation, WordLinks
from nmt_cli.translation.segmentation.matched_pieces import MatchedPiece, match_pieces
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import Segment
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
    """Scores each of `targets` as the translation of its line of `sources`; `progress` receives the number done.

    Attention is trimmed to the length of each source. Unknown text counts as the model's unknown token. `limit` is the
    maximum number of source tokens, by default as in training.
    """
    rows, ids = encode_pairs(translator, mask_pairs(translator, sources, targets), limit)
    return translator.batch_search.force(rows, ids, progress)


def force_translations(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], *, limit: int | None = None
) -> list[Translation]:
    """Returns given targets in the form of the model's own translations, with probabilities and attention.

    A pair is read as translation reads its source, piece by piece; if its target does not fit the pieces, as a whole.
    """
    # 1. Split the sources, and match the targets with their pieces.
    matches = [match_line(translator, source, target) for source, target in zip(sources, targets, strict=True)]
    # 2. Score all pairs that do not match, and the pieces of the others.
    unmatched = [index for index, match in enumerate(matches) if match is None]
    wholes = dict(
        zip(
            unmatched,
            force_wholes(
                translator,
                [sources[index] for index in unmatched],
                [targets[index] for index in unmatched],
                limit=limit,
            ),
            strict=True,
        )
    )
    parts = iter(force_pieces(translator, [pair for match in matches for pair in match or ()], limit))
    # 3. Join the pieces of each line as translation does.
    return [
        wholes[index] if match is None else join_match(translator, sources[index], match, parts)
        for index, match in enumerate(matches)
    ]


def match_line(translator: Translator, source: str, target: str) -> list[MatchedPiece] | None:
    """Returns the pieces of a source with their parts of the target; None if they do not match."""
    if not (translator.reads_text and translator.reader.config.protect):
        return None
    pieces = translator.reader.split_line(source)
    return match_pieces(pieces, normalise(target), translator.reader) if pieces else None


def force_pieces(translator: Translator, pairs: Sequence[MatchedPiece], limit: int | None) -> list[Translation]:
    """Scores the translated pieces, in order."""
    translated = [(piece, target) for piece, target in pairs if target is not None]
    texts = [piece.text for piece, _ in translated]
    rows = translator.source.make_rows(texts, limit)
    targets = [
        lower_target(target.masked.text, translator)
        if piece.rewritten and piece.rewritten.is_in_capitals
        else target.masked.text
        for piece, target in translated
    ]
    ids = [[*encoded, END] for encoded in translator.target.encode_all(targets)]
    return force_rows(translator, texts, rows, ids)


def force_rows(
    translator: Translator, texts: Sequence[str], rows: Sequence[SourceRow], ids: Sequence[Sequence[int]]
) -> list[Translation]:
    """Scores the targets `ids` of the sources `texts`, encoded as `rows`, as if found by search."""
    results = [[make_result(forced)] for forced in translator.batch_search.force(rows, ids)]
    return decode_results(texts, rows, results, translator.source, translator.target)


def join_match(
    translator: Translator, source: str, match: Sequence[MatchedPiece], parts: Iterator[Translation]
) -> Translation:
    """Joins the pieces of a line as translation does; `parts` yields the translated ones."""
    tokenizers = translator.tokenizers
    restored = [
        restore_piece(piece, None, tokenizers, "")
        if target is None
        else restore_target(next(parts), target, piece, tokenizers)
        for piece, target in match
    ]
    return join_parts(source, [piece for piece, _ in match], restored, tokenizers)


def restore_target(
    translation: Translation, target: MaskedSide, piece: Piece, tokenizers: TokenizerPair | None
) -> Translation:
    """Returns the scored translation of a piece with its spans where the given text has them."""
    moves_words = piece.rewritten is not None and not piece.rewritten.keeps_words
    is_plain = not piece.masked.spans and not has_unknown(translation) and not moves_words
    if tokenizers is None or is_plain:
        return translation
    target_piece = Piece(Segment(target.text, target.spans, blank_before=False, ends_sentence=True), target.masked)
    return unmask_piece(translation, piece, target_piece, tokenizers)


def force_wholes(
    translator: Translator, sources: Sequence[str], targets: Sequence[str], *, limit: int | None = None
) -> list[Translation]:
    """Returns given targets in the form of the model's own translations; each line is one text."""
    if not sources:
        return []
    # 1. Mask and encode both sides as in training.
    pairs = mask_pairs(translator, sources, targets)
    rows, ids = encode_pairs(translator, pairs, limit)
    # 2. Score the targets, and decode them as if search had found them.
    forced = force_rows(translator, sources, rows, ids)
    tokenizers = translator.tokenizers
    if tokenizers is None:
        return forced
    # 3. Put back masked spans, and words with unknown subwords.
    return [
        unmask_translation(translation, (source, target), tokenizers, rewrite_source(translator, source))
        if source.spans or (has_unknown(translation) and target.masked.text) or moves_words(translator, source)
        else translation
        for translation, (source, target) in zip(forced, pairs, strict=True)
    ]


def mask_pairs(translator: Translator, sources: Sequence[str], targets: Sequence[str]) -> list[MaskedPair]:
    """Returns the pairs as training saw them: protected spans on both sides are masked.

    Without protection, nothing is masked.
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
    """Returns the rows of the sources, rewritten as for translation, and the targets in ids that end with END.

    A target in capitals is lowered to usual case if its source was.
    """
    rewritten = [rewrite_source(translator, source) for source, _ in pairs]
    sources = [new.text if new else old.masked.text for new, (old, _) in zip(rewritten, pairs, strict=True)]
    targets = [
        lower_target(target.masked.text, translator) if new and new.is_in_capitals else target.masked.text
        for new, (_, target) in zip(rewritten, pairs, strict=True)
    ]
    rows = translator.source.make_rows(sources, limit)
    return rows, [[*ids, END] for ids in translator.target.encode_all(targets)]


def rewrite_source(translator: Translator, source: MaskedSide) -> RewrittenText | None:
    """Returns a source rewritten as for translation; None if nothing changes."""
    return translator.reader.rewriter.read(source.masked, has_capitals=not source.text.islower())


def lower_target(text: str, translator: Translator) -> str:
    """Returns a target in capitals in the usual case of its language."""
    case = translator.reader.rewriter.target_case
    cased = case.read(AlignedText.from_text(text), TextContext()) if case else None
    return cased[0].text if cased else text


def has_unknown(translation: Translation) -> bool:
    """Whether a side has an unknown token, which may replace several words."""
    sides = (translation.source_pieces, *(hypothesis.pieces for hypothesis in translation.hypotheses))
    return any(UNKNOWN_PIECE in pieces for pieces in sides)


def moves_words(translator: Translator, source: MaskedSide) -> bool:
    """Whether rewriting drops or adds a word of a source."""
    rewritten = rewrite_source(translator, source)
    return rewritten is not None and not rewritten.keeps_words


def unmask_translation(
    translation: Translation, pair: MaskedPair, tokenizers: TokenizerPair, rewritten: RewrittenText | None
) -> Translation:
    """Puts masked spans back into a translation and its source, and links the words of both sides."""
    source, target = (
        Piece(Segment(side.text, side.spans, blank_before=False, ends_sentence=True), side.masked) for side in pair
    )
    if rewritten is not None:
        source = replace(source, masked=rewritten.mask(source.masked), rewritten=rewritten)
    return unmask_piece(translation, source, target, tokenizers)


def unmask_piece(translation: Translation, source: Piece, target: Piece, tokenizers: TokenizerPair) -> Translation:
    """Puts the spans of both sides back into the translation of one piece by another."""
    (best,) = translation.hypotheses
    links = link_sides(source, target, tokenizers, best.attention)
    hypothesis = best._replace(
        text=target.source_text,
        pieces=tuple(replace_placeholders(best.pieces, target)),
        placed_spans=tuple(Placed(span.text, "unchanged", dropped=False) for span in target.masked.spans),
        words=(WordLinks.from_texts(source.source_text, target.source_text, links),),
    )
    return translation._replace(
        source_pieces=tuple(replace_placeholders(translation.source_pieces, source)),
        hypotheses=(hypothesis,),
        unseen=frozenset(tokenizers.source.find_unseen(source.masked.text_without_placeholders)),
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
