"""Shows where a system fails: scores by groups of sentences, and the worst sentences. Must not know models or files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nmt_cli.evaluation.analysis import sentence_groups as groups
from nmt_cli.evaluation.analysis.sentence_groups import Example, TrainingSources
from nmt_cli.evaluation.analysis.training_distance import MemoryScore, Nearest
from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import Score

PROFILED = ("bleu", "chrf")  # the scores of each group
RANKED = "chrf"  # the score that ranks sentences; sentence BLEU is 0 too often
WORST_COUNT = 20


@dataclass(frozen=True)
class Group:
    """A group of sentences and its scores."""

    name: str
    sentences: int
    values: Mapping[str, float]  # 0-100, by the metric's name as printed


@dataclass(frozen=True)
class Section:
    """The sentences, grouped by one property."""

    title: str
    meaning: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence with a poor translation."""

    number: int  # from 1
    source: str | None
    references: tuple[str, ...]
    hypothesis: str
    value: float  # chrF, 0-100


@dataclass(frozen=True)
class Profile:
    """The scores of groups of sentences, and the worst sentences."""

    sections: tuple[Section, ...]
    worst: tuple[Sentence, ...]
    memory: MemoryScore | None = None  # of the training data alone; None without training data


Grouping = Callable[[Example], str | None]
SECTIONS: tuple[tuple[str, str, Grouping, tuple[str, ...]], ...] = (
    (
        "source length",
        "words of the source",
        groups.group_by_length,
        tuple(groups.name_ranges(groups.LENGTHS, "words")),
    ),
    (
        "rarest source word",
        "its occurrences in the training sources",
        groups.group_by_rarest_word,
        ("never seen", *groups.name_ranges(groups.FREQUENCIES, "times")[1:]),
    ),
    (
        "seen in training",
        "training sources, verbatim or except for case and punctuation",
        groups.group_by_seen,
        ("unseen", "seen but for case", "seen in training"),
    ),
    (
        "distance to training",
        "words in common, in order, with the nearest training source",
        groups.group_by_nearness,
        tuple(groups.NEARNESS),
    ),
    ("numbers", "digits of the reference", groups.group_by_numbers, ("none", "kept", "lost or changed")),
    ("negation", "words like not, no, never", groups.group_by_negation, ("none", "kept", "lost", "added")),
    ("names", "capitalised words in source and reference", groups.group_by_names, ("none", "kept", "lost or changed")),
    ("repeats", "words twice in a row, but not in the reference", groups.group_by_repeats, ("none", "repeated words")),
    (
        "untranslated",
        "source words in the translation",
        groups.group_by_copies,
        ("none", "some words", "whole sentence"),
    ),
    (
        "length",
        "words of the hypothesis compared with the reference",
        groups.group_by_length_ratio,
        ("as long", "too short", "too long"),
    ),
)


def build_profile(
    material: Material,
    training: TrainingSources | None = None,
    language: str = "",
    config: ScoreConfig = DEFAULT,
    nearest: Sequence[Nearest] = (),
) -> Profile:
    """Returns the scores of groups of sentences and the twenty worst by chrF; `language` is the target's ISO 639 code.

    `nearest` are the training sources nearest to the sentences.

    A section that cannot be computed (no sources, no training data, a language without known negations) is left out.
    """
    scores = {name: METRICS[name](material.hypotheses, material.references, config) for name in PROFILED}
    sources: Sequence[str | None] = material.sources or [None] * len(material.hypotheses)
    shares: Sequence[float | None] = [near.share for near in nearest] or [None] * len(sources)
    examples = [
        Example(hypothesis, references[0], source, training, language, share)
        for hypothesis, references, source, share in zip(
            material.hypotheses, material.references, sources, shares, strict=True
        )
    ]
    sections = (build_section(*section, examples, scores) for section in SECTIONS)
    return Profile(tuple(section for section in sections if section is not None), find_worst(material, scores[RANKED]))


def build_section(
    title: str,
    meaning: str,
    grouping: Grouping,
    order: Sequence[str],
    examples: Sequence[Example],
    scores: Mapping[str, Score],
) -> Section | None:
    """Returns the non-empty groups of a section in `order`; None if an example has no group."""
    rows: dict[str, list[int]] = {name: [] for name in order}
    for row, example in enumerate(examples):
        label = grouping(example)
        if label is None:
            return None
        rows[label].append(row)
    members = tuple(Group(name, len(group), score_rows(group, scores)) for name, group in rows.items() if group)
    return Section(title, meaning, members)


def score_rows(rows: Sequence[int], scores: Mapping[str, Score]) -> dict[str, float]:
    """Returns the scores of these sentences, by the metric's printed name."""
    return {
        score.name: score.statistics.score_sentences(rows) for score in scores.values() if score.statistics is not None
    }


def compare_memory(trained: Material, unseen: Material, config: ScoreConfig = DEFAULT) -> Section:
    """Compares the scores of a sample of the training sentences with those of unseen sentences."""
    samples = []
    for name, material in (("training sentences", trained), ("these sentences", unseen)):
        scores = [METRICS[metric](material.hypotheses, material.references, config) for metric in PROFILED]
        samples.append(Group(name, len(material.hypotheses), {score.name: score.value for score in scores}))
    meaning = "a model that scores far better on its training data has memorised it"
    return Section("memorisation", meaning, tuple(samples))


def find_worst(material: Material, score: Score) -> tuple[Sentence, ...]:
    """Returns the sentences with the lowest values; among ties, the longest references first."""
    values = score.sentence_values
    order = sorted(range(len(values)), key=lambda row: (values[row], -len(material.references[row][0]), row))
    return tuple(
        Sentence(
            number=row + 1,
            source=material.sources[row] if material.sources else None,
            references=tuple(material.references[row]),
            hypothesis=material.hypotheses[row],
            value=values[row],
        )
        for row in order[:WORST_COUNT]
    )


def format_profile(profile: Profile) -> list[str]:
    """Returns the sections as the lines of an aligned table."""
    lines = []
    for section in profile.sections:
        names = list(section.groups[0].values)
        lines.append("")
        lines.append(
            f"{section.title:<22}{'sentences':>11}" + "".join(f"{name:>9}" for name in names) + f"   {section.meaning}"
        )
        for group in section.groups:
            values = "".join(f"{group.values[name]:9.2f}" for name in names)
            lines.append(f"  {group.name:<20}{group.sentences:>11,}{values}")
    return [*lines[1:], *(["", f"{profile.memory}."] if profile.memory is not None else [])]
