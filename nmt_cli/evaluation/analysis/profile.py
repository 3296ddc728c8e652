"""Shows where a system fails: scores by groups of sentences, and the worst sentences. Must not know models or files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nmt_cli.evaluation.config import DEFAULT, ScoreOptions
from nmt_cli.evaluation.metrics.registry import METRICS
from nmt_cli.evaluation.metrics.score import Material, Score
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.normalise import normalise
from nmt_cli.text.words import choose_word_pattern, split_words

# Groups sentences by properties of their sources and translations; each function returns the name of a group.
#
# To add a grouping, write a function here and add a line to `profile.SECTIONS`. Must not know scores.


NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
LENGTHS = (5, 10, 15, 25, 40)  # upper bounds of the groups of source lengths, in words
FREQUENCIES = (0, 2, 10, 50)  # upper bounds of the groups of rarest words, in training occurrences
OVER, UNDER = 1.5, 0.67  # words of the hypothesis per word of the reference
SLACK = 2  # words; a hypothesis is too long or too short only if the lengths differ by as many


@dataclass(frozen=True)
class TrainingSources:
    """The facts about the training sources that the profile needs."""

    sources: frozenset[str]  # normalised
    wordings: frozenset[tuple[str, ...]]  # the words of each source, in lower case and without punctuation
    words: Counter[str]  # the frequencies of their words, in lower case

    @classmethod
    def from_sources(cls, sources: Sequence[str]) -> TrainingSources:
        wordings = [tuple(split_words(source)) for source in sources]
        counts: Counter[str] = Counter()
        for words in wordings:
            counts.update(words)
        return cls(frozenset(map(normalise, sources)), frozenset(wordings), counts)


@dataclass(frozen=True)
class Example:
    """A hypothesis with its first reference and, if known, its source and the training sources."""

    hypothesis: str
    reference: str
    source: str | None = None
    training: TrainingSources | None = None
    language: str = ""  # of the target


def group_by_length(example: Example) -> str | None:
    """Groups by the number of words of the source."""
    if example.source is None:
        return None
    return name_range(len(split_words(example.source)), LENGTHS, "words")


def group_by_rarest_word(example: Example) -> str | None:
    """Groups by the frequency of the source's rarest word in the training sources."""
    if example.source is None or example.training is None:
        return None
    rarest = min((example.training.words[word] for word in split_words(example.source)), default=0)
    return "never seen" if rarest == 0 else name_range(rarest, FREQUENCIES, "times")


def name_range(number: int, bounds: Sequence[int], unit: str) -> str:
    """Returns the name of the range that contains `number`, such as `6-10 words`; `bounds` end the ranges."""
    low = 0
    for bound in bounds:
        if number <= bound:
            return f"{low}-{bound} {unit}" if low != bound else f"{bound} {unit}"
        low = bound + 1
    return f"{low}+ {unit}"


def name_ranges(bounds: Sequence[int], unit: str) -> list[str]:
    """Returns all names that `name_range` can return, in order."""
    return [name_range(bound, bounds, unit) for bound in bounds] + [name_range(bounds[-1] + 1, bounds, unit)]


def group_by_numbers(example: Example) -> str | None:
    """Groups by whether the numbers of the reference are in the hypothesis too."""
    expected = Counter(NUMBER.findall(example.reference))
    return name_outcome(bool(expected), not expected - Counter(NUMBER.findall(example.hypothesis)))


def group_by_names(example: Example) -> str | None:
    """Groups by whether capitalised words that source and reference share, such as names, are in the hypothesis too.

    The reference's capitalised words would not suffice: in German, every noun has a capital.
    """
    if example.source is None:
        return None
    expected = find_capitalised(example.source) & find_capitalised(example.reference)
    words = choose_word_pattern(example.hypothesis).findall(example.hypothesis)
    return name_outcome(bool(expected), expected <= set(words))


def find_capitalised(text: str) -> set[str]:
    """Returns the words of two letters or more that begin with a capital."""
    return {word for word in choose_word_pattern(text).findall(text) if len(word) > 1 and word[0].isupper()}


def name_outcome(is_expected: bool, is_kept: bool) -> str:
    """Returns the group's name by whether the reference has something, and whether the hypothesis keeps it."""
    return "none" if not is_expected else "kept" if is_kept else "lost or changed"


def group_by_negation(example: Example) -> str | None:
    """Groups by whether reference and hypothesis are negated, judging by the target language's commonest negations."""
    pattern = compile_negation(example.language)
    if pattern is None:
        return None
    expected, produced = bool(pattern.search(example.reference)), bool(pattern.search(example.hypothesis))
    if expected:
        return "kept" if produced else "lost"
    return "added" if produced else "none"


