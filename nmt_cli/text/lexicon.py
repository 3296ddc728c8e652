"""Knows how words are usually translated: by the stems that the targets of their training pairs share.

All 9 targets of pairs with "batteries" have a word with "batter" in it: "Batterien", "Batteriebetrieb". So "Katzen" is
hardly a translation of it. Of 189 targets of pairs with "opinion", one in six lacks "meinu", so its absence shows less.
A lexicon holds only words that are rare and translated consistently; it is part of the profile of the training text.
Does not depend on files or networks.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cached_property

from nmt_cli.text.words import list_words

FEWEST_LETTERS = 3  # of a content word
STEM_SHARE = 0.6  # of the letters of a target word
STEM_LETTERS = 4  # letters; a shorter word only begins another: "rot" is no part of "Brot"
LETTERS_IN_A_ROW = re.compile(r"[^\W\d_]+")


def list_rated(text: str) -> list[str]:
    """Returns the words of a source that a lexicon may contain, each once, without genitive endings."""
    words = (word.replace("’", "'").removesuffix("'s") for word in list_words(text))
    return [word for word in dict.fromkeys(words) if len(word) >= FEWEST_LETTERS and word.isalpha()]


def fold(text: str) -> str:
    """Returns the words of a text in lower case without diacritics, each after a space: "Über uns." is " uber uns"."""
    words = "".join(f" {word}" for word in LETTERS_IN_A_ROW.findall(text.lower()))
    if words.isascii():
        return words
    return "".join(sign for sign in unicodedata.normalize("NFD", words) if not unicodedata.combining(sign))


def find_stem(word: str) -> str:
    """Returns the beginning that a word shares with its forms and compounds; if it is short, with a space before it."""
    stem = word[: max(STEM_LETTERS, math.ceil(STEM_SHARE * len(word)))]
    return stem if len(stem) >= STEM_LETTERS else f" {stem}"


class Lexicon:
    """The usual translations of words, read when first asked for."""

    def __init__(self, lines: str) -> None:
        self.lines = lines

    @cached_property
    def entries(self) -> dict[str, str]:
        """The rest of each word's line, which is split only when the word is looked up."""
        return dict(line.split("\t", 1) for line in self.lines.split("\n") if line)

    def rate(self, words: Iterable[str], target: str) -> dict[str, float]:
        """Returns, for each word, how often correct targets lack its usual translations; 0 if this target has one.

        Words that the lexicon lacks are left out.
        """
        folded = fold(target)
        known = ((word, self.entries[word].split("\t")) for word in words if word in self.entries)
        return {
            word: 0.0
            if any(stem in folded for stem in stems)
            else max(1, int(missed)) / 100  # less than 1 % is written 0
            for word, (missed, *stems) in known
        }


def merge_lexicons(earlier: str, later: str, has_read: Callable[[str], bool]) -> str:
    """Returns the lines of both lexicons; for words that the later text `has_read`, only those of the later one."""
    lines = {word: line for line in earlier.split("\n") if not has_read(word := line.partition("\t")[0])}
    lines |= {line.partition("\t")[0]: line for line in later.split("\n")}
    return "\n".join(line for _, line in sorted(lines.items()) if line)
