"""Checks of a single pair: an empty side, lost characters, identical sides, numbers that disagree."""

from __future__ import annotations

import re
import unicodedata

from nmt_cli.corpus.checks.check import PairCheck
from nmt_cli.text.characters import THIN_BLANKS
from nmt_cli.text.normalise import count_words

SHORT_WORDS = 3  # words; the sides of such a pair may well be the same: a name, "OK", "Taxi!"
NUMBER = re.compile(rf"(?<!\d)\d{{1,3}}(?:[.,{THIN_BLANKS}' ]\d{{3}})+(?!\d)|\d+")
DIGIT = re.compile(r"\d")


class Empty(PairCheck):
    name = "empty"
    problem = "an empty side"
    covers_every_role = True

    def has_problem(self, source: str, target: str) -> bool:
        return not source or not target


class LostCharacters(PairCheck):
    name = "damaged"
    problem = "lost characters (U+FFFD)"

    def has_problem(self, source: str, target: str) -> bool:
        return "\ufffd" in source or "\ufffd" in target


class Identical(PairCheck):
    name = "identical"
    problem = f"the same text of more than {SHORT_WORDS} words on both sides"

    def has_problem(self, source: str, target: str) -> bool:
        return source == target and count_words(source) > SHORT_WORDS


class IdenticalShort(PairCheck):
    name = "identical-short"
    problem = f"the same text of up to {SHORT_WORDS} words on both sides"
    action = "reported"

    def has_problem(self, source: str, target: str) -> bool:
        return bool(source) and source == target and count_words(source) <= SHORT_WORDS


class Numbers(PairCheck):
    name = "numbers"
    problem = "source and target have different numbers"
    action = "reported"

    def has_problem(self, source: str, target: str) -> bool:
        if DIGIT.search(source) is None or DIGIT.search(target) is None:
            return False  # a number in words does not disagree
        return list_numbers(source) != list_numbers(target)


def list_numbers(text: str) -> list[str]:
    """Returns the numbers of a text, sorted, in ASCII digits, without thousands separators and leading zeros."""
    return sorted("".join(map(convert_digit, number)).lstrip("0") for number in NUMBER.findall(text))


def convert_digit(character: str) -> str:
    """Returns a digit of any script as an ASCII digit, and nothing for any other character."""
    return str(unicodedata.decimal(character, ""))


class Unfinished(PairCheck):
    """Known only from the file: `steps/examine.py` flags the pairs, whatever their text."""

    name = "unfinished"
    problem = "a translation marked fuzzy, new or unfinished in its file"

    def has_problem(self, source: str, target: str) -> bool:
        return False
