"""Decodes search results to text: builds hypotheses and translations. Knows no spans."""

from __future__ import annotations

from collections.abc import Sequence

from nmt_cli.search.beam import SearchResult
from nmt_cli.sources.source import Source, SourceRow
from nmt_cli.text.symbols import SENTENCE_END
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.translation.result import Hypothesis, Translation


def decode_results(
    lines: Sequence[str],
    rows: Sequence[SourceRow],
    results: Sequence[Sequence[SearchResult]],
    source: Source,
    target: Tokenizer,
) -> list[Translation]:
    """Returns one translation per line, with the hypotheses of its row."""
    texts = iter(target.decode_all([result.tokens for hypotheses in results for result in hypotheses]))
    return [
        make_translation(line, row, [make_hypothesis(h, next(texts), len(row), target) for h in hypotheses], source)
        for line, row, hypotheses in zip(lines, rows, results, strict=True)
    ]


def make_translation(line: str, row: SourceRow, hypotheses: Sequence[Hypothesis], source: Source) -> Translation:
    """Returns the translation of one line; a blank line has no hypotheses."""
    if row.is_blank:
        return Translation(source=line, source_pieces=(), hypotheses=(), unseen=frozenset())
    labels = source.label_positions(row)
    return Translation(
        source=line,
        source_pieces=labels,
        hypotheses=tuple(hypotheses),
        unseen=source.find_unseen(line),
        source_cut_from=row.full_length,
        source_read=len(row) - (labels[-1] == SENTENCE_END),
    )


def make_hypothesis(result: SearchResult, text: str, source_length: int, target: Tokenizer) -> Hypothesis:
    """Returns a hypothesis with its pieces; its attention is trimmed to the length of the source."""
    return Hypothesis(
        text=text,
        tokens=result.tokens,
        pieces=tuple(target.spell_pieces(result.tokens)),
        log_probability=result.log_probability,
        score=result.score,
        token_log_probabilities=result.token_log_probabilities,
        attentions=(result.attention[:, :source_length],),
        finished=result.finished,
    )
