"""Exact match and character error rate. Must not know where the sentences come from."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.score import Hypotheses, References, Score, check_pairing, mean_score, ratio_statistics
from nmt_cli.text.normalise import normalise


def exact_match(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Per cent of hypotheses that are, character for character, one of their references (NFC, single blanks)."""
    check_pairing(hypotheses, references)
    values = [100.0 * (hypothesis in own) for hypothesis, own in compared(hypotheses, references, config)]
    return mean_score("exact", values, f"nrefs:{len(references[0])}|{case(config)}|norm:NFC")


def character_error_rate(hypotheses: Hypotheses, references: References, config: ScoreConfig = DEFAULT, /) -> Score:
    """Edits (insert, delete, substitute) per reference character, times 100; the nearest reference counts.

    Lower is better. Raises DataError for sequences that do not belong together.
    """
    check_pairing(hypotheses, references)
    pairs = [
        min(
            ((edit_distance(hypothesis, one), len(one)) for one in own),
            key=lambda pair: pair[0] / max(1, pair[1]),
        )
        for hypothesis, own in compared(hypotheses, references, config)
    ]
    edits, lengths = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return Score(
        name="CER",
        value=100 * sum(edits) / max(1, sum(lengths)),
        signature=f"nrefs:{len(references[0])}|{case(config)}|norm:NFC|mean:characters",
        sentence_values=tuple(100 * edit / max(1, length) for edit, length in pairs),
        statistics=ratio_statistics(edits, lengths, scale=100),
        lower_is_better=True,
    )


def compared(
    hypotheses: Hypotheses, references: References, config: ScoreConfig
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each hypothesis and its references, as they are compared."""

    def form(text: str) -> str:
        return normalise(text).lower() if config.lowercase else normalise(text)

    for hypothesis, own in zip(hypotheses, references, strict=True):
        yield form(hypothesis), tuple(map(form, own))


def case(config: ScoreConfig) -> str:
    return "case:lc" if config.lowercase else "case:mixed"


def edit_distance(one: str, other: str) -> int:
    """Levenshtein's distance, a column of the table at once as the bits of two numbers (Hyyrö 2003, figure 2)."""
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for position, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << position
    everything, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    more, less, distance = everything, 0, len(one)
    for character in other:
        equal = places.get(character, 0)
        diagonal = (((equal & more) + more) ^ more) | equal | less
        up, down = less | ~(diagonal | more), more & diagonal
        distance += bool(up & last) - bool(down & last)
        up = up << 1 | 1
        more = (down << 1 | ~(diagonal | up)) & everything
        less = up & diagonal & everything
    return distance
