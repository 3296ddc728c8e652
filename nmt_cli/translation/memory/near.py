"""Finds the texts of a translation memory that are nearly the same: that share at least 80 % of their words, in order.

The share is that of difflib: the words in common, counted on both sides, of the words of both. Knows only text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import islice
from math import log
from typing import TYPE_CHECKING

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.text.words import split_words

if TYPE_CHECKING:
    from nmt_cli.text.profile import TextProfile

LEAST_SHARE = 0.8
LEAST_ALIKE = 1 / 3  # weight of the words of a text that an entry like it has too
LONGEST = 100  # words of a text: to compare longer ones takes the square of their length, if their words recur
MOST_COMPARED = 500  # texts; in a large memory, thousands may share a common word

# What makes a part of a text no word of a language: signs of addresses and codes, among them a dot within, and digits.
NO_LANGUAGE = re.compile(r"//|[\\@{}<>=|^`$#]|\w\.\w|\d")


class NearTexts:
    """Texts by their words, without regard to case and punctuation."""

    def __init__(self) -> None:
        self.texts_by_word: dict[str, list[str]] = defaultdict(list)
        self.count = 0

    def add(self, text: str) -> None:
        words = split_words(text)
        self.count += 1
        for word in set(words) if len(words) <= LONGEST else ():
            self.texts_by_word[word].append(text)

    def find(self, text: str) -> list[str]:
        """Returns the texts that are nearly the same, nearest first; none for a long text."""
        words = split_words(text)
        if len(words) > LONGEST:
            return []
        shares = {other: compare_words(words, split_words(other)) for other in self.list_candidates(words)}
        near = [other for other, share in shares.items() if share >= LEAST_SHARE]
        return sorted(near, key=lambda other: -shares[other])

    def find_alike(self, text: str, most: int, seen: TextProfile | None) -> list[str]:
        """Returns at most `most` others that have at least a third of the words of a text, the most alike first.

        Rarer words count for more: each has the weight log((texts + 1) / texts that have it), where the texts of the
        memory and those that the model has `seen` in training count together. Addresses, codes and numbers do not
        count: that two texts have "https" says nothing about what they say.
        """
        count = self.count + 1 + (seen.texts if seen else 0)
        left, of_words, weights = MOST_COMPARED, dict[str, float](), defaultdict[str, float](float)
        for word in sorted(list_language_words(text), key=self.count_texts):
            texts = self.texts_by_word.get(word, [])
            of_words[word] = log(count / min(count, max(1, len(texts) + (seen.count_word(word) if seen else 0))))
            for other in islice(reversed(texts), left):
                weights[other] += of_words[word]
            left = max(0, left - len(texts))
        least = LEAST_ALIKE * sum(of_words.values())
        alike = [
            other
            for other, weight in weights.items()
            if weight >= least and sum(of_words.get(word, 0.0) for word in list_language_words(other)) >= least
        ]
        return nlargest(most, alike, key=weights.__getitem__)

    def count_texts(self, word: str) -> int:
        """Returns how many texts have a word."""
        return len(self.texts_by_word.get(word, ()))

    def list_candidates(self, words: list[str]) -> list[str]:
        """Returns the texts that share a word with what must be left of a near text: two thirds of its words."""
        rarest = sorted(set(words), key=self.count_texts)
        some = rarest[: len(words) // 3 + 1]
        sharing = dict.fromkeys(other for word in some for other in reversed(self.texts_by_word.get(word, [])))
        return list(sharing)[:MOST_COMPARED]


def list_language_words(text: str) -> list[str]:
    """Returns the different words of a text, in order, without those of addresses, codes and numbers."""
    parts = PLACEHOLDER_PATTERN.sub(" ", text).split()
    return list(dict.fromkeys(split_words(" ".join(part for part in parts if not NO_LANGUAGE.search(part)))))


def compare_words(words: list[str], others: list[str]) -> float:
    """Returns the share of words in common, 0 to 1."""
    return SequenceMatcher(None, words, others, autojunk=False).ratio()
