"""Where a system fails: scores by groups of sentences, and the worst sentences. Must not know models or files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nmt_cli.evaluation.analysis import sentence_groups as traits
from nmt_cli.evaluation.analysis.sentence_groups import Example, TrainingSources
from nmt_cli.evaluation.config import DEFAULT, ScoreConfig
from nmt_cli.evaluation.metrics.material import Material
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import Score

PROFILED = ("bleu", "chrf")  # the scores of each group
RANKED = "chrf"  # the score by which sentences are worst; sentence BLEU is 0 too often
WORST_COUNT = 20


@dataclass(frozen=True)
class Group:
    """Some of the sentences and their scores, 0-100, by the metric's name as printed."""

    name: str
    sentences: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class Section:
    """The sentences, parted by one trait."""

    title: str
    meaning: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence that was translated badly."""

    number: int  # from 1
    source: str | None
    references: tuple[str, ...]
    hypothesis: str
    value: float  # chrF, 0-100


@dataclass(frozen=True)
class Profile:
    sections: tuple[Section, ...]
    worst: tuple[Sentence, ...]


Grouping = Callable[[Example], str | None]
SECTIONS: tuple[tuple[str, str, Grouping, tuple[str, ...]], ...] = (
    (
        "source length",
        "words of the source",
        traits.group_by_length,
        tuple(traits.name_ranges(traits.LENGTHS, "words")),
    ),
    (
        "rarest source word",
        "how often it stands in the training sources",
        traits.group_by_rarest_word,
        ("never seen", *traits.name_ranges(traits.FREQUENCIES, "times")[1:]),
    ),
    (
        "seen in training",
        "sources that the model was trained on, as they are or but for case and punctuation",
        traits.group_by_seen,
        ("unseen", "seen but for case", "seen in training"),
    ),
    ("numbers", "digits of the reference", traits.group_by_numbers, ("none", "kept", "lost or changed")),
    ("negation", "words like not, no, never", traits.group_by_negation, ("none", "kept", "lost", "added")),
    ("names", "capitalised words in source and reference", traits.group_by_names, ("none", "kept", "lost or changed")),
    ("repeats", "said twice in a row, and not in the reference", traits.group_by_repeats, ("none", "repeated words")),
    (
        "untranslated",
        "source words in the translation",
        traits.group_by_copies,
        ("none", "some words", "whole sentence"),
    ),
    (
        "length",
        "words of hypothesis against reference",
        traits.group_by_length_ratio,
        ("as long", "too short", "too long"),
    ),
)


def build_profile(
    material: Material, training: TrainingSources | None = None, language: str = "", config: ScoreConfig = DEFAULT
) -> Profile:
    """Scores by groups of the sentences, and the twenty worst by chrF; `language` is the target's, an ISO 639 code.

    A section that cannot be told (no sources, no training data, a language whose negation is not known) is left out.
    """
    scores = {name: METRICS[name](material.hypotheses, material.references, config) for name in PROFILED}
    sources: Sequence[str | None] = material.sources or [None] * len(material.hypotheses)
    examples = [
        Example(hypothesis, references[0], source, training, language)
        for hypothesis, references, source in zip(material.hypotheses, material.references, sources, strict=True)
    ]
    sections = (build_section(*trait, examples, scores) for trait in SECTIONS)
    return Profile(tuple(built for built in sections if built is not None), find_worst(material, scores[RANKED]))


def build_section(
    title: str,
    meaning: str,
    grouping: Grouping,
    order: Sequence[str],
    examples: Sequence[Example],
    scores: Mapping[str, Score],
) -> Section | None:
    """The groups of one trait in their order, those without a sentence left out; None if the trait cannot be told."""
    rows: dict[str, list[int]] = {name: [] for name in order}
    for row, example in enumerate(examples):
        label = grouping(example)
        if label is None:
            return None
        rows[label].append(row)
    groups = tuple(
        Group(name, len(members), average_scores(members, scores)) for name, members in rows.items() if members
    )
    return Section(title, meaning, groups)


def average_scores(rows: Sequence[int], scores: Mapping[str, Score]) -> dict[str, float]:
    return {
        score.name: score.statistics.score_sentences(rows) for score in scores.values() if score.statistics is not None
    }


def compare_memory(trained: Material, unseen: Material, config: ScoreConfig = DEFAULT) -> Section:
    """Scores on a sample of the training sentences against those on sentences that were never seen."""
    groups = []
    for name, material in (("training sentences", trained), ("these sentences", unseen)):
        scores = [METRICS[metric](material.hypotheses, material.references, config) for metric in PROFILED]
        groups.append(Group(name, len(material.hypotheses), {score.name: score.value for score in scores}))
    meaning = "a model that scores far better on what it was trained on has learnt by heart"
    return Section("memorisation", meaning, tuple(groups))


def find_worst(material: Material, score: Score) -> tuple[Sentence, ...]:
    """The sentences of the lowest values; of equal ones the longest references first."""
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
    """The sections as an aligned table."""
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
    return lines[1:]
