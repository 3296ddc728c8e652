"""Where the words of a text begin and end, in scripts with and without blanks."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from nmt_cli.text.normalise import is_unspaced, split_unspaced


def word_pattern(text: str) -> re.Pattern[str]:
    r"""Finds the words of `text`: letters, digits and their marks, with apostrophes and hyphens inside; or any other
    single character.

    Python's \w knows no combining marks, without which most scripts of India fall to pieces.
    """
    return pattern_of_words(r"\w") if max(text, default="") < FIRST_MARK else word_with_marks()


def words_of(text: str) -> list[str]:
    """Words in lower case without punctuation; a character each in scripts without blanks."""
    lower = text.lower()
    words = [word for word in word_pattern(lower).findall(lower) if word[0].isalnum()]
    if not any(map(is_unspaced, set(text))):
        return words
    return [piece for word in words for piece in split_unspaced(word)]


@cache
def pattern_of_words(inner: str) -> re.Pattern[str]:
    return re.compile(rf"⟦\d⟧|\w{inner}*(?:['’-]\w{inner}*)*|\S")


FIRST_MARK = "\u0300"  # of all combining marks


@cache
def word_with_marks() -> re.Pattern[str]:
    """To look for the marks takes as long as to translate a sentence, and most text has none."""
    planes = (range(ord(FIRST_MARK), 0x20000), range(0xE0000, 0xE1000))  # no other has any
    marks = (chr(code) for plane in planes for code in plane if unicodedata.category(chr(code))[0] == "M")
    return pattern_of_words(rf"[\w\u200c\u200d{''.join(marks)}]")
