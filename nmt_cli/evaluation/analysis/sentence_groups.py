"""Groups sentences by properties of their sources and translations; each function returns the name of a group.

To add a grouping, write a function here and add a line to `profile.SECTIONS`. Must not know scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from nmt_cli.languages.rules import find_rules
from nmt_cli.text.normalise import normalise
from nmt_cli.text.words import choose_word_pattern, split_words

NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
LENGTHS = (5, 10, 15, 25, 40)  # upper bounds of the groups of source lengths, in words
NEARNESS = {"far: under 50 %": 0.5, "50 to 79 %": 0.8, "near: 80 % and more": 1.1}  # upper bounds of the groups
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
    nearness: float | None = None  # the share of words in common with the nearest training source


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
    """Returns the name of the group for something that the reference may have and the hypothesis may keep."""
    return "none" if not is_expected else "kept" if is_kept else "lost or changed"


def group_by_negation(example: Example) -> str | None:
    """Groups by whether reference and hypothesis are negated, by the commonest negations of the target language."""
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
    return "seen but for case" if tuple(split_words(example.source)) in example.training.wordings else "unseen"


def group_by_nearness(example: Example) -> str | None:
    """Groups by the share of words that the source has in common with the nearest training source."""
    if example.nearness is None:
        return None
    return next(name for name, bound in NEARNESS.items() if example.nearness < bound)
