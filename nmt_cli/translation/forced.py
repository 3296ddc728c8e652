"""Forced decoding of lines: scores given translations under the model, with spans masked as in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nmt_cli.arrays.special_ids import END
from nmt_cli.carrying.masking import MaskedSide, leave_unmasked, mask_sides
from nmt_cli.rewriting.protocol import TextContext
from nmt_cli.search.config import SearchConfig
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.search.result import SearchResult
from nmt_cli.search.sampling import TextId
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.text.tags import TagSet
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.config import CheckConfig
from nmt_cli.translation.decoding import decode_results
from nmt_cli.translation.placement.joining import join_parts, restore_piece
from nmt_cli.translation.placement.restoring import link_sides, replace_placeholders
from nmt_cli.translation.result import Placed, Translation, WordLinks
from nmt_cli.translation.segmentation.matched_pieces import MatchedPiece, match_pieces
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import Segment
from nmt_cli.translation.stages import Stage, Tools, check, make_stage, run_in_order, run_stages
from nmt_cli.translation.translator import Translator


def force_lines(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    limit: int | None = None,
    tags: Sequence[TagSet] = (),
) -> list[ForcedTarget]:
    """Scores each of `targets` as the translation of its line of `sources`, behind its `tags`.

    Attention is trimmed to the length of each source. Unknown text counts as the model's unknown token. `limit` is the
    maximum number of source tokens, by default as in training.
    """
    pairs = [match_whole(translator, source, target) for source, target in zip(sources, targets, strict=True)]
    return translator.batch_search.force(*encode_pairs(translator, pairs, limit, tags or [()] * len(pairs)))


def force_translations(
    translator: Translator,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    limit: int | None = None,
    tags: TagSet = (),
    stages: Sequence[Stage] | None = None,
    checks: CheckConfig | None = None,
) -> list[Translation]:
    """Returns given targets in the form of the model's own translations, with probabilities and attention.

    All sources have these `tags`. A pair is read as translation reads its source, piece by piece; if its target does
    not fit the pieces, as a whole. `stages` are by default those that a stage of another batch needs, which alone
    isolates its lines; with FORCING or JUDGING, a line on which nmt itself fails is copied.
    """
    config = SearchConfig(max_source_length=limit, tags=tags)
    numbers = range(len(sources))
    batch = TranslationBatch(sources, config, 1, None, checks, numbers, None, None, targets=targets)
    if stages is not None:
        return run_stages(translator, batch, stages)
    run_in_order(translator, batch, FORCING)
    return batch.result


def match(tools: Tools, batch: TranslationBatch) -> None:
    """Splits the sources, and matches the targets with their pieces."""
    batch.matches = [
        match_line(tools, source, target) or [match_whole(tools, source, target)]
        for source, target in zip(batch.lines, batch.targets, strict=True)
    ]


def force(tools: Tools, batch: TranslationBatch) -> None:
    """Scores the pieces that are translated."""
    numbered = {
        TextId(number, index): pair
        for number, pairs in zip(batch.numbers, batch.matches, strict=True)
        for index, pair in enumerate(pairs)
        if pair.target is not None
    }
    pairs = list(numbered.values())
    rows, ids = encode_pairs(tools, pairs, batch.config.max_source_length, [batch.config.tags] * len(pairs))
    search = tools.sentences.batch_search
    results = [[make_result(forced)] for forced in search.force(rows, ids)]
    decoded = decode_results([piece.text for piece, _ in pairs], rows, results, search.source, search.target)
    batch.translations = dict(zip(numbered, decoded, strict=True))


def read_given(tools: Tools, batch: TranslationBatch) -> None:
    """Finds the words of the sources that the targets leave out."""
    read = tools.read_left_out(list(batch.translations.values()), batch.config.tags)
    batch.translations = dict(zip(batch.translations, read, strict=True))


def join_matches(tools: Tools, batch: TranslationBatch) -> None:
    """Joins the pieces of each line as translation does."""
    parts = iter(batch.translations.values())
    batch.result = [
        join_match(tools, source, pairs, parts) for source, pairs in zip(batch.lines, batch.matches, strict=True)
    ]


def restore_given(tools: Tools, batch: TranslationBatch) -> None:
    """Replaces each text by the given one, since its tokens spell unknown words differently."""
    texts = [" ".join(target.split()) for target in batch.targets]
    batch.result = [
        translation._replace(hypotheses=tuple(made._replace(text=text) for made in translation.hypotheses))
        for translation, text in zip(batch.result, texts, strict=True)
    ]


FORCING = (
    make_stage(match, "lines targets", "matches"),
    make_stage(force, "matches", "translations"),
    make_stage(join_matches, "lines matches translations", "result"),
)
JUDGING = (  # as a person reads given translations: with all that they lack
    *FORCING[:2],
    make_stage(read_given, "translations", "translations"),
    FORCING[2],
    make_stage(restore_given, "targets result", "result"),
    make_stage(check, "result", "result"),
)


def match_line(tools: Tools, source: str, target: str) -> list[MatchedPiece] | None:
    """Returns the pieces of a source with their parts of the target; None if they do not match."""
    if not (tools.reads_text and tools.reader.config.protect):
        return None
    pieces = tools.reader.split_line(source)
    return match_pieces(pieces, normalise(target), tools.reader) if pieces else None


def match_whole(tools: Tools, source: str, target: str) -> MatchedPiece:
    """Returns a source as one piece with its target, as training saw them: spans that both sides have are masked.

    Without protection, nothing is masked.
    """
    source, target = normalise(source) if tools.reads_text else source, normalise(target)
    is_masked = tools.carries and tools.reader.config.protect
    sides = mask_sides(source, target) if is_masked else (leave_unmasked(source), leave_unmasked(target))
    piece = make_piece(sides[0])
    rewritten = tools.reader.rewriter.read(piece.masked, has_capitals=not source.islower())
    if rewritten is not None:
        piece = replace(piece, masked=rewritten.mask(piece.masked), rewritten=rewritten)
    return MatchedPiece(piece, sides[1])


def make_piece(side: MaskedSide) -> Piece:
    return Piece(Segment(side.text, side.spans, blank_before=False, ends_sentence=True), side.masked)


def encode_pairs(
    tools: Tools, pairs: Sequence[MatchedPiece], limit: int | None, tags: Sequence[TagSet]
) -> tuple[list[SourceRow], list[list[int]]]:
    """Returns the rows of the pieces, and the ids of their targets, which end with END.

    A target in capitals stands for one in usual case, where its source does.
    """
    complete = [tools.complete_tags(row) for row in tags]
    rows = tools.sentences.batch_search.source.make_rows([piece.text for piece, _ in pairs], limit, complete)
    targets = [
        lower_target(target.masked.text, tools)
        if piece.rewritten and piece.rewritten.is_in_capitals
        else target.masked.text
        for piece, target in pairs
        if target is not None
    ]
    return rows, [[*ids, END] for ids in tools.sentences.batch_search.target.encode_all(targets)]


def join_match(tools: Tools, source: str, match: Sequence[MatchedPiece], parts: Iterator[Translation]) -> Translation:
    """Joins the pieces of a line as translation does; `parts` yields the translated ones."""
    tokenizers = tools.tokenizers
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
    """Returns the scored translation of a piece with the spans where the given text has them."""
    moves_words = piece.rewritten is not None and not piece.rewritten.keeps_words
    has_words = bool(target.masked.text) and (moves_words or has_unknown(translation))
    if tokenizers is None or not (piece.masked.spans or has_words):
        return translation
    return unmask_piece(translation, piece, make_piece(target), tokenizers)


def lower_target(text: str, tools: Tools) -> str:
    """Returns a target in capitals in the usual case of its language."""
    case = tools.reader.rewriter.target_case
    cased = case.read(AlignedText.from_text(text), TextContext()) if case else None
    return cased[0].text if cased else text


def has_unknown(translation: Translation) -> bool:
    """Whether a side has an unknown token, which may replace several words."""
    sides = (translation.source_pieces, *(hypothesis.pieces for hypothesis in translation.hypotheses))
    return any(UNKNOWN_PIECE in pieces for pieces in sides)


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