@cache
def compile_negation(language: str) -> re.Pattern[str] | None:
    negations = find_rules(language).negations
    return re.compile(negations, re.IGNORECASE) if negations else None


def group_by_repeats(example: Example) -> str:
    """Groups by whether the hypothesis repeats words in a row that the reference does not repeat."""
    runs, other = find_repeated(split_words(example.hypothesis)), find_repeated(split_words(example.reference))
    return "repeated words" if runs - other else "none"


def find_repeated(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Returns the runs of one to four words that are followed by the same words."""
    return {
        tuple(words[first : first + n])
        for n in range(1, 5)
        for first in range(len(words) - 2 * n + 1)
        if words[first : first + n] == words[first + n : first + 2 * n]
    }


def group_by_copies(example: Example) -> str | None:
    """Groups by how many source words of four letters or more are in the hypothesis, but not in the reference."""
    if example.source is None:
        return None
    foreign = {word for word in split_words(example.source) if len(word) > 3} - set(split_words(example.reference))
    copied = [word for word in split_words(example.hypothesis) if word in foreign]
    if not copied:
        return "none"
    return "whole sentence" if len(copied) * 2 >= len(split_words(example.hypothesis)) else "some words"


def group_by_length_ratio(example: Example) -> str:
    """Groups by the length of the hypothesis compared with the reference."""
    length, other = len(split_words(example.hypothesis)), len(split_words(example.reference))
    if abs(length - other) >= SLACK and length > OVER * other:
        return "too long"
    return "too short" if abs(length - other) >= SLACK and length < UNDER * other else "as long"


def group_by_seen(example: Example) -> str | None:
    """Groups by whether the source is a training source, verbatim or except for case and punctuation."""
    if example.source is None or example.training is None:
        return None
    if normalise(example.source) in example.training.sources:
        return "seen in training"
    return "seen with other case" if tuple(split_words(example.source)) in example.training.wordings else "unseen"


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


Grouping = Callable[[Example], str | None]
SECTIONS: tuple[tuple[str, str, Grouping, tuple[str, ...]], ...] = (
    ("source length", "words of the source", group_by_length, tuple(name_ranges(LENGTHS, "words"))),
    (
        "rarest source word",
        "its occurrences in the training sources",
        group_by_rarest_word,
        ("never seen", *name_ranges(FREQUENCIES, "times")[1:]),
    ),
    (
        "seen in training",
        "whether the source occurs in the training data, exactly or ignoring case and punctuation",
        group_by_seen,
        ("unseen", "seen with other case", "seen in training"),
    ),
    ("numbers", "digits of the reference", group_by_numbers, ("none", "kept", "lost or changed")),
    ("negation", "words like not, no, never", group_by_negation, ("none", "kept", "lost", "added")),
    ("names", "capitalised words in source and reference", group_by_names, ("none", "kept", "lost or changed")),
    ("repeats", "words twice in a row, but not in the reference", group_by_repeats, ("none", "repeated words")),
    ("untranslated", "source words in the translation", group_by_copies, ("none", "some words", "whole sentence")),
    (
        "length",
        "words of the hypothesis compared with the reference",
        group_by_length_ratio,
        ("as long", "too short", "too long"),
    ),
)


def build_profile(
    material: Material, training: TrainingSources | None = None, language: str = "", config: ScoreOptions = DEFAULT
) -> Profile:
    """Returns the scores of groups of sentences and the twenty worst by chrF; `language` is the target's ISO 639 code.

    A section that cannot be computed (no sources, no training data, a language without known negations) is left out.
    """
    scores = {name: METRICS[name](material.hypotheses, material.references, config) for name in PROFILED}
    sources: Sequence[str | None] = material.sources or [None] * len(material.hypotheses)
    examples = [
        Example(hypothesis, references[0], source, training, language)
        for hypothesis, references, source in zip(material.hypotheses, material.references, sources, strict=True)
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


def compare_memory(trained: Material, unseen: Material, config: ScoreOptions = DEFAULT) -> Section:
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
        lines += ["", f"{section.title}: {section.meaning}"]
        lines.append(f"{'':<22}{'sentences':>11}" + "".join(f"{name:>9}" for name in names))
        for group in section.groups:
            values = "".join(f"{group.values[name]:9.2f}" for name in names)
            lines.append(f"  {group.name:<20}{group.sentences:>11,}{values}")
    return lines[1:]
