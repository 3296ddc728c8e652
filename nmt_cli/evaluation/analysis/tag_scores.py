"""Scores of the sentences of each tag, and their mean. Must not know how the sentences were translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nmt_cli.evaluation.config import ScoreOptions
from nmt_cli.evaluation.metrics.registry import RESOURCE_METRICS, find_metric
from nmt_cli.evaluation.metrics.sacrebleu_metrics import choose_for_text
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.text.tags import Tag, TagPurpose
from nmt_cli.text.wrapping import format_count

SHOWN = ("bleu", "chrf", "ter")  # of the metrics that are asked for; else the first of them


@dataclass(frozen=True)
class TagRow:
    """The scores of the sentences with a tag; without a number of sentences, the mean over several tags."""

    name: str
    scores: Mapping[str, float]  # by the name of the metric as it is printed
    sentences: int | None = None


@dataclass(frozen=True)
class TagScores:
    """The rows of all tags, by kind, each kind of several tags with its mean."""

    rows: tuple[TagRow, ...]

    def to_mapping(self) -> dict[str, Any]:
        """Returns the rows by name, in the form of `--json`."""
        return {row.name: asdict(row) for row in self.rows}

    def make_table(self) -> list[list[str]]:
        """Returns the heads of a table, and its rows: name, scores and number of sentences."""
        rows = []
        for row in self.rows:
            values = [f"{value:.2f}" for value in row.scores.values()]
            rows.append([row.name, *values, "" if row.sentences is None else f"{row.sentences:,}"])
        return [["", *self.rows[0].scores, "sentences"], *rows]

    def format_lines(self) -> list[str]:
        """Returns a line per row: its name, its scores and its number of sentences."""
        width = max(len(row.name) for row in self.rows)
        lines = []
        for row in self.rows:
            values = "   ".join(f"{name} {value:6.2f}" for name, value in row.scores.items())
            count = "" if row.sentences is None else f"   ({format_count(row.sentences, 'sentence')})"
            lines.append(f"{row.name:<{width}}  {values}{count}")
        return lines


def score_by_tag(names: Sequence[str], material: Material, config: ScoreOptions) -> TagScores | None:
    """Returns the scores of each tag; None if no sentence has any, or if no metric of sentences alone is asked for."""
    tags = sorted(
        {tag for tags in material.tags for tag in tags}, key=lambda tag: (list(TagPurpose).index(tag.kind), tag)
    )
    measured = [name for name in names if name in SHOWN] or [name for name in names if name not in RESOURCE_METRICS][:1]
    if not tags or not measured:
        return None
    rows: list[TagRow] = []
    for kind in dict.fromkeys(tag.kind for tag in tags):
        of_kind = [score_tag(tag, measured, material, config) for tag in tags if tag.kind is kind]
        rows += [*of_kind, *average_rows(of_kind, kind)]
    return TagScores(tuple(rows))


def score_tag(tag: Tag, names: Sequence[str], material: Material, config: ScoreOptions) -> TagRow:
    """Returns the scores of the sentences of one tag, in the words of its language if it names one."""
    chosen = [row for row, tags in enumerate(material.tags) if tag in tags]
    hypotheses = [material.hypotheses[row] for row in chosen]
    references = [material.references[row] for row in chosen]
    if tag.kind is TagPurpose.TARGET:
        config, _ = choose_for_text(replace(config, bleu_tokenizer="auto"), tag.value, references)
    scores = [find_metric(name)(hypotheses, references, config) for name in names]
    return TagRow(str(tag), {score.name: score.value for score in scores}, len(chosen))


def average_rows(rows: Sequence[TagRow], kind: TagPurpose) -> Iterator[TagRow]:
    """Yields the mean of several rows."""
    if len(rows) > 1:
        names = rows[0].scores
        yield TagRow(f"mean {kind}", {name: sum(row.scores[name] for row in rows) / len(rows) for name in names})
