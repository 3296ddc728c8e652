"""What is wrong with a translation, as far as it can be seen without a reference. Text in, a word out.

Precise rather than complete: real text repeats words and copies names, so a translation is held against its own
source. What is called ill is searched for again, and that must not happen to a good translation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from nmt_cli.text.normalise import find_unspaced, normalise

Fault = Literal["empty", "loop", "runaway", "copied"]

WORD_REPEATS = 4  # of one word on end: "very, very, very" is language
PHRASE_REPEATS = 3  # of two words or more
SHORT_RUN = re.compile(r"(.{1,8}?)\1{5,}")  # inside words: six times
LONG_RUN = re.compile(r"(.{1,20}?)\1{5,}")  # in scripts without blanks
SHARE = 2  # a word that makes up half of a text and stands there four times is a loop with something between
SIGN_REPEATS = 12  # of a run without letters: rows of dots, zeros of a number
ORDINARY_WORDS = 4  # copied ones that make a copy
PUNCTUATION = re.compile(r"^\W+|\W+$")


def find_fault(source: str, target: str, *, ended: bool, copies: bool = False) -> Fault | None:
    """What is wrong with `target` as a translation of `source`; `ended` is false where the limit of its length cut it.

    With `copies` a copy of the source is no fault, as where both sides are of one language.
    """
    source = normalise(source)
    if not target.strip():
        return "empty" if source else None
    if has_loop(source, target):
        return "loop"
    if not ended:
        return "runaway"
    return "copied" if not copies and is_copy(source, target) else None


def has_stutter(source: str, target: str) -> bool:
    """Whether `target` says something twice on end and `source` nothing: seldom a fault, a bad sign in a remedy."""
    words = bare_words(target)
    twice = max((repeats_at(words, period) for period in range(1, len(words) // 2 + 1)), default=1)
    return twice > 1 and twice > most_repeats(source)


def has_loop(source: str, target: str) -> bool:
    """Whether `target` repeats something on end, and clearly more often than `source` does."""
    words = bare_words(target)
    repeats = max(count_word_repeats(words), count_character_repeats(target))
    if repeats > 1:
        return repeats > 1 + most_repeats(source)
    often = count_most_frequent(words)
    return often > 0 and often > 1 + max(Counter(bare_words(source)).values(), default=0)


def count_most_frequent(words: Sequence[str]) -> int:
    """How often the most frequent word stands among `words`, if it makes up half of them; 0 if none does."""
    if fewer_than(WORD_REPEATS, words):
        return 0
    lettered = [word for word in words if any(map(str.isalpha, word))]
    often = max(Counter(lettered).values(), default=0)
    return often if often >= WORD_REPEATS and often * SHARE >= len(lettered) else 0


def fewer_than(times: int, words: Sequence[str]) -> bool:
    """Whether no word stands among `words` so often; at once where nearly all differ."""
    return len(words) - len(set(words)) < times - 1 or max(Counter(words).values()) < times


def count_word_repeats(words: Sequence[str]) -> int:
    """How often the most repeated word or phrase stands on end, if that is often; 1 if nothing does."""
    if fewer_than(PHRASE_REPEATS, words):
        return 1
    most = 1
    for period in range(1, len(words) // PHRASE_REPEATS + 1):
        repeats = repeats_at(words, period)
        if repeats >= (WORD_REPEATS if period == 1 else PHRASE_REPEATS):
            most = max(most, repeats)
    return most


def count_character_repeats(text: str) -> int:
    """How often the most repeated run of characters stands on end, if that is often; 1 if none does."""
    most = 1
    for match in (LONG_RUN if find_unspaced(text) else SHORT_RUN).finditer(text.casefold()):
        repeats = len(match[0]) // len(match[1])
        if repeats >= SIGN_REPEATS or any(character.isalpha() for character in match[1]):
            most = max(most, repeats)
    return most


def most_repeats(text: str) -> int:
    """How often anything at all stands on end: a word, a phrase, a letter."""
    words, folded = bare_words(text), text.casefold()
    periods = range(1, len(words) // 2 + 1)
    of_words = max((repeats_at(words, period) for period in periods), default=1)
    runs = re.finditer(r"(.{1,20}?)\1+", folded)
    return max(of_words, *(len(match[0]) // len(match[1]) for match in runs), 1)


def repeats_at(items: Sequence[str], period: int) -> int:
    """How often a block of `period` items stands on end, at the place where it does so most."""
    longest = run = 0
    for item, later in zip(items, items[period:], strict=False):
        run = run + 1 if item == later else 0
        longest = max(longest, run)
    return longest // period + 1


def bare_words(text: str) -> list[str]:
    """The words in lower case, without the punctuation around them; signs that stand alone count as words."""
    return [word if word.isalnum() else PUNCTUATION.sub("", word) or word for word in text.casefold().split()]


def is_copy(source: str, target: str) -> bool:
    """Whether `target` is `source` word for word, apart from case and punctuation, and not because of names.

    Names, numbers and addresses are rightly copied: what counts are words of letters, of which none is a capital. At
    least four must be there, which two languages seldom share in one place.
    """
    if len(set(source.casefold().split()) & set(target.casefold().split())) < min(ORDINARY_WORDS, len(source.split())):
        return False  # at once for nearly all
    words = split_units(source)
    ordinary = [word for word in words if word.isalpha() and word == word.lower()]
    if len(ordinary) < ORDINARY_WORDS:
        return False
    return [word.casefold() for word in words] == [word.casefold() for word in split_units(target)]


def split_units(text: str) -> list[str]:
    """The words without the punctuation around them; of scripts without blanks every two characters."""
    bare = [word for word in (PUNCTUATION.sub("", word) for word in text.split()) if word]
    return [part for word in bare for part in ([word] if not find_unspaced(word) else re.findall("..?", word))]
