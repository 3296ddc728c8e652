"""Finds faults in translations that are visible without a reference. Knows only text.

Favours precision over recall: real text repeats words and copies names, so a translation is compared with its own
source. If a translation is faulty, its sentence is searched again, so a good one must not be reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.words import WORDS_REMEMBERED, has_letters, remember_by_word
from nmt_cli.translation.result import Fault, WordFaultKind

# What the language says, rather than the form: a check of its own tells so (`checks.table.find_word_fault`).
WORD_FAULTS: frozenset[Fault] = frozenset(get_args(WordFaultKind))
ALIKE = 0.7  # how much the spellings of an invented word and the real one have in common
PLACEHOLDER_OPENING = "⟦"
ADJACENT_PLACEHOLDERS = re.compile(r"(⟦\d⟧)(?=\W*?(⟦\d⟧))")
PLACEHOLDERS_AROUND_WORDS = re.compile(r"(⟦\d⟧)(?=[^⟦]*[^\W\d_][^⟦]*(⟦\d⟧))")
WORD_REPEATS = 4  # of one word in a row: "very, very, very" is language
PHRASE_REPEATS = 3  # of two or more words in a row
LONGEST_PHRASE = 50  # words; to look for longer ones would take time that grows with the square of a text
SHORT_RUN = re.compile(r"(.{1,8}?)\1{5,}")  # six times in a row, inside words
LONG_RUN = re.compile(r"(.{1,20}?)\1{5,}")  # the same, in scripts without blanks
RUN_REPEATS = 6
SHARE = 2  # a word that makes up half of a text and occurs four times is a loop with something in between
LETTER_RUN = r"([^\W\d_]{1,20}?)\1{2,}"  # which shows emphasis, as words in a row do: sooo; 1,000 and cheese do not
SIGN_REPEATS = 12  # of a run without letters: a row of dots, the zeros of a number
WORDS_BESIDE = 2  # beside placeholders, which no translation leaves out: one may be an article
ORDINARY_WORDS = 4  # minimum number of copied words that make a copy
PUNCTUATION = re.compile(r"^\W+|\W+$")


def find_fault(source: str, target: str, *, finished: bool, same_language: bool = False) -> Fault | None:
    """Returns the fault of a translation, or None; `finished` is false if the length limit cut it off.

    If both sides are in the `same_language`, a copy of the source is no fault.
    """
    source = normalise(source)
    if not target.strip():
        return "empty" if source else None
    if has_loop(source, target):
        return "loop"
    if not finished:
        return "runaway"
    if PLACEHOLDER_OPENING in f"{source}{target}" and (fault := find_placeholder_fault(source, target)):
        return fault
    return "copied" if not same_language and is_copy(source, target) else None


def find_placeholder_fault(source: str, target: str) -> Fault | None:
    """Returns the fault of the placeholders in `target`, or None.

    A placeholder that occurs more often than in `source` stands for a word that would be lost. If two stand side by
    side but have words between them in `source`, these may be lost; placeholders alone have lost all words.
    """
    words, target_words = (PLACEHOLDER_PATTERN.sub(" ", text).split() for text in (source, target))
    if not any(map(has_letters, target_words)) and sum(map(has_letters, words)) >= WORDS_BESIDE:
        return "empty"
    before, after = (Counter(PLACEHOLDER_PATTERN.findall(text)) for text in (source, target))
    if after - before:
        return "placeholder"
    if before - after:
        return "spans"
    pairs = {frozenset(pair) for pair in ADJACENT_PLACEHOLDERS.findall(target)}
    return "enclosed words" if pairs & {frozenset(pair) for pair in PLACEHOLDERS_AROUND_WORDS.findall(source)} else None


def keeps_words(before: str, after: str) -> bool:
    """Whether a translation keeps all words of an earlier one and adds at most one word per placeholder.

    If a placeholder is in an odd place, a network that writes it may lose the words around it.
    """
    words, new_words = (
        Counter(word for word in strip_words(PLACEHOLDER_PATTERN.sub(" ", text)) if word.isalnum())
        for text in (before, after)
    )
    room = len(set(PLACEHOLDER_PATTERN.findall(after)))
    return not words - new_words and (new_words - words).total() <= room


class WordFault(NamedTuple):
    """A fault in the words of a translation, with the faulty words; a lost negation has none."""

    fault: Fault
    words: tuple[str, ...] = ()


def changes_little(former: WordFault, before: str, after: str) -> bool:
    """Whether a translation changes little in an earlier one apart from its faulty words.

    Readers notice an invented word, but not a wrong real one, so the new word must be spelled like the invented one.
    """
    if not former.words:
        return True
    faulty = {word.casefold() for word in former.words}
    words, new_words = Counter(strip_words(before)), Counter(strip_words(after))
    lost, new = words - new_words, new_words - words
    if sum(count for word, count in lost.items() if word not in faulty) > len(faulty) or new.total() > 2 * lost.total():
        return False
    if former.fault == "invented words":
        return all(any(is_alike(word, other) for other in new) for word in faulty)
    return not any(other.startswith(word) for word in faulty for other in new)


def is_alike(word: str, other: str) -> bool:
    """Whether two words are spelled alike."""
    from difflib import SequenceMatcher  # which few repairs need

    return SequenceMatcher(None, word, other).ratio() >= ALIKE


def has_stutter(source: str, target: str) -> bool:
    """Whether `target` repeats words in a row more often than `source`: rarely a fault, but suspect after a remedy."""
    repeats = count_any_word_repeats(strip_words(target))
    return repeats > 1 and repeats > count_emphasis(source)


@lru_cache(maxsize=1)
def count_emphasis(text: str) -> int:
    """Returns the longest run of a word, phrase or letters; at least 1. Cached, since many clauses share a source."""
    letters = (len(match[0]) // len(match[1]) for match in re.finditer(LETTER_RUN, text.casefold()))
    return max(count_any_word_repeats(strip_words(text)), *letters, 1)


def has_loop(source: str, target: str) -> bool:
    """Whether `target` repeats something in a row, and clearly more often than `source`."""
    words = strip_words(target)
    repeats = max(count_word_repeats(words), count_character_repeats(target))
    if repeats > 1:
        return repeats > 1 + count_any_repeats(source)
    count = count_most_frequent(words)
    return count > 0 and count > 1 + max(Counter(strip_words(source)).values(), default=0)


def count_most_frequent(words: Sequence[str]) -> int:
    """Returns the count of the most frequent word, if it makes up half of `words`; else 0."""
    if is_rarely_repeated(words, WORD_REPEATS):
        return 0
    lettered = list(filter(has_letters, words))
    count = max(Counter(lettered).values(), default=0)
    return count if count >= WORD_REPEATS and count * SHARE >= len(lettered) else 0


def is_rarely_repeated(words: Sequence[str], times: int) -> bool:
    """Whether every word occurs fewer than `times` times. Fast if nearly all words differ."""
    return len(words) - len(set(words)) < times - 1 or max(Counter(words).values()) < times


def count_word_repeats(words: Sequence[str]) -> int:
    """Returns the longest run of a repeated word or phrase; 1 if it is short."""
    if is_rarely_repeated(words, PHRASE_REPEATS):
        return 1
    most = 1
    for period in range(1, min(len(words) // PHRASE_REPEATS, LONGEST_PHRASE) + 1):
        repeats = count_block_repeats(words, period)
        if repeats >= (WORD_REPEATS if period == 1 else PHRASE_REPEATS):
            most = max(most, repeats)
    return most


def count_character_repeats(text: str) -> int:
    """Returns the longest run of a repeated character sequence; 1 if it is short."""
    folded, most = text.casefold(), 1
    words = folded.split()
    # A run of several words repeats a word between two of its blanks; any other run is inside a word.
    if is_rarely_repeated(words, RUN_REPEATS - 1) and not any(map(has_run, words)) and " ".join(words) == folded:
        return most
    for match in (LONG_RUN if find_unspaced(text) else SHORT_RUN).finditer(folded):
        repeats = len(match[0]) // len(match[1])
        if repeats >= SIGN_REPEATS or any(character.isalpha() for character in match[1]):
            most = max(most, repeats)
    return most


@remember_by_word(WORDS_REMEMBERED)
def has_run(word: str) -> bool:
    """Whether a character sequence occurs six times in a row in a word. Cached, since most words recur."""
    return LONG_RUN.search(word) is not None


def count_any_repeats(text: str) -> int:
    """Returns the longest run of a repeated word, phrase or sign; at least 1."""
    runs = re.finditer(r"(.{1,20}?)\1+", text.casefold())
    return max(count_any_word_repeats(strip_words(text)), *(len(match[0]) // len(match[1]) for match in runs), 1)


def count_any_word_repeats(words: Sequence[str]) -> int:
    """Returns the longest run of any repeated word or phrase; at least 1."""
    longest = min(len(words) // 2, LONGEST_PHRASE)
    return max((count_block_repeats(words, period) for period in range(1, longest + 1)), default=1)


def count_block_repeats(items: Sequence[str], period: int) -> int:
    """Returns the largest number of consecutive repeats of a block of `period` items, at least 1."""
    longest = run = 0
    for item, next_item in zip(items, items[period:], strict=False):
        if item != next_item:
            run = 0
            continue
        run += 1
        if run > longest:  # faster than `max`, in the innermost loop of checks
            longest = run
    return longest // period + 1


def strip_words(text: str) -> list[str]:
    """Returns the words in lower case, without surrounding punctuation; a sign on its own counts as a word."""
    return list(map(strip_word, text.casefold().split()))


@remember_by_word(WORDS_REMEMBERED)
def strip_word(word: str) -> str:
    """Returns a word without surrounding punctuation; a sign is unchanged. Cached, since most words recur."""
    return word if word.isalnum() else PUNCTUATION.sub("", word) or word


def is_copy(source: str, target: str) -> bool:
    """Whether `target` equals `source` word for word, ignoring case and punctuation, and not because of names.

    Names, numbers and addresses are rightly copied: only lower-case words count. At least four are required, which two
    languages seldom share in a row.
    """
    if len(set(source.casefold().split()) & set(target.casefold().split())) < min(ORDINARY_WORDS, len(source.split())):
        return False  # fast for nearly all translations
    words = split_units(source)
    ordinary = [word for word in words if word.isalpha() and word == word.lower()]
    if len(ordinary) < ORDINARY_WORDS:
        return False
    return [word.casefold() for word in words] == [word.casefold() for word in split_units(target)]


def split_units(text: str) -> list[str]:
    """Returns the words without surrounding punctuation, split into pairs of characters in scripts without spaces."""
    bare = [word for word in (PUNCTUATION.sub("", word) for word in text.split()) if word]
    return [part for word in bare for part in ([word] if not find_unspaced(word) else re.findall("..?", word))]
