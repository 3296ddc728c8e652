"""Decodes search results to text: builds hypotheses and translations. Knows no spans."""

from __future__ import annotations

from collections.abc import Sequence

from nmt_cli.search.result import SearchResult
from nmt_cli.sources.source import Source, SourceRow
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.result import Hypothesis, Translation


def decode_results(
    texts: Sequence[str],
    rows: Sequence[SourceRow],
    results: Sequence[Sequence[SearchResult]],
    source: Source,
    target: Tokenizer,
) -> list[Translation]:
    """Returns one translation per text, with the hypotheses of its row."""
    written = iter(target.decode_all([result.tokens for hypotheses in results for result in hypotheses]))
    return [
        make_translation(text, row, [make_hypothesis(h, next(written), row, target) for h in hypotheses], source)
        for text, row, hypotheses in zip(texts, rows, results, strict=True)
    ]


def make_translation(text: str, row: SourceRow, hypotheses: Sequence[Hypothesis], source: Source) -> Translation:
    """Returns the translation of one text; a blank one has no hypotheses."""
    if row.is_blank:
        return Translation(source=text, source_pieces=(), hypotheses=(), unseen=frozenset())
    labels = source.label_positions(row)
    return Translation(
        source=text,
        source_pieces=labels,
        hypotheses=tuple(hypotheses),
        unseen=source.find_unseen(text),
        source_cut_from=row.full_length,
        source_read=len(labels) - (labels[-1] == SENTENCE_END),
    )


def make_hypothesis(result: SearchResult, text: str, row: SourceRow, target: Tokenizer) -> Hypothesis:
    """Returns a hypothesis with its pieces; its attention is trimmed to the source, without its tags.

    The attention is a copy, else one hypothesis would hold the memory of all of its batch.
    """
    return Hypothesis(
        text=text,
        tokens=result.tokens,
        pieces=tuple(target.spell_pieces(result.tokens)),
        log_probability=result.log_probability,
        score=result.score,
        token_log_probabilities=result.token_log_probabilities,
        attentions=(result.attention[:, row.tags : len(row)].copy(),),
        finished=result.finished,
    )
