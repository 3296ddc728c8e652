"""How languages write ordinals and decades in digits: 3rd, 3., 3e; 1990s, 1990er. Knows text and rules of languages."""

from __future__ import annotations

import re

from nmt_cli.languages.rules import LanguageRules, find_rules


def find_ending(text: str, end: int, number: str, languages: tuple[str, str]) -> tuple[int, str]:
    """Returns the end of the letters that make a number an ordinal or a decade, and what the target writes for them.

    The `number` ends at `end`, as do the letters if there are none; `languages` are the codes of source and target.
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


def correct_endings(text: str, source: str, language: str) -> str:
    """Returns a text with the right endings of ordinals whose ending depends on the number: 21st, where a network
    guesses 21th. What `source` has stays.

    >>> correct_endings("the 21th and the 3th", "", "eng")
    'the 21st and the 3rd'
    """
    rules = find_rules(language)
    if not rules.ordinal_marks:
        return text

    def correct_ordinal(ordinal: re.Match[str]) -> str:
        return ordinal[0] if ordinal[0] in source else ordinal[1] + write_ordinal_mark(ordinal[1], rules)

    return re.sub(rf"\b(\d+)(?:{rules.ordinal_endings})\b", correct_ordinal, text)


def write_ordinal_mark(number: str, rules: LanguageRules) -> str:
    """Returns what makes a number in digits an ordinal in a language; empty if that is not known."""
    is_teen = number[-2:-1] == "1"
    return rules.ordinal_mark if is_teen else rules.ordinal_marks.get(number[-1], rules.ordinal_mark)
