"""Countries and cities that training hardly had: `Denmark` becomes `Dänemark`.

A network misspells a rare place, or writes another one (`Austria`: *Australien*). CLDR names some 650 places in 136
languages. Knows the profile of the source, no networks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from nmt_cli.carrying.names.people import LOOK_BACK
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.languages.codes import read_given_names
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import INVISIBLE
from nmt_cli.text.profile import TextProfile

PLACE_WORD = rf"[^\W\d_]+(?:(?:[{INVISIBLE}.-]|['’](?![sS]\b))[^\W\d_]+)*"
RARE_PLACE_COUNT = 50  # occurrences below which no network writes a place reliably
MOST_PLACE_WORDS = 5


def find_places(text: str, languages: tuple[str, str], source: TextProfile) -> Iterator[Span]:
    """Yields the rare places of a text as the target's language names them, the longest at each word."""
    words = list(re.finditer(PLACE_WORD, text))
    plain = [read_plainly(word[0]) for word in words]
    rare = [may_be_place(word, languages, source) for word in plain]
    past, is_title = 0, text.istitle()
    for index, first in enumerate(words if any(rare) else ()):
        for behind in range(min(index + MOST_PLACE_WORDS, len(words)), index, -1):
            start, end = first.start(), words[behind - 1].end()
            written = name_places(*languages).get(read_plainly(text[start:end]))
            if written is None or start < past or not any(rare[index:behind]) or is_surname(text, start):
                continue
            is_sure = behind - index > 1 or not (is_title or start == 0)
            if is_sure or source.find_usual_case(plain[index]) != plain[index].lower():  # Turkey is good meat
                yield Span(start, end, written, SpanKind.PLACE)
                past = end


def read_plainly(name: str) -> str:
    """Returns a name without invisible marks, and with usual blanks."""
    return " ".join(re.sub(f"[{INVISIBLE}]", "", name).split())


def may_be_place(word: str, languages: tuple[str, str], source: TextProfile) -> bool:
    """Whether a word with a capital is a rare one, and of a place's name."""
    if word.islower() or source.find_word(word).total >= RARE_PLACE_COUNT:
        return False
    return word in list_place_words(*languages)


def is_surname(text: str, start: int) -> bool:
    """Whether a given name stands before a word: Michael Jordan."""
    before = re.compile(rf"({PLACE_WORD})\s$").search(text, max(0, start - LOOK_BACK), start)
    return before is not None and before[1] in read_given_names()


@cache
def list_place_words(source: str, target: str) -> frozenset[str]:
    """Returns the words of the places."""
    return frozenset(word for name in name_places(source, target) for word in re.findall(PLACE_WORD, name))


@cache
def name_places(source: str, target: str) -> dict[str, str]:
    """Returns the names of places in the target's language by those in the source's, also in capitals.

    Without those that are given names (`Maurice`).
    """
    from nmt_cli.languages.cldr import load_places  # an archive, which few lines need

    links = [find_rules(language).list_links.split("|")[0] for language in (source, target)]
    sides = [
        [name.replace(" & ", f" {link} " if link.isalpha() else " & ") for name in load_places(language)]
        for language, link in zip((source, target), links, strict=True)
    ]
    pairs = sorted(zip(*sides, strict=True), key=lambda pair: pair[0] != pair[1])  # what differs has the last word
    names = {read_plainly(old): new for old, new in pairs if source != target and old not in read_given_names()}
    return {old.upper(): new.upper() for old, new in names.items()} | names
