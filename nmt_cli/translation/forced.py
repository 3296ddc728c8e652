"""Scores given translations, reads translations back, and ranks hypotheses with a model for the opposite direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from nmt_cli.arrays.types import END
from nmt_cli.carrying.masking import MaskedSide, leave_unmasked, mask_sides
from nmt_cli.rewriting.protocol import TextContext
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.search.forced import ForcedTarget
from nmt_cli.search.step_model import SearchResult
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.normalise import normalise
from nmt_cli.text.symbols import UNKNOWN_PIECE
from nmt_cli.text.tags import TagSet
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.translation.batch import Tools, TranslationBatch
from nmt_cli.translation.config import CheckOptions
from nmt_cli.translation.placement.alignment import drop_silent, group_by_blanks, spell_word
from nmt_cli.translation.placement.joining import join_parts, restore_piece
from nmt_cli.translation.placement.span_placement import link_sides, replace_placeholders
from nmt_cli.translation.result import Hypothesis, Placed, Translation, WordLinks
from nmt_cli.translation.search import decode_results
from nmt_cli.translation.segmentation.line_reader import MatchedPiece, match_pieces
from nmt_cli.translation.segmentation.pieces import Piece
from nmt_cli.translation.segmentation.segments import Segment
from nmt_cli.translation.stages import Stage, check, make_stage, run_stages

# Forced decoding of lines: scores given translations under the model, with spans masked as in training.


def force_lines(
    translator: Tools,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    limit: int | None = None,
    tags: Sequence[TagSet] = (),
) -> list[ForcedTarget]:
    """Scores each target as the translation of the source at the same position, read after its `tags`.

    Attention is trimmed to the length of each source. Unknown text counts as the model's unknown token. `limit` is the
    maximum number of source tokens, by default as in training.
    """
    pairs = [match_whole(translator, source, target) for source, target in zip(sources, targets, strict=True)]
    return translator.network.force(*encode_pairs(translator, pairs, limit, tags or [()] * len(pairs)))


def force_translations(
    translator: Tools,
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    limit: int | None = None,
    tags: TagSet = (),
    stages: Sequence[Stage] | None = None,
    checks: CheckOptions | None = None,
) -> list[Translation]:
    """Returns given targets in the form of the model's own translations, with probabilities and attention.

    All sources have these `tags`. Each pair is read piece by piece, as in translation, or as a whole if its target does
    not fit the pieces. By default, runs within a stage of another batch, which isolates failing lines itself. With the
    `stages` FORCING or JUDGING, a line on which nmt itself fails is copied.
    """
    config = SearchOptions(max_source_length=limit, tags=tags)
    numbers = range(len(sources))
    batch = TranslationBatch(sources, config, 1, None, checks, numbers, targets=targets)
    if stages is not None:
        return run_stages(translator, batch, stages)
    for stage in FORCING:
        stage.run(translator, batch)
    return batch.result


def match(tools: Tools, batch: TranslationBatch) -> None:
    """Splits the sources into pieces, and matches the targets with them."""
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
    batch.pieces = {text_id: pair.piece for text_id, pair in numbered.items()}
    pairs = list(numbered.values())
    rows, ids = encode_pairs(tools, pairs, batch.config.max_source_length, [batch.config.tags] * len(pairs))
    network = tools.network
    results = [[make_result(forced)] for forced in network.force(rows, ids)]
    decoded = decode_results([piece.text for piece, _ in pairs], rows, results, network.source, network.target)
    batch.translations = dict(zip(numbered, decoded, strict=True))


def read_given(tools: Tools, batch: TranslationBatch) -> None:
    """Finds the words of the sources that the targets leave out."""
    from nmt_cli.translation.repair.asks import LEFT_OUT, Asker, ask, list_cases  # which few translations need

    cases = ask(Asker(tools, batch), list_cases(batch, batch.translations), LEFT_OUT)
    batch.translations |= {case.text_id: case.translation for case in cases}


def join_matches(tools: Tools, batch: TranslationBatch) -> None:
    """Joins the pieces of each line as translation does."""
    parts = iter(batch.translations.values())
    batch.result = [
        join_match(tools, source, pairs, parts) for source, pairs in zip(batch.lines, batch.matches, strict=True)
    ]


def restore_given(tools: Tools, batch: TranslationBatch) -> None:
    """Replaces each text by the given one, because the tokens may spell unknown words differently."""
    texts = [" ".join(target.split()) for target in batch.targets]
    batch.result = [
        translation._replace(hypotheses=tuple(made._replace(text=text) for made in translation.hypotheses))
        for translation, text in zip(batch.result, texts, strict=True)
    ]


FORCING = (
    make_stage(match, "lines targets", "matches"),
    make_stage(force, "matches", "pieces translations"),
    make_stage(join_matches, "lines matches translations", "result"),
)
JUDGING = (  # as a person reads given translations: with all that they lack
    *FORCING[:2],
    make_stage(read_given, "pieces translations", "translations"),
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
    """Returns a source as one piece with its target, as in training: spans that both sides have are masked.

    Without protection, nothing is masked.
    """
    source, target = normalise(source) if tools.reads_text else source, normalise(target)
    is_masked = tools.copies_placeholders and tools.reader.config.protect
    sides = mask_sides(source, target) if is_masked else (leave_unmasked(source), leave_unmasked(target))
    piece = make_piece(sides[0])
    rewritten = tools.reader.rewriter.read(piece.masked, TextContext(has_capitals=not source.islower()))
    if rewritten is not None:
        piece = replace(piece, masked=rewritten.mask(piece.masked), rewritten=rewritten)
    return MatchedPiece(piece, sides[1])


def make_piece(side: MaskedSide) -> Piece:
    return Piece(Segment(side.text, side.spans, blank_before=False, ends_sentence=True), side.masked)


def encode_pairs(
    tools: Tools, pairs: Sequence[MatchedPiece], limit: int | None, tags: Sequence[TagSet]
) -> tuple[list[SourceRow], list[list[int]]]:
    """Returns the rows of the pieces, and the ids of their targets, which end with END.

    If a source in capitals is read in its usual case, so is its target.
    """
    complete = [tools.complete_tags(row) for row in tags]
    rows = tools.network.source.make_rows([piece.text for piece, _ in pairs], limit, complete)
    targets = [
        lower_target(target.masked.text, tools)
        if piece.rewritten and piece.rewritten.is_in_capitals
        else target.masked.text
        for piece, target in pairs
        if target is not None
    ]
    return rows, [[*ids, END] for ids in tools.network.target.encode_all(targets)]


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
    """Returns the scored translation of a piece, with its spans where the given text has them."""
    moves_words = piece.rewritten is not None and not piece.rewritten.keeps_words
    has_words = bool(target.masked.text) and (moves_words or has_unknown(translation))
    if tokenizers is None or not (piece.masked.spans or has_words):
        return translation
    return unmask_piece(translation, piece, make_piece(target), tokenizers)


def lower_target(text: str, tools: Tools) -> str:
    """Converts a target in capitals to the usual case of its language."""
    case = tools.reader.rewriter.target_case
    cased = case.read(AlignedText.from_text(text), TextContext()) if case else None
    return cased[0].text if cased else text


def has_unknown(translation: Translation) -> bool:
    """Whether a side has an unknown token, which may replace several words."""
    sides = (translation.source_pieces, *(hypothesis.pieces for hypothesis in translation.hypotheses))
    return any(UNKNOWN_PIECE in pieces for pieces in sides)


def unmask_piece(translation: Translation, source: Piece, target: Piece, tokenizers: TokenizerPair) -> Translation:
    """Puts the spans back on both sides of a scored pair of pieces."""
    (best,) = translation.hypotheses
    links = link_sides(source, target, tokenizers, best.attention)
    hypothesis = best._replace(
        text=target.source_text,
        pieces=tuple(replace_placeholders(best.pieces, target)),
        spans=tuple(Placed(span.text, "unchanged", lost=False) for span in target.masked.spans),
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


# Ranks hypotheses with a model of the other direction, which rates how well each of them tells the source.
#
# A hypothesis Y of a source X scores score(Y, X) + weight * log P(X | Y). Source: Li and Jurafsky (2016), "Mutual
# Information and Diverse Decoding Improve Neural Machine Translation". Does not depend on lines or files.


CANDIDATES = 12  # hypotheses that are ranked, at least; more cost time and bring nothing


class Judge(NamedTuple):
    """A model for the opposite direction, which ranks hypotheses."""

    translator: Tools

    def widen_search(self, config: SearchOptions) -> SearchOptions:
        """Returns settings that search for all the hypotheses to rank."""
        beam_size = max(config.beam_size, CANDIDATES)
        return replace(config, beam_size=beam_size, n_best=beam_size)

    def rank(self, translations: Mapping[TextId, Translation], config: SearchOptions) -> dict[TextId, Translation]:
        """Returns the translations with their `n_best` best hypotheses, ranked by score and judge."""
        # 1. Judge the hypotheses that scored best.
        texts = list(translations.values())
        first = self.judge_hypotheses([(text.source, text.hypotheses[: config.n_best]) for text in texts], config)
        # 2. Judge those that may still become better: a judge only lowers scores.
        bounds = [min((hypothesis.score for hypothesis in some), default=0.0) for some in first]
        others = [
            [hypothesis for hypothesis in text.hypotheses[config.n_best :] if hypothesis.score > bound]
            for text, bound in zip(texts, bounds, strict=True)
        ]
        sources = [text.source for text in texts]
        second = self.judge_hypotheses(list(zip(sources, others, strict=True)), config)
        # 3. Keep the best of both.
        return {
            text_id: text._replace(
                hypotheses=tuple(sorted((*some, *more), key=lambda hypothesis: -hypothesis.score)[: config.n_best])
            )
            for (text_id, text), some, more in zip(translations.items(), first, second, strict=True)
        }

    def judge_hypotheses(
        self, hypotheses: Sequence[tuple[str, Sequence[Hypothesis]]], config: SearchOptions
    ) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each source with their final scores."""

        texts = [hypothesis.text for _, some in hypotheses for hypothesis in some]
        sources = [source for source, some in hypotheses for _ in some]
        judged = iter(force_lines(self.translator, texts, sources))
        return [
            [
                hypothesis._replace(score=hypothesis.score + config.rerank_weight * next(judged).log_probability)
                for hypothesis in some
            ]
            for _, some in hypotheses
        ]


