"""Exact match and character error rate. Must not know where the sentences come from.

The distance of two texts takes time by their lengths multiplied. Those of more than LONGEST_COMPARED characters are cut
into equally many parts, whose distances add up to at least theirs, and the signature says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

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

LONGEST_COMPARED = 10_000  # characters or words that are compared as a whole: a tenth of a second


def compute_exact_match(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Computes the percentage of hypotheses that equal one of their references (NFC, single blanks)."""
    check_pairing(hypotheses, references)
    values = [
        100.0 * (hypothesis in alternatives)
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    return average_scores("exact", values, f"nrefs:{len(references[0])}|{describe_case(config)}|norm:NFC")


def compute_character_error_rate(
    hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /
) -> Score:
    """Computes the edits (insert, delete, substitute) per character of the nearest reference, times 100."""
    check_pairing(hypotheses, references)
    pairs = [
        min(
            ((bound_edit_distance(hypothesis, reference), len(reference)) for reference in alternatives),
            key=lambda pair: pair[0] / max(1, pair[1]),
        )
        for hypothesis, alternatives in normalise_texts(hypotheses, references, config)
    ]
    longest = max(len(text) for texts in (hypotheses, *references) for text in texts)
    parts = f"|parts:{LONGEST_COMPARED}" if longest > LONGEST_COMPARED else ""
    edits, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Score(
        name="CER",
        value=100 * sum(edits) / max(1, sum(lengths)),
        signature=f"nrefs:{len(references[0])}|{describe_case(config)}|norm:NFC|mean:characters{parts}",
        sentence_values=tuple(100 * edit / max(1, length) for edit, length in pairs),
        statistics=make_ratio_statistics(edits, lengths, scale=100),
        lower_is_better=True,
    )


def normalise_texts(
    hypotheses: Hypotheses, references: References, config: ScoreConfig
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields each hypothesis and its references in the form that is compared."""

    def normalise_text(text: str) -> str:
        return normalise(text).lower() if config.lowercase else normalise(text)

    for hypothesis, alternatives in zip(hypotheses, references, strict=True):
        yield normalise_text(hypothesis), tuple(map(normalise_text, alternatives))


def describe_case(config: ScoreConfig) -> str:
    """Returns the signature's part about upper and lower case."""
    return "case:lc" if config.lowercase else "case:mixed"


def bound_edit_distance(text: Sequence[str], other: Sequence[str]) -> int:
    """Returns the edit distance of two texts; of long ones, the sum of those of their parts, which is not less."""
    count = -(-max(len(text), len(other)) // LONGEST_COMPARED) or 1
    edges = [(len(text) * part // count, len(other) * part // count) for part in range(count + 1)]
    return sum(
        compute_edit_distance(text[first:last], other[start:end]) for (first, start), (last, end) in pairwise(edges)
    )


def map_positions(items: Sequence[str]) -> dict[str, int]:
    """Returns the positions of each item, as the bits of a number."""
    positions: dict[str, int] = {}
    for position, item in enumerate(items):
        positions[item] = positions.get(item, 0) | 1 << position
    return positions


def compute_edit_distance(text: Sequence[str], other: Sequence[str]) -> int:
    """Computes the Levenshtein distance, with a column of its table in the bits of two numbers (Hyyrö 2003, figure 2).

    The bits say where a cell is one more (VP, HP) or one less (VN, HN) than the cell above it or to its left.
    """
    if not text:
        return len(other)
    positions = map_positions(text)
    all_bits, last_bit = (1 << len(text)) - 1, 1 << (len(text) - 1)
    vertical_more, vertical_less, distance = all_bits, 0, len(text)
    for character in other:
        equal = positions.get(character, 0)
        diagonal = (((equal & vertical_more) + vertical_more) ^ vertical_more) | equal | vertical_less
        more, less = vertical_less | ~(diagonal | vertical_more), vertical_more & diagonal
        distance += bool(more & last_bit) - bool(less & last_bit)
        more = more << 1 | 1
        vertical_more = (less << 1 | ~(diagonal | more)) & all_bits
        vertical_less = more & diagonal & all_bits
    return distance
