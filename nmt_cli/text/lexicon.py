"""Which words usually translate a word, as the stems that the targets of its training pairs share.

All 9 targets of pairs with "batteries" have a word with "batter" in it: "Batterien", "Batteriebetrieb". So "Katzen"
hardly translates it. Of 189 with "opinion", one in six has no "meinu", so its absence shows less. Only words that are
rare and translated alike are in a lexicon; the profile of the training text keeps it. Knows only text.
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
    """Returns the words of a source that a lexicon may have, each once, without a genitive's ending."""
    words = (word.replace("’", "'").removesuffix("'s") for word in list_words(text))
    return [word for word in dict.fromkeys(words) if len(word) >= FEWEST_LETTERS and word.isalpha()]


def fold(text: str) -> str:
    """Returns the words of a text without marks of their letters, each after a blank: "Über uns." is " uber uns"."""
    words = "".join(f" {word}" for word in LETTERS_IN_A_ROW.findall(text.lower()))
    if words.isascii():
        return words
    return "".join(sign for sign in unicodedata.normalize("NFD", words) if not unicodedata.combining(sign))


def find_stem(word: str) -> str:
    """Returns the beginning of a word that its forms and compounds share; of a short one, with the blank before it."""
    stem = word[: max(STEM_LETTERS, math.ceil(STEM_SHARE * len(word)))]
    return stem if len(stem) >= STEM_LETTERS else f" {stem}"


class Lexicon:
    """The usual translations of words, read when first asked for."""

    def __init__(self, lines: str) -> None:
        self.lines = lines

    @cached_property
    def entries(self) -> dict[str, str]:
        """The rest of the line of each word, which is divided only for words that are looked up."""
        return dict(line.split("\t", 1) for line in self.lines.split("\n") if line)

    def rate(self, words: Iterable[str], target: str) -> dict[str, float]:
        """Returns how likely a right target lacks the usual translations of words, as this one does; 0 if it has one.

        Words of which nothing is known are left out.
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
    """Returns the lines of both; of the words that the later text `has_read`, only its lines, if it has any."""
    lines = {word: line for line in earlier.split("\n") if not has_read(word := line.partition("\t")[0])}
    lines |= {line.partition("\t")[0]: line for line in later.split("\n")}
    return "\n".join(line for _, line in sorted(lines.items()) if line)