# Reads translations back by a model of the other direction: how likely each word of the source is, given them.


def read_back(reverse: Tools, translations: Sequence[Translation]) -> list[Translation]:
    """Returns the translations with the log-probabilities that the model `reverse` gives to the words of their sources.

    A translation that is empty, or too long for this model, stays as it is.
    """
    indices = [index for index, translation in enumerate(translations) if translation.text.strip()]
    pairs = [(translations[index].text, translations[index].source) for index in indices]
    result = list(translations)
    scored = force_translations(reverse, [text for text, _ in pairs], [source for _, source in pairs])
    for index, forced in zip(indices, scored, strict=True):
        if forced.hypotheses and forced.source_cut_from is None:
            result[index] = result[index]._replace(read_back=rate_words(forced.hypotheses[0]))
    return result


def rate_words(hypothesis: Hypothesis) -> dict[str, float]:
    """Returns the log-probability of each word in lower case; for a repeated word, the lowest.

    Words that the model cannot spell are left out.
    """
    pieces, values = hypothesis.pieces, hypothesis.token_log_probabilities
    words: dict[str, float] = {}
    for group in drop_silent(pieces, group_by_blanks(pieces)):
        word = spell_word(pieces, group).lower()
        if word and not any(pieces[index] == UNKNOWN_PIECE for index in group):
            words[word] = min(words.get(word, 0.0), sum(values[index] for index in group))
    return words
