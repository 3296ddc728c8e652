"""Compares the numbers of a text with those of its translation: by value, in any notation, in digits or in words.

Precise rather than complete: 1,000 and 1.000 may be one thousand or one, 2:30 p.m. may be half past two or 14.30. A
number counts as kept if any reading of it stands in the other text. Knows text alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from nmt_cli.carrying.masking import PLACEHOLDER_PATTERN
from nmt_cli.carrying.references import REFERENCE
from nmt_cli.languages.number_words import fold_words, load_rule_sets, spell_number
from nmt_cli.text.characters import THIN_BLANKS

HAS_DIGIT = re.compile(r"\d")
NUMBER = re.compile(rf"\d{{1,3}}(?:[ {THIN_BLANKS}]\d{{3}})+(?!\d)|\d+(?:[.,'’]\d+)*")
CLOCK = re.compile(
    r"(?<!\d)\d{1,2}[:h][0-5]\d(?!\d)|\d ?(?:[ap]\.? ?m\b|o['’]clock|Uhr\b|h\b)|[時點点时시]", re.IGNORECASE
)
MINUTES = re.compile(r"(?<!\d)\d{1,2}[:.h][0-5]\d(?!\d)")
DATE = re.compile(r"(?<!\d)\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")  # its month may be a word in the other text
DECADE = r"['’]?(?:s|er)\b"  # behind a number: the 1970s
DECADE_YEARS, CENTURY = 10, 100
ENDED_DECADES = frozenset("en eng de deu ger da dan sv swe no nor nb nob".split())  # which write 90s, 90er
HALF_DAY, MONTHS = 12, 12
SCALES = (1_000, 10_000, 1_000_000, 100_000_000, 1_000_000_000)  # "2.5 million" may be 2,500,000
LAST_PLAIN_LETTER = "\u052f"  # of Latin, Greek and Cyrillic; other scripts have prefixes, or no blanks
WORDED = 100  # smaller numbers, and its multiples, are often written in words


class NumberToken(NamedTuple):
    """A number in a text."""

    text: str  # as it stands there
    groups: tuple[int, ...]  # what its separators part
    values: frozenset[float]  # its possible values

    @property
    def whole(self) -> int | None:
        """The greatest value that is a whole number; None if there is none."""
        return max((int(value) for value in self.values if value == int(value)), default=None)


class NumberDifference(NamedTuple):
    """The numbers that only one of two texts has, as they stand there."""

    missing: tuple[str, ...]
    invented: tuple[str, ...]


class NumberWords(NamedTuple):
    """The words of a text as number words are compared, without what is between them."""

    text: str  # `fold_words`
    starts: frozenset[int]  # where a word begins in it

    @classmethod
    def from_text(cls, text: str) -> NumberWords:
        folded = [fold_words(word) for word in re.findall(r"[^\s'’-]+", text)]
        return cls("".join(folded), frozenset(accumulate(map(len, folded), initial=0)))

    def contains(self, spelling: str, longer: Sequence[str]) -> bool:
        """Whether a number word stands in the text, but not as the beginning of one of the `longer` ones.

        Where words are written with blanks and without prefixes, it has to begin a word.
        """
        position = self.text.find(spelling)
        while position >= 0:
            begins = spelling[0] > LAST_PLAIN_LETTER or position in self.starts
            if begins and not self.begins_longer(position, spelling, longer):
                return True
            position = self.text.find(spelling, position + 1)
        return False

    def begins_longer(self, position: int, spelling: str, longer: Sequence[str]) -> bool:
        """Whether one of the `longer` number words stands at the position.

        It may go on in the next word, to its end; but no number word goes on with a word of one letter.
        """
        ends = self.starts if position + len(spelling) in self.starts else None
        return any(
            self.text.startswith(other, position) and (ends is None or position + len(other) in ends)
            for other in longer
            if len(other) > len(spelling) + (ends is not None)
        )

    def count(self, spellings: Iterable[str]) -> int:
        """Returns how often one of the spellings stands in the text as words of its own, not in a longer word."""
        places = {
            match.start()
            for spelling in spellings
            for match in re.finditer(f"(?={re.escape(spelling)})", self.text)
            if spelling[0] > LAST_PLAIN_LETTER or {match.start(), match.start() + len(spelling)} <= self.starts
        }
        return len(places)


NO_DIFFERENCE = NumberDifference((), ())


def compare_numbers(source: str, target: str, source_language: str = "", target_language: str = "") -> NumberDifference:
    """Returns the numbers of `source` that `target` lacks, and those that only `target` has.

    The languages are codes of two or three letters. In one whose number words are unknown, numbers that are often
    written in words do not count.
    """
    if not (HAS_DIGIT.search(source) or HAS_DIGIT.search(target)):
        return NO_DIFFERENCE
    # 1. Read the numbers of both texts.
    source, target = (unicodedata.normalize("NFKC", drop_other_digits(text)) for text in (source, target))
    in_source, in_target = find_numbers(source), find_numbers(target)
    # 2. Drop those that both have.
    missing = [token for token in in_source if not is_among(token, in_target)]
    invented = [token for token in in_target if not is_among(token, in_source)]
    if not (missing or invented):
        return NO_DIFFERENCE
    # 3. Drop those that the other text has in words, or in another notation of the time.
    return NumberDifference(
        select_unspoken(missing, source, target, target_language),
        select_unspoken(invented, target, source, source_language),
    )


def drop_other_digits(text: str) -> str:
    """Returns a text without digits that are no numbers: those of placeholders and of references (`&#39;`).

    A fraction that is one sign is parted from the number before it: 1½ is not 11/2.
    """
    text = PLACEHOLDER_PATTERN.sub(" ", text)
    text = text if text.isascii() else re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)
    return REFERENCE.sub("'", text) if "&#" in text else text


def find_numbers(text: str) -> list[NumberToken]:
    """Returns the numbers that stand in a text in digits of any script."""
    return [read_number(match[0]) for match in NUMBER.finditer(text)]


def read_number(text: str) -> NumberToken:
    """Returns a number with all its readings: separators may part thousands, a fraction, or numbers."""
    parts = re.split(r"\D", text)
    values: set[float] = set()
    if len(parts) == 1 or (len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])):
        values.add(int("".join(parts)))
    if len(parts) > 1:
        values.add(float(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return NumberToken(text, tuple(map(int, parts)), frozenset(values))


def is_among(token: NumberToken, others: Sequence[NumberToken]) -> bool:
    """Whether the number is one of the others, or each of its parts is, as in a date; or with another scale."""
    if any(token.values & other.values for other in others):
        return True
    parts = {part for other in others for part in other.groups}
    if len(token.groups) > 1 and parts.issuperset(token.groups) and not any(len(o.groups) > 2 for o in others):
        return True
    if len(token.groups) == 1 and any(len(o.groups) > 2 and token.groups[0] in o.groups for o in others):
        return True
    pairs = ((mine, its) for mine in token.values for other in others for its in other.values if mine and its)
    return any(max(pair) / min(pair) in SCALES for pair in pairs)


def select_unspoken(tokens: Iterable[NumberToken], text: str, other: str, language: str) -> tuple[str, ...]:
    """Returns the numbers of the text that `other`, in this language, does not have in words either."""
    if not load_rule_sets(language):
        return tuple(token.text for token in tokens if not is_often_spelled(token))
    words = NumberWords.from_text(other)
    has_clock = bool(CLOCK.search(text) or CLOCK.search(other))
    has_minutes = has_clock and bool(MINUTES.search(text)) and not MINUTES.search(other)
    others = find_numbers(other)
    digits = {number for token in others for number in list_decade(token, other)}
    digits |= {number for token in others if has_clock and len(token.groups) == 2 for number in token.groups}
    unspoken = []
    for token in tokens:
        readings = list_readings(token, text, has_clock=has_clock)
        is_spoken = any(has_spelling(reading, words, language) for reading in readings)
        is_month = token.groups[0] <= MONTHS and any(token.text in date[0] for date in DATE.finditer(text))
        is_time = has_minutes and is_spoken_time(token, words, language)
        if digits.isdisjoint(drop_bare_decade(readings, token, other, language)) and not (
            is_spoken or is_month or is_time
        ):
            unspoken.append(token.text)
    return tuple(unspoken)


def list_readings(token: NumberToken, text: str, *, has_clock: bool) -> set[int]:
    """Returns the whole numbers that may stand for a number of `text`: 70 for the 1970s, 17 for 5 p.m."""
    readings = list_decade(token, text)
    hour = token.groups[0]
    if has_clock and hour <= 24 and len(token.groups) <= 2:
        readings |= {hour} | {hour + shift for shift in (HALF_DAY, -HALF_DAY) if hour + shift > 0}
    return readings


def list_decade(token: NumberToken, text: str) -> set[int]:
    """Returns the whole number, and for a decade also without its century."""
    if token.whole is None:
        return set()
    is_decade = re.search(re.escape(token.text) + DECADE, text) is not None
    is_decade = is_decade and token.whole % DECADE_YEARS == 0
    return {token.whole, token.whole % CENTURY} if is_decade else {token.whole}


def drop_bare_decade(readings: Iterable[int], token: NumberToken, other: str, language: str) -> set[int]:
    """Returns the readings that may stand in digits in the `other` text: 90 for the 1990s only as 90er, in German."""
    written = set(readings)
    short = token.whole % CENTURY if token.whole is not None else 0
    if short != token.whole and language in ENDED_DECADES and not re.search(rf"(?<!\d){short}['’-]?[^\W\d_]", other):
        written.discard(short)
    return written


def list_uncertain(source: str, target: str, language: str) -> tuple[str, ...]:
    """Returns the plain numbers of `source` that stand in `target` less often, in digits or as words of their own.

    Stricter than `compare_numbers`: for a second search, where a doubt does no harm. The word for one is an article too
    in many languages, so one counts in digits alone. Empty for a language whose number words are unknown.
    """
    source, target = (unicodedata.normalize("NFKC", drop_other_digits(text)) for text in (source, target))
    has_clock = CLOCK.search(source) is not None
    # 1. Drop what the target has in digits, each as often.
    in_digits = Counter(number for token in find_numbers(target) for number in list_decade(token, target))
    unmatched = []
    for token in find_numbers(source):
        readings = sorted(list_readings(token, source, has_clock=has_clock)) if len(token.groups) == 1 else []
        written = drop_bare_decade(readings, token, target, language)
        digits = next((reading for reading in readings if reading in written and in_digits[reading] > 0), None)
        if digits is not None:
            in_digits[digits] -= 1
        elif readings:
            unmatched.append((token, readings))
    if not unmatched or not load_rule_sets(language):
        return ()
    # 2. Drop what it has in words.
    words, in_words = NumberWords.from_text(target), Counter[int]()
    uncertain = []
    for token, readings in unmatched:
        spoken = next((r for r in readings if r != 1 and in_words[r] < words.count(spell_number(r, language))), None)
        if spoken is None:
            uncertain.append(token.text)
        else:
            in_words[spoken] += 1
    return tuple(uncertain)


def is_often_spelled(token: NumberToken) -> bool:
    """Whether the number is one that many texts have in words: a small or a round one."""
    return token.whole is not None and (token.whole <= WORDED or token.whole % WORDED == 0)


def is_spoken_time(token: NumberToken, words: NumberWords, language: str) -> bool:
    """Whether a text may name the time that the number belongs to in words: 2:45 is a quarter to three."""
    hour = token.groups[0]
    if hour > 24 or hour in (0, 15):
        return True  # minutes: a quarter past, half past
    return any(has_spelling(near, words, language) for near in (hour, hour + 1, abs(hour - HALF_DAY), hour - 11))


def has_spelling(number: int, words: NumberWords, language: str) -> bool:
    """Whether the words of a text spell a number; "one" before a hundred may be left out."""
    spellings = spell_number(number, language)
    present = [spelling for spelling in spellings if spelling in words.text]
    if present:
        longer = list_longer(number, language)  # which takes a moment, once for a number
        if any(words.contains(spelling, longer) for spelling in present):
            return True
    if number < 100:
        return False
    ones = spell_number(1, language)
    return any(
        words.contains(spelling.removeprefix(unit), ())
        for spelling in spellings
        for unit in ones
        if spelling.startswith(unit)
    )


@cache
def list_longer(number: int, language: str) -> tuple[str, ...]:
    """Returns the spellings of other numbers that begin as one of a number below a hundred does: vier, vierzig."""
    spellings = spell_number(number, language)
    if number >= 100 or not spellings:
        return ()
    others = list_spellings(language) - spellings
    return tuple(longer for longer in others if any(longer.startswith(spelling) for spelling in spellings))


@cache
def list_spellings(language: str) -> frozenset[str]:
    """Returns the spellings of all numbers below a hundred, and of the hundreds below a thousand."""
    return frozenset(
        spelling for number in (*range(100), *range(100, 1000, 100)) for spelling in spell_number(number, language)
    )
