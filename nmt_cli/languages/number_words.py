"""Reads numbers in words, using the words of CLDR's spelling rules: `fünfunddreißig`, `one hundred and five`.

    NumberWords.load("en").find_numbers("Thirty and forty people, in nineteen eighty-four")     30, 40, 1984

A language is supported if sample numbers in words are read correctly, which is so for some 50 languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

from nmt_cli.languages.cldr import NUMBERS_REMEMBERED, fold_words, spell_cardinal, spell_number
from nmt_cli.languages.rules import find_rules

FEWEST_WORDED = 13  # smaller ones are parts of idioms, and articles
HUNDRED = 100
EXAMPLES = (21, 34, 58, 79, 90, 93, 101, 117, 120, 242, 367, 385, 615, 770, 780, 1_000, 1_206, 14_000, 25_671)
NUMBER_WORD = r"[^\W\d_]+"
WITHIN_NUMBER = (" ", "-", "\u00a0", "\u2010", "\u2011")


class WordedNumber(NamedTuple):
    """A number in words in a text."""

    start: int
    text: str
    value: Decimal
    is_cardinal: bool  # and so is written in the same way everywhere


class NumberWords(NamedTuple):
    """The words that make up the numbers of a language, in lower case, without spaces and hyphens."""

    small: dict[str, int]  # all numbers below a hundred, in every form
    hundreds: dict[str, int]  # two hundred, and what a number behind it begins with: ciento
    scales: dict[str, int]  # million, thousand, hundred
    parts: frozenset[str]  # the single words of numbers
    links: frozenset[str]  # those of them that are no numbers: hundred and five
    cardinals: tuple[str, ...]  # what a number ends with that counts
    are_parts: dict[str, bool]  # words already asked about

    @classmethod
    @cache
    def load(cls, language: str) -> NumberWords:
        """Returns the number words of a language; none if its numbers cannot be read."""
        small = {spelling: number for number in range(HUNDRED) for spelling in spell_number(number, language)}
        small |= {fold_words(spell_cardinal(number, language)): number for number in range(HUNDRED) if small}
        hundreds, scales = dict[str, int](), dict[str, int]()
        for hundred in range(HUNDRED, 10 * HUNDRED, HUNDRED):
            hundreds |= dict.fromkeys(spell_number(hundred, language), hundred)
            for spelling, unit in product(spell_number(hundred + 1, language), spell_number(1, language)):
                hundreds |= {spelling.removesuffix(unit): hundred} if spelling.endswith(unit) else {}
        for scale, times in product((1_000_000, 1_000, 100), (1, 2)):
            units = spell_number(times, language)
            for spelling in spell_number(scale * times, language):
                words = {spelling.removeprefix(unit) for unit in units if spelling.startswith(unit)}
                words = words or {spelling} if times == 1 else words
                scales |= dict.fromkeys(words - {"", *small, *scales}, scale)
        spelled = (*range(HUNDRED), *hundreds.values(), *(hundred + 1 for hundred in hundreds.values()))
        counted = [spell_cardinal(number, language).lower() for number in spelled if small]
        parts = {word for text in counted for word in re.findall(NUMBER_WORD, text)}
        links = parts - {*small, *hundreds, *scales}
        links |= {word for word in [find_rules(language).list_links.partition("|")[0]] if word.isalpha()}
        cardinals = (*map(fold_words, counted), *scales)
        vocabulary = cls(small, hundreds, scales, frozenset(parts), frozenset(links), cardinals, {})
        return vocabulary if vocabulary.is_sound(language) else cls({}, {}, {}, frozenset(), frozenset(), (), {})

    def is_sound(self, language: str) -> bool:
        """Whether sample numbers in words are read correctly."""
        for number in EXAMPLES:
            values = [some.value for some in self.find_numbers(spell_cardinal(number, language))]
            if values not in ([], [number]):
                return False
        return True

    def read(self, words: str) -> int | None:
        """Returns the number that these words, joined without spaces, stand for; None if they are not a number."""
        number = self.small.get(words, self.hundreds.get(words))
        if number is not None:
            return number
        for word, scale in self.scales.items():
            head, is_there, rest = words.partition(word)
            times = (self.read(head) if head else 1) if is_there else None
            more = self.read_behind_link(rest) if times is not None else None
            if times is not None and more is not None and more < scale:
                return times * scale + more
        for word, hundred in self.hundreds.items():
            more = self.read_behind_link(words.removeprefix(word)) if words.startswith(word) else None
            if more is not None and more < HUNDRED:
                return hundred + more
        return self.read_year(words)

    def read_behind_link(self, words: str) -> int | None:
        """Returns the rest of a number, which may begin with a linking word; 0 if there is none."""
        heads = ("", *self.links)
        rests = (self.read(words.removeprefix(head)) for head in heads if words.startswith(head))
        return next((rest for rest in rests if rest is not None), None) if words else 0

    def read_year(self, words: str) -> int | None:
        """Returns the year that two numbers make: nineteen eighty-four."""
        for end in range(1, len(words)):
            century, year = self.small.get(words[:end], 0), self.small.get(words[end:], 0)
            if min(century, year) >= FEWEST_WORDED:
                return HUNDRED * century + year
        return None

    def find_numbers(self, text: str) -> Iterator[WordedNumber]:
        """Yields the numbers of FEWEST_WORDED or more that a text has in words."""
        run: list[re.Match[str]] = []
        for match in re.finditer(NUMBER_WORD, text) if self.small else ():
            goes_on = run and text[run[-1].end() : match.start()] in WITHIN_NUMBER
            is_part, is_link = self.is_part(word := match[0].lower()), word in self.links
            if run and not (goes_on and (is_part or is_link)):
                yield from self.read_run(text, run)
                run = []
            if is_part if not run else True:
                run.append(match)
        yield from self.read_run(text, run)

    def is_part(self, word: str) -> bool:
        """Whether a word is a number, or one of the words of a number."""
        if word not in self.are_parts:
            if len(self.are_parts) >= NUMBERS_REMEMBERED:
                self.are_parts.clear()
            is_made = any(scale in word for scale in self.scales) or any(map(word.startswith, self.hundreds))
            is_known = word in self.small or (word in self.parts and word not in self.links)
            self.are_parts[word] = is_known or (is_made and self.read(word) is not None)
        return self.are_parts[word]

    def read_run(self, text: str, run: list[re.Match[str]]) -> Iterator[WordedNumber]:
        """Yields the number that adjacent words form, or two around a linking word: twenty-five; thirty and forty."""
        words = [match[0].lower() for match in run]
        value = self.read(joined := "".join(words)) if run else None
        link = next((at for at, word in enumerate(words) if word in self.links), 0)
        if link == 1 and value is not None and value > 20 and " " in text[run[0].end() : run[1].start()]:
            value = None if value % 10 == self.small.get(words[0], HUNDRED) else value  # acht und zwanzig are two
        if value is None and run and words[-1] in self.links:
            yield from self.read_run(text, run[:-1])
        elif value is None and link:
            yield from self.read_run(text, run[:link])
            yield from self.read_run(text, run[link + 1 :])
        elif value is not None and value >= FEWEST_WORDED and joined not in self.scales:  # a hundred is said of many
            start = run[0].start()
            is_cardinal = joined.endswith(self.cardinals)
            yield WordedNumber(start, text[start : run[-1].end()], Decimal(value), is_cardinal)
