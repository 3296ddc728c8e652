"""Puts the case of a source back into its translation: as a whole for a line in capitals, by alignment for words.

Spans that must not change keep their case. Knows no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from nmt_cli.languages.rules import find_rules
from nmt_cli.rewriting.protocol import Written
from nmt_cli.text.words import Link

CAPITAL_I = frozenset("Iİ")

CaseKind = Literal["upper", "title", "words"]


class CasePlan(NamedTuple):
    """The case to put back into a translation."""

    kind: CaseKind  # all in capitals, a capital for each word that had one, or single words in capitals
    words: frozenset[int] = frozenset()  # the words of the source, between blanks, that had it


def recase_text(text: str, plan: CasePlan, written: Written, language: str) -> str:
    """Returns a translation in the case of its source; `language` is the translation's."""
    if plan.kind == "upper":
        return "".join(part if is_span else upper_text(part, language) for part, is_span in split_spans(text, written))
    words = [match.span() for match in re.finditer(r"\S+", text)]
    choose = choose_title_words if plan.kind == "title" else choose_shouted_words
    is_span_at = [is_span for part, is_span in split_spans(text, written) for _ in part]
    letters = list(text)
    for index in choose([text[start:end] for start, end in words], plan, written.find_links()):
        free = [position for position in range(*words[index]) if not is_span_at[position] and text[position].isalpha()]
        for position in free[:1] if plan.kind == "title" else free:
            change = capitalise_text if plan.kind == "title" else upper_text
            letters[position] = change(letters[position], language)
    return "".join(letters)


def split_spans(text: str, written: Written) -> Iterator[tuple[str, bool]]:
    """Yields the parts of a text, each with whether it must not change."""
    pattern = written.span_pattern
    for number, part in enumerate(re.split(f"({pattern})", text) if pattern else [text]):
        yield part, number % 2 == 1


def choose_title_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns the words to capitalise: those linked to capitalised source words, or all if nothing is linked."""
    linked: dict[int, set[int]] = {}
    for source, target in links:
        linked.setdefault(target, set()).add(source)
    return [index for index in range(len(words)) if not links or linked.get(index, set()) & plan.words]


def choose_shouted_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns, for each source word in capitals, its longest linked word in the translation."""
    indices = []
    for source in plan.words:
        targets = [target for other, target in links if other == source and target < len(words)]
        indices += sorted(targets, key=lambda target: (len(words[target]), target))[-1:]
    return indices


def lower_text(text: str, language: str) -> str:
    """Returns a text in lower case, with its language's forms of the letter i."""
    is_dotless = not CAPITAL_I.isdisjoint(text) and find_rules(language).has_dotless_i
    return (text.replace("I", "ı").replace("İ", "i") if is_dotless else text).lower()


def upper_text(text: str, language: str) -> str:
    """Returns a text in capitals, with its language's forms of the letter i."""
    return (text.replace("i", "İ") if "i" in text and find_rules(language).has_dotless_i else text).upper()


def capitalise_text(text: str, language: str) -> str:
    """Capitalises the first letter of a text; the others are unchanged."""
    index = next((index for index, character in enumerate(text) if character.isalnum()), 0)
    first = text[index : index + 1]
    capital = "İ" if first == "i" and find_rules(language).has_dotless_i else first.title()
    return text[:index] + capital + text[index + 1 :]
