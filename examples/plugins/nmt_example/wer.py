"""A metric: the word error rate, the words to insert, delete or substitute per word of the reference, times 100."""

from __future__ import annotations

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score, check_pairing, make_ratio_statistics


def compute_word_error_rate(hypotheses: Hypotheses, references: References, config: ScoreOptions = DEFAULT, /) -> Score:
    """Computes the rate against the nearest reference of each sentence."""
    check_pairing(hypotheses, references)
    edits, lengths = [], []
    for hypothesis, of_sentence in zip(hypotheses, references, strict=True):
        counts = [(count_edits(hypothesis.split(), text.split()), len(text.split())) for text in of_sentence]
        nearest = min(counts, key=lambda count: count[0] / max(1, count[1]))
        edits.append(float(nearest[0]))
        lengths.append(float(nearest[1]))
    return Score(
        name="WER",
        value=100 * sum(edits) / max(1.0, sum(lengths)),
        signature=f"nrefs:{len(references[0])}|case:mixed|tok:none",
        sentence_values=tuple(100 * count / max(1.0, length) for count, length in zip(edits, lengths, strict=True)),
        statistics=make_ratio_statistics(edits, lengths, scale=100),  # for intervals and tests of significance
        lower_is_better=True,
    )


def count_edits(words: list[str], reference: list[str]) -> int:
    """Returns the Levenshtein distance of two sequences of words."""
    row = list(range(len(reference) + 1))
    for number, word in enumerate(words, start=1):
        before, row[0] = row[0], number
        for column, other in enumerate(reference, start=1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (word != other))
    return row[-1]
