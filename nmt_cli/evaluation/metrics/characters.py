"""Exact match and character error rate. Must not know where the sentences come from."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.score import (
    Hypotheses,
    References,
    Score,
    average_scores,
    check_pairing,
    make_ratio_statistics,
)
from nmt_cli.text.normalise import normalise


def compute_exact_match(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Per cent of hypotheses that are, character for character, one of their references (NFC, single blanks)."""
    check_pairing(hypotheses, references)
    values = [
        100.0 * (hypothesis in alternatives)
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    return average_scores("exact", values, f"nrefs:{len(references[0])}|{fold_case(config)}|norm:NFC")


def compute_character_error_rate(
    hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /
) -> Score:
    """Edits (insert, delete, substitute) per reference character, times 100; the nearest reference counts.

    Lower is better. Raises DataError for sequences that do not belong together.
    """
    check_pairing(hypotheses, references)
    pairs = [
        min(
            ((compute_edit_distance(hypothesis, reference), len(reference)) for reference in alternatives),
            key=lambda pair: pair[0] / max(1, pair[1]),
        )
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    edits, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Score(
        name="CER",
        value=100 * sum(edits) / max(1, sum(lengths)),
        signature=f"nrefs:{len(references[0])}|{fold_case(config)}|norm:NFC|mean:characters",
        sentence_values=tuple(100 * edit / max(1, length) for edit, length in pairs),
        statistics=make_ratio_statistics(edits, lengths, scale=100),
        lower_is_better=True,
    )


def normalise_texts(
    hypotheses: Hypotheses, references: References, config: ScoreConfig
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each hypothesis and its references, as they are compared."""

    def normalise_text(text: str) -> str:
        return normalise(text).lower() if config.lowercase else normalise(text)

    for hypothesis, alternatives in zip(hypotheses, references, strict=True):
        yield normalise_text(hypothesis), tuple(map(normalise_text, alternatives))


def fold_case(config: ScoreConfig) -> str:
    return "case:lc" if config.lowercase else "case:mixed"


def compute_edit_distance(text: str, other: str) -> int:
    """Levenshtein's distance, a column of the table at once as the bits of two numbers (Hyyrö 2003, figure 2)."""
    if not text:
        return len(other)
    places: dict[str, int] = {}
    for position, character in enumerate(text):
        places[character] = places.get(character, 0) | 1 << position
    everything, last = (1 << len(text)) - 1, 1 << (len(text) - 1)
    more, less, distance = everything, 0, len(text)
    for character in other:
        equal = places.get(character, 0)
        diagonal = (((equal & more) + more) ^ more) | equal | less
        up, down = less | ~(diagonal | more), more & diagonal
        distance += bool(up & last) - bool(down & last)
        up = up << 1 | 1
        more = (down << 1 | ~(diagonal | up)) & everything
        less = up & diagonal & everything
    return distance
