"""How languages write ordinals and decades in digits: 3rd, 3., 3e; 1990s, 1990er.

From the ordinals in digits of Unicode's rules (CLDR 48.2, RBNF), for languages that add something to the digits. Knows
text alone.
"""

from __future__ import annotations

import re

from nmt_cli.languages.codes import find_code

# What is glued to the digits in a source, where that can be nothing else.
ORDINAL_ENDINGS = {
    "en": "st|nd|rd|th",
    "fr": "er|re|ers|res|ère|e|es|ème|èmes|nd|nde",
    "nl": "e|de|ste",
    "sv": ":a|:e",
    "es": r"\.?[ºª]|er|ra|ro|do|da|to|ta",
    "it": "[º°ª]",
    "pt": r"\.?[ºª]",
    "gl": r"\.?[ºª]",
}
DECADE_ENDINGS = {"en": "['’]?s", "de": "er"}
# What follows the digits in a target; for English, it depends on the number.
ORDINAL_MARKS = dict.fromkeys("cs da de et fi fo hr hu is lb lv nb nn no pl sk sl sr tr".split(), ".")
ORDINAL_MARKS |= {"fr": "e", "nl": "e", "sv": ":e", "es": ".º", "gl": ".º", "it": "º", "pt": "º"}
DECADE_MARKS = {"en": "s", "de": "er"}
ENGLISH_MARKS = {1: "st", 2: "nd", 3: "rd"}


def find_ending(text: str, end: int, number: str, languages: tuple[str, str]) -> tuple[int, str]:
    """Returns the end of the letters that make a number an ordinal or a decade, and what the target writes for them.

    The `number` ends at `end`, as do the letters if there are none; `languages` are the codes of source and target.
    """
    source, target = map(find_code, languages)
    kinds = ((ORDINAL_ENDINGS, write_ordinal_mark(number, target)), (DECADE_ENDINGS, DECADE_MARKS.get(target, "")))
    for endings, mark in kinds:
        match = re.compile(rf"(?:{endings[source]})(?!\w)").match(text, end) if source in endings else None
        if match is not None:
            return match.end(), mark
    return end, ""


def correct_endings(text: str, source: str, language: str) -> str:
    """Returns a text with the right endings of English ordinals, which a network guesses: 21th; not what `source` has.

    >>> correct_endings("the 21th and the 3th", "", "eng")
    'the 21st and the 3rd'
    """
    if find_code(language) != "en":
        return text

    def correct_ordinal(ordinal: re.Match[str]) -> str:
        return ordinal[0] if ordinal[0] in source else ordinal[1] + write_ordinal_mark(ordinal[1], "en")

    return re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", correct_ordinal, text)


def write_ordinal_mark(number: str, language: str) -> str:
    """Returns what makes a number in digits an ordinal in a language, by its short code; empty if that is not known."""
    if language == "en":
        return "th" if number[-2:-1] == "1" else ENGLISH_MARKS.get(int(number[-1]), "th")
    return ORDINAL_MARKS.get(language, "")
