"""What may be special about a sentence or its translation: one small function a trait, giving the name of a group.

A new trait is one function here and one line in `profile.SECTIONS`. Knows no scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from nmt_cli.text.normalise import normalise
from nmt_cli.text.words import word_pattern, words_of

NEGATIONS = {
    "en": r"\b(?:not|no|never|nobody|nothing|none|nowhere|neither|nor|cannot|without)\b|n['’]t\b",
    "de": r"\b(?:nicht|kein\w*|nie|niemals|niemand\w*|nichts|nirgends|nirgendwo|weder|ohne)\b",
    "fr": r"\b(?:ne|pas|jamais|rien|personne|aucune?|ni|sans|non)\b|\bn['’]",
    "es": r"\b(?:no|nunca|jamás|nadie|nada|ningun[oa]?|ningún|ni|tampoco|sin)\b",
    "it": r"\b(?:non|no|mai|nessun[oa]?|niente|nulla|né|senza)\b",
    "pt": r"\b(?:não|nunca|jamais|ninguém|nada|nenhuma?|nem|sem)\b",
    "nl": r"\b(?:niet|niets|geen|nooit|niemand|nergens|noch|zonder)\b",
    "ru": r"\b(?:не|нет|ни|никогда|никто|ничего|нигде|без)\b",
}
LANGUAGES = {"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it"} | {
    "por": "pt",
    "nld": "nl",
    "dut": "nl",
    "rus": "ru",
}
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
LENGTHS = (5, 10, 15, 25, 40)  # words up to which a group of source lengths goes
FREQUENCIES = (0, 2, 10, 50)  # occurrences in training up to which a group of rarest words goes
OVER, UNDER = 1.5, 0.67  # words of the hypothesis per word of the reference
SLACK = 2  # words by which lengths may differ without being called over or under


@dataclass(frozen=True)
class TrainingSources:
    """What the profile must know of the training data."""

    sources: frozenset[str]  # normalised
    wordings: frozenset[tuple[str, ...]]  # the words of the sources, in lower case and without punctuation
    words: Counter[str]  # of the sources, in lower case

    @classmethod
    def from_sources(cls, sources: Sequence[str]) -> TrainingSources:
        wordings = [tuple(words_of(source)) for source in sources]
        counts: Counter[str] = Counter()
        for words in wordings:
            counts.update(words)
        return cls(frozenset(map(normalise, sources)), frozenset(wordings), counts)


@dataclass(frozen=True)
class Example:
    """A sentence with its translation and first reference, and what is known beside."""

    hypothesis: str
    reference: str
    source: str | None = None
    training: TrainingSources | None = None
    language: str = ""  # of the target


def group_by_length(example: Example) -> str | None:
    if example.source is None:
        return None
    number = len(words_of(example.source))
    return name_range(number, LENGTHS, "words")


def group_by_rarest_word(example: Example) -> str | None:
    """How often the rarest word of the source stands in the training sources."""
    if example.source is None or example.training is None:
        return None
    rarest = min((example.training.words[word] for word in words_of(example.source)), default=0)
    return "never seen" if rarest == 0 else name_range(rarest, FREQUENCIES, "times")


def name_range(number: int, bounds: Sequence[int], unit: str) -> str:
    """The group of `number` between the bounds, such as `6-10 words`."""
    low = 0
    for bound in bounds:
        if number <= bound:
            return f"{low}-{bound} {unit}" if low != bound else f"{bound} {unit}"
        low = bound + 1
    return f"{low}+ {unit}"


def name_ranges(bounds: Sequence[int], unit: str) -> list[str]:
    """All groups that `group` gives, in order."""
    return [name_range(bound, bounds, unit) for bound in bounds] + [name_range(bounds[-1] + 1, bounds, unit)]


def group_by_numbers(example: Example) -> str | None:
    """Whether the digits of the reference stand in the hypothesis too."""
    expected = Counter(NUMBER.findall(example.reference))
    return name_outcome(bool(expected), not expected - Counter(NUMBER.findall(example.hypothesis)))


def group_by_names(example: Example) -> str | None:
    """Capitalised words that the reference takes over from the source, such as names, and whether the hypothesis does.

    Capitals alone would not do: German writes every noun with one.
    """
    if example.source is None:
        return None
    expected = find_capitalised(example.source) & find_capitalised(example.reference)
    words = word_pattern(example.hypothesis).findall(example.hypothesis)
    return name_outcome(bool(expected), expected <= set(words))


def find_capitalised(text: str) -> set[str]:
    return {word for word in word_pattern(text).findall(text) if len(word) > 1 and word[0].isupper()}


def name_outcome(is_expected: bool, kept: bool) -> str:
    return "none" if not is_expected else "kept" if kept else "lost or changed"


def group_by_negation(example: Example) -> str | None:
    """Whether reference and hypothesis are both negated, by the target language's commonest words for it."""
    pattern = compile_negation(example.language)
    if pattern is None:
        return None
    expected, produced = bool(pattern.search(example.reference)), bool(pattern.search(example.hypothesis))
    if expected:
        return "kept" if produced else "lost"
    return "added" if produced else "none"


@cache
def compile_negation(language: str) -> re.Pattern[str] | None:
    code = re.split("[-_]", language.lower())[0]  # of en-GB the language
    code = LANGUAGES.get(code, code)
    return re.compile(NEGATIONS[code], re.IGNORECASE) if code in NEGATIONS else None


def group_by_repeats(example: Example) -> str:
    """Whether the hypothesis says something twice in a row that the reference does not."""
    runs, other = find_repeated(words_of(example.hypothesis)), find_repeated(words_of(example.reference))
    return "repeated words" if runs - other else "none"


def find_repeated(words: Sequence[str]) -> set[tuple[str, ...]]:
    """The runs of one to four words that are followed by themselves."""
    return {
        tuple(words[first : first + n])
        for n in range(1, 5)
        for first in range(len(words) - 2 * n + 1)
        if words[first : first + n] == words[first + n : first + 2 * n]
    }


def group_by_copies(example: Example) -> str | None:
    """Whether source words of four letters or more that the reference translates stand untranslated."""
    if example.source is None:
        return None
    foreign = {word for word in words_of(example.source) if len(word) > 3} - set(words_of(example.reference))
    copied = [word for word in words_of(example.hypothesis) if word in foreign]
    if not copied:
        return "none"
    return "whole sentence" if len(copied) * 2 >= len(words_of(example.hypothesis)) else "some words"


def group_by_length_ratio(example: Example) -> str:
    """The length of the hypothesis against the reference's."""
    length, other = len(words_of(example.hypothesis)), len(words_of(example.reference))
    if abs(length - other) >= SLACK and length > OVER * other:
        return "too long"
    return "too short" if abs(length - other) >= SLACK and length < UNDER * other else "as long"


def group_by_seen(example: Example) -> str | None:
    """Whether the source was trained on, as it is or but for case and punctuation."""
    if example.source is None or example.training is None:
        return None
    if normalise(example.source) in example.training.sources:
        return "seen in training"
    return "seen but for case" if tuple(words_of(example.source)) in example.training.wordings else "unseen"
