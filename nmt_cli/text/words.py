"""Finds word boundaries, in scripts with and without spaces; caches answers about words, which recur.

`split_words("Don't stop, 日本")` is `["don't", "stop", "日", "本"]`. No text can fill the memory of a process: the
cache holds a limited number of answers, about words of limited length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from nmt_cli.text.characters import END_MARKS, JOINERS, PAUSES, QUOTES, RAISED_DIGITS
from nmt_cli.text.normalise import find_unspaced, is_unspaced, split_unspaced

Link = tuple[int, int]  # a word of a source and one of its translation, from 0

FIRST_COMBINING_MARK = "\u0300"
RAISED = frozenset(RAISED_DIGITS)
EDGES = END_MARKS + PAUSES + QUOTES  # what may stand around a word
APOSTROPHES = "'’ʼꞌ´`‘ʻ"  # which keyboards have for the letter within words
APOSTROPHE = re.compile(rf"(?<=[^\W\d_])[{APOSTROPHES}](?=[^\W\d_])")
FINAL_APOSTROPHE = re.compile(rf"(?<=[^\W\d_])[{APOSTROPHES}]")  # or at the end of a word: ye'
OPENING_APOSTROPHE = re.compile(rf"(?<![^\W_])[{APOSTROPHES}](?=\w)")
FEW = 16  # strings, of which each is searched for by itself


def choose_apostrophe(text: str) -> re.Pattern[str]:
    """Returns the pattern of the apostrophes that are letters; at the end of a word, one may close a quotation."""
    return APOSTROPHE if OPENING_APOSTROPHE.search(text) else FINAL_APOSTROPHE


def has_letters(text: str) -> bool:
    """Whether the text has a letter, and thus anything to translate."""
    return any(map(str.isalpha, text))


def has_word(text: str) -> bool:
    """Whether the text has a letter or a digit."""
    return any(map(str.isalnum, text))


def count_strings(text: str, strings: Iterable[str]) -> dict[str, int]:
    """Returns how often each of these strings occurs, as `str.count` does; many are counted by length."""
    counts = dict.fromkeys(strings, 0)
    if len(counts) <= FEW:
        return {string: text.count(string) for string in counts}
    ends = dict.fromkeys(counts, 0)  # of the last one found
    for length in {len(string) for string in counts}:
        for start in range(len(text) - length + 1):
            string = text[start : start + length]
            if string in counts and ends[string] <= start:
                counts[string] += 1
                ends[string] = start + length
    return counts


def skip_blanks(text: str, start: int) -> int:
    """Returns the position of the first character from `start` on that is not whitespace."""
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def skip_blanks_back(text: str, end: int, start: int = 0) -> int:
    """Returns the position after the last character before `end` that is not whitespace; at least `start`."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def split_words(text: str) -> list[str]:
    """Returns the words in lower case, without punctuation; each character of a script without spaces is a word."""
    lower = text.lower()
    words = [word for word in choose_word_pattern(lower).findall(lower) if word[0].isalnum()]
    if not any(map(is_unspaced, set(text))):
        return words
    return [piece for word in words for piece in split_unspaced(word)]


def list_words(text: str) -> list[str]:
    """Returns the words in lower case, without footnote numbers, or the characters of a script without spaces."""
    lower = text.lower()
    bare = lower.strip(EDGES)
    if bare.isascii() and bare.isalpha():
        return [bare]  # fast for most parts of a text
    words: list[str] = choose_word_pattern(lower).findall(lower)
    if not RAISED.isdisjoint(lower):
        words = [word.rstrip(RAISED_DIGITS) for word in words]
    words = [word for word in words if word[:1].isalpha()]
    return [piece for word in words for piece in split_unspaced(word)] if find_unspaced(lower) else words


def choose_word_pattern(text: str) -> re.Pattern[str]:
    r"""Returns the pattern that matches the words of `text`, or any other single character.

    A word consists of letters, digits and their marks, with apostrophes and hyphens inside. Python's \w does not match
    combining marks, without which the words of most Indic scripts would fall apart.
    """
    has_marks = max(text, default="") >= FIRST_COMBINING_MARK and any(map(is_mark, set(text)))
    return compile_marked_pattern() if has_marks else compile_word_pattern(r"\w")


@cache
def is_mark(character: str) -> bool:
    r"""Whether a character belongs to a word although Python's \w does not match it: a combining mark or a joiner."""
    return unicodedata.category(character)[0] == "M" or character in JOINERS


@cache
def compile_word_pattern(inner: str) -> re.Pattern[str]:
    r"""Returns the pattern of words that begin with \w and continue with `inner`."""
    return re.compile(rf"⟦\d⟧|\w{inner}*(?:['’-]\w{inner}*)*|\S")


@cache
def compile_marked_pattern() -> re.Pattern[str]:
    """Returns the pattern of words with combining marks.

    Compiled on demand: collecting all marks takes as long as translating a sentence, and most text has no marks.
    """
    planes = (range(ord(FIRST_COMBINING_MARK), 0x20000), range(0xE0000, 0xE1000))  # there are none elsewhere
    marks = (chr(code) for plane in planes for code in plane if unicodedata.category(chr(code))[0] == "M")
    return compile_word_pattern(rf"[\w{JOINERS}{''.join(marks)}]")


WORDS_REMEMBERED = 1 << 13  # by each memory; twice as many would know 2 % more of the words of 50,000 pairs
LONGEST_REMEMBERED = 100  # characters: longer words seldom recur

Value = TypeVar("Value")


class WordMemory(dict[str, Value]):
    """Values by word; forgets all of them once it holds `most`."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def learn(self, word: str, value: Value) -> Value:
        """Remembers and returns the value of a word."""
        if len(word) <= LONGEST_REMEMBERED:
            if len(self) >= self.most:
                self.clear()
            self[word] = value
        return value


class AnswersByWord(WordMemory[Value]):
    """The remembered answers of a function of a word."""

    def __init__(self, function: Callable[[str], Value], most: int) -> None:
        super().__init__(most)
        self.function = function

    def __missing__(self, word: str) -> Value:
        return self.learn(word, self.function(word))


def remember_by_word(most: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Returns a decorator that remembers up to `most` answers of a function of a word."""
    return lambda function: AnswersByWord(function, most).__getitem__


class KnownWords(set[str]):
    """Words for which something is true; forgets all of them once it holds `most`."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def learn(self, words: Iterable[str]) -> None:
        if len(self) >= self.most:
            self.clear()
        self.update(word for word in words if len(word) <= LONGEST_REMEMBERED)
