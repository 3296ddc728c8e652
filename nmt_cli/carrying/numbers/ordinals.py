"""Ordinals and decades in digits: 3rd, 3., 3e; 1990s, 1990er. Knows text and language rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.languages.rules import LanguageRules, find_rules


def find_ending(text: str, end: int, number: str, languages: tuple[str, str]) -> tuple[int, str]:
    """Finds the letters that make a number an ordinal or a decade; returns their end and the target's equivalent.

    The `number` ends at `end`, which is returned if no such letters follow; `languages` are the codes of source and
    target.
    """
    source, target = map(find_rules, languages)
    kinds = (
        (source.ordinal_endings, write_ordinal_mark(number, target)),
        (source.decade_endings, target.decade_mark),
    )
    for endings, mark in kinds:
        match = re.compile(rf"(?:{endings})(?!\w)").match(text, end) if endings else None
        if match is not None:
            return match.end(), mark
    return end, ""


def write_ordinal_mark(number: str, rules: LanguageRules) -> str:
    """Returns the mark that makes a number in digits an ordinal; empty if unknown."""
    is_teen = number[-2:-1] == "1"
    return rules.ordinal_mark if is_teen else rules.ordinal_marks.get(number[-1], rules.ordinal_mark)


def find_lost_decades(source: str, target: str, languages: tuple[str, str]) -> Iterator[str]:
    """Yields the numbers of the decades of a text that its translation has as plain numbers: 1990 for the 1990s."""
    endings = [find_rules(language).decade_endings for language in languages]
    if not all(endings):
        return
    for match in re.finditer(rf"(?<!\d)(\d*(\d0))(?:{endings[0]})(?!\w)", source):
        forms = rf"(?<!\d)(?:{match[1]}|{match[2]})"
        if re.search(forms, target) and not re.search(rf"{forms}(?:{endings[1]})(?!\w)", target):
            yield match[1]
