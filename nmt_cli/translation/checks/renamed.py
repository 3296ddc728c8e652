"""Finds words in capitals that a translation replaces by others, such as the functions of spreadsheets. Knows text."""

from __future__ import annotations

import re
from collections import Counter

CODE_WORD = r"[\w/]+"
CODE_PARTS = r"\d+|(?<=\b\w)/(?=\w\b)"  # what belongs to such a name; a slash only between two letters: N/A
FEWEST_CAPITALS = 2


def drop_renamed(source: str, target: str) -> tuple[str, str]:
    """Returns both texts without the digits and slashes of words in capitals for which the other has another word.

    A word that the other text has without its digits is not renamed, but damaged; it stays.

    >>> drop_renamed("=OCT2BIN(3) or #N/A", "=OKTINBIN(3) oder #NV")
    ('=OCTBIN(3) or #NA', '=OKTINBIN(3) oder #NV')
    """
    before, after = (Counter(filter(is_in_capitals, re.findall(CODE_WORD, text))) for text in (source, target))
    lost, added = before - after, after - before
    names = [{re.sub(CODE_PARTS, "", word) for word in words} for words in (lost, added)]
    if lost.total() != added.total() or not names[0].isdisjoint(names[1]):
        return source, target
    for word in sorted({*lost, *added}, key=len, reverse=True):
        bare = re.sub(CODE_PARTS, "", word)
        source, target = source.replace(word, bare), target.replace(word, bare)
    return source, target


def is_in_capitals(word: str) -> bool:
    """Whether all letters of a word are capitals, and there are several."""
    return word.isupper() and sum(map(str.isalpha, word)) >= FEWEST_CAPITALS
