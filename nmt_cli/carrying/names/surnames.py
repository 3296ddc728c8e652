"""Given names with a surname that is a word, or nearly unknown: `Peter Brown`, but not `Tom Jackson`.

A network translates such a surname, or misspells it. Knows the profiles of both sides, no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.names.copied import is_copied
from nmt_cli.carrying.names.people import LOOK_BACK, SURNAME
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.codes import read_given_names
from nmt_cli.text.characters import CLOSING_BRACKETS, FINAL_MARKS, OPENING, PAUSES
from nmt_cli.text.profile import TextProfile

BEHIND = re.escape(FINAL_MARKS + PAUSES + CLOSING_BRACKETS)
PERSON = (
    rf"(?<![^\W_])(?P<given>[A-ZÀ-Þ][^\W\d_]+)(?=\s(?P<surname>{SURNAME})"
    rf"(?:['’]s)?(?:\W*$|[{BEHIND}]|\s[^\W\dA-ZÀ-Þ]))"  # no capital follows: How Peter Makes Money
)
CLAUSE_BEGINNING = (
    rf"(?:^|[{re.escape(FINAL_MARKS + PAUSES)}]\s|[{re.escape(OPENING)}])\s*$"  # of a clause, up to the name
)
TOO_FREQUENT = 100  # occurrences of a word with a capital that is a noun rather than a surname


def find_persons(text: str, source: TextProfile, target: TextProfile) -> Iterator[Span]:
    """Yields the persons of a text, and in German also `Peter Brot` of `dass Peter Brot mag`."""
    has_words, length, comma = any(map(str.islower, text.split())), len(text.strip()), text.find(",")
    for match in re.finditer(PERSON, text):
        start, end = match.start(), match.end("surname")
        is_alone = length == end - start or -1 < comma < start
        is_person = match["given"] in read_given_names() and (has_words or is_alone)
        if is_person and may_be_surname(match["surname"], source, target):
            yield Span(start, end, text[start:end], SpanKind.RARE_NAME)


def is_sure_person(text: str, start: int, naming: str) -> bool:
    """Whether a person begins at `start`, where every noun has a capital: a clause begins there, `Peter Koch kommt`,
    or a word that a name follows, of the pattern `naming`, stands before it.
    """
    cues = [CLAUSE_BEGINNING, *[rf"\b(?:{naming})\s$"] * bool(naming)]
    return re.compile("|".join(cues)).search(text, max(0, start - LOOK_BACK), start) is not None


def may_be_surname(word: str, source: TextProfile, target: TextProfile) -> bool:
    """Whether a word behind a given name may be a surname that a network would translate or misspell."""
    is_noun = source.find_word(word).total > TOO_FREQUENT and source.find_usual_case(word) == word  # Monday
    return not is_noun and not is_copied(word, source, target)
