"""Ordinals and decades in digits: 3rd, 3., 3e; 1990s, 1990er. Knows text and language rules."""

from __future__ import annotations

import re

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
