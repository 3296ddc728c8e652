"""Compares the numbers of a text and its translation by value, and protects dropped ones.

`3 dogs` and `drei Hunde` have the same numbers; `1990s` and `1990er` the same decade.

    I have 3 dogs and 12 cats.      3 and 12
    Ich habe drei Hunde.            lacks 12: it is protected as a span, and the sentence searched again

Comparing favours precision over recall: 1,000 and 1.000 may be one thousand or one, 2:30 p.m. may be half past two or
14.30. A number counts as kept if the other text contains any reading of it. Numbers of three or more digits, or with
separators, are spans from the start; those of one or two digits are often written in words, so the network translates
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from nmt_cli.carrying.numbers import DECADE_YEARS, HALF_DAY, NUMBER, NumberText, NumberToken, NumericKind
from nmt_cli.carrying.spans import (
    AFTER,
    BARE_DECIMAL,
    BEFORE,
    COMPARISON,
    DIGIT,
    MINUS,
    NUMBER_WITH_SIGNS,
    OPTIONAL_MINUS,
    WORD_LETTER,
    Attempt,
    Context,
    Difference,
    LossWords,
    LostKind,
    Span,
    SpanKind,
)
from nmt_cli.languages.cldr import NUMBERS_REMEMBERED, fold_words, load_rule_sets, spell_cardinal, spell_number
from nmt_cli.languages.number_words import FEWEST_WORDED, NumberWords, WordedNumber
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text.characters import DASHES, OPENING, THIN_BLANKS

MINUTES = re.compile(r"(?<!\d)\d{1,2}[:.h][0-5]\d(?!\d)")
DATE = re.compile(r"(?<!\d)\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")  # its month may be a word in the other text
MONTHS = 12
SCALES = (1_000, 10_000, 1_000_000, 100_000_000, 1_000_000_000)  # "2.5 million" may be 2,500,000
LAST_PLAIN_LETTER = "\u052f"  # of Latin, Greek and Cyrillic; other scripts have prefixes, or no blanks
MOST_SPELLED = 12  # of 13 to 99 in digits, the targets of ten AmericasNLP corpora keep nine tenths
WORDED = 100  # smaller numbers, and its multiples, are often written in words


class NumberSpellings(NamedTuple):
    """The words of a text, folded and joined, for comparing number words."""

    text: str  # `fold_words`
    starts: frozenset[int]  # where a word begins in it

    @classmethod
    def from_text(cls, text: str) -> NumberSpellings:
        folded = [fold_words(word) for word in re.findall(r"[^\s'’-]+", text)]
        return cls("".join(folded), frozenset(accumulate(map(len, folded), initial=0)))

    def contains(self, spelling: str, longer: Sequence[str]) -> bool:
        """Whether the text contains a number word, other than as the beginning of one of the `longer` ones.

        In languages that separate words with spaces and lack prefixes, it must begin a word.
        """
        position = self.text.find(spelling)
        while position >= 0:
            begins = spelling[0] > LAST_PLAIN_LETTER or position in self.starts
            if begins and not self.begins_longer(position, spelling, longer):
                return True
            position = self.text.find(spelling, position + 1)
        return False

    def begins_longer(self, position: int, spelling: str, longer: Sequence[str]) -> bool:
        """Whether one of the `longer` number words begins at the position.

        It may extend to the end of the next word, unless that word is a single letter.
        """
        ends = self.starts if position + len(spelling) in self.starts else None
        return any(
            self.text.startswith(other, position) and (ends is None or position + len(other) in ends)
            for other in longer
            if len(other) > len(spelling) + (ends is not None)
        )

    def count(self, spellings: Iterable[str]) -> int:
        """Counts the spellings that occur in the text as separate words, not within a longer word."""
        places = {
            match.start()
            for spelling in spellings
            for match in re.finditer(f"(?={re.escape(spelling)})", self.text)
            if spelling[0] > LAST_PLAIN_LETTER or {match.start(), match.start() + len(spelling)} <= self.starts
        }
        return len(places)


class NumberSet(NamedTuple):
    """The numbers of a text, for looking up the numbers of another text."""

    values: frozenset[Decimal]
    parts: frozenset[int]
    date_parts: frozenset[int]  # of numbers with more than two parts

    @classmethod
    def from_tokens(cls, tokens: Iterable[NumberToken]) -> NumberSet:
        values, parts, date_parts = set[Decimal](), set[int](), set[int]()
        for token in tokens:
            values |= token.values
            parts.update(token.groups)
            date_parts.update(token.groups if len(token.groups) > 2 else ())
        return cls(frozenset(values), frozenset(parts), frozenset(date_parts))

    def contains(self, token: NumberToken) -> bool:
        """Whether these include a number, possibly at another scale, or all its parts, as in a date."""
        if not self.values.isdisjoint(token.values):
            return True
        if len(token.groups) > 1 and not self.date_parts and self.parts.issuperset(token.groups):
            return True
        if len(token.groups) == 1 and token.groups[0] in self.date_parts:
            return True
        values = filter(None, token.values)
        return any(value * scale in self.values or value / scale in self.values for value in values for scale in SCALES)


def compare_numbers(
    source: str, target: str, source_language: str = "", target_language: str = "", keeps_digits: bool | None = None
) -> Difference:
    """Returns the numbers of `source` missing from `target`, and those only in `target`.

    The languages are codes of two or three letters. If a language's number words are unknown, numbers that it may spell
    out are ignored; `keeps_digits` is that of `Context`.
    """
    if not (DIGIT.search(source) or DIGIT.search(target)):
        return Difference()
    # 1. Read the numbers of both texts.
    before, after = NumberText.read(source, source_language), NumberText.read(target, target_language)
    in_source, in_target = before.numbers, after.numbers
    # 2. Drop those that both have.
    target_set, source_set = NumberSet.from_tokens(in_target), NumberSet.from_tokens(in_source)
    missing = [token for token in in_source if not target_set.contains(token)]
    added = [token for token in in_target if not source_set.contains(token)]
    if not (missing or added):
        return Difference()
    # 3. Drop those that the other text has in words, or in another notation of the time.
    return Difference(
        drop_spelled_out(missing, before, after, keeps_digits), drop_spelled_out(added, after, before, False)
    )


def drop_spelled_out(
    tokens: Sequence[NumberToken], side: NumberText, other: NumberText, keeps_digits: bool | None
) -> tuple[str, ...]:
    """Returns the numbers of one side that the other does not spell out either."""
    if not load_rule_sets(other.language):
        return tuple(token.text for token in tokens if not may_be_spelled(token, other.language, keeps_digits))
    words = NumberSpellings.from_text(other.text)
    has_clock = side.tells_time or other.tells_time
    has_minutes = has_clock and bool(MINUTES.search(side.text)) and not MINUTES.search(other.text)
    has_minutes = has_minutes and not other.tells_full_hour
    others = other.numbers
    digits = {number for token in others for number in other.list_decade(token)}
    digits |= {number for token in others if has_clock and len(token.groups) == 2 for number in token.groups}
    dates = "\n".join(match[0] for match in DATE.finditer(side.text))
    worded = {number.value for number in list_worded(other.text, other.language)}

    def is_unspoken(token: NumberToken) -> bool:
        readings = side.list_readings(token, has_clock=has_clock)
        is_spoken = any(has_spelling(reading, words, other.language) for reading in readings)
        is_month = token.groups[0] <= MONTHS and token.text in dates
        is_time = has_minutes and is_spoken_time(token, words, other.language)
        is_spoken = is_spoken or not worded.isdisjoint(token.values)
        return digits.isdisjoint(other.drop_bare_decade(readings, token)) and not (is_spoken or is_month or is_time)

    unspoken = {text for text, token in {token.text: token for token in tokens}.items() if is_unspoken(token)}
    return tuple(token.text for token in tokens if token.text in unspoken)


def list_uncertain(source: str, target: str, languages: tuple[str, str]) -> tuple[str, ...]:
    """Returns the plain numbers of `source` that occur less often in `target`, in digits or as separate words.

    Stricter than `compare_numbers`: used for a second search, where a false alarm is harmless. In many languages the
    word for one is also an article, so one counts only in digits. Empty for a language whose number words are unknown.
    """
    before, after = NumberText.read(source, languages[0]), NumberText.read(target, languages[1])
    has_clock, language = before.tells_time, after.language
    # 1. Drop what the target has in digits, each as often.
    in_digits = Counter(number for token in after.numbers for number in after.list_decade(token))
    unmatched = []
    # The readings of each number, and those written in digits.
    readings_by_number: dict[str, tuple[list[int], set[int]]] = {}
    for token in before.numbers:
        if token.text not in readings_by_number:
            readings = sorted(before.list_readings(token, has_clock=has_clock)) if len(token.groups) == 1 else []
            readings_by_number[token.text] = readings, after.drop_bare_decade(readings, token)
        readings, written = readings_by_number[token.text]
        digits = next((reading for reading in readings if reading in written and in_digits[reading] > 0), None)
        if digits is not None:
            in_digits[digits] -= 1
        elif readings:
            unmatched.append((token, readings))
    if not unmatched or not load_rule_sets(language):
        return ()
    # 2. Drop what it has in words.
    words, in_words = NumberSpellings.from_text(after.text), Counter[int]()
    uncertain = []
    for token, readings in unmatched:
        spoken = next((r for r in readings if r != 1 and in_words[r] < words.count(spell_number(r, language))), None)
        if spoken is None:
            uncertain.append(token.text)
        else:
            in_words[spoken] += 1
    return tuple(uncertain)


def may_be_spelled(token: NumberToken, language: str, keeps_digits: bool | None) -> bool:
    """Whether a language whose number words are unknown may spell the number out.

    True for a small or round number, unless the training text keeps digits.
    """
    most = MOST_SPELLED if keeps_digits is None and language else WORDED
    return not keeps_digits and token.whole is not None and (token.whole <= most or token.whole % WORDED == 0)


def is_spoken_time(token: NumberToken, words: NumberSpellings, language: str) -> bool:
    """Whether a text may spell out the time that the number belongs to: 2:45 is a quarter to three."""
    hour = token.groups[0]
    if hour > 24 or hour in (0, 15):
        return True  # minutes: a quarter past, half past
    return any(has_spelling(near, words, language) for near in (hour, hour + 1, abs(hour - HALF_DAY), hour - 11))


def has_spelling(number: int, words: NumberSpellings, language: str) -> bool:
    """Whether the words of a text spell a number; "one" before a hundred is optional."""
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


@lru_cache(NUMBERS_REMEMBERED)
def list_longer(number: int, language: str) -> tuple[str, ...]:
    """Returns number words that begin with a spelling of `number`, if it is below 100: vierzig for vier."""
    spellings = spell_number(number, language)
    if number >= 100 or not spellings:
        return ()
    others = list_spellings(language) - spellings
    return tuple(longer for longer in others if any(longer.startswith(spelling) for spelling in spellings))


@cache
def list_spellings(language: str) -> frozenset[str]:
    """Returns the spellings of all numbers below a hundred and all hundreds below a thousand."""
    return frozenset(
        spelling for number in (*range(100), *range(100, 1000, 100)) for spelling in spell_number(number, language)
    )


NUMBERS = NumericKind(
    SpanKind.NUMBER,
    patterns=(
        rf"{COMPARISON}[{MINUS}]?{NUMBER_WITH_SIGNS}{AFTER}",
        # Telephone numbers: with a country code (and T or M before it), a leading zero, or an area code in brackets.
        rf"(?<![\w+])(?:[A-Z]:? (?=\+))?(?=\+?\(?\d(?:[^\d\n]{{0,3}}\d){{5}})"
        rf"(?:\+\d{{1,3}}(?: \(?\d{{1,4}}\)?)?|\(0\d{{1,5}}\)|0\d{{1,5}}|\(\d{{3}}\)(?= ?\d{{3}}-\d{{4}}))"
        rf"(?:(?:[ /.-]| ?[/-] ?)?\(?\d{{2,12}}\)?){{1,7}}{AFTER}",
        # Thousands apart: by thin blanks or apostrophes, or by blanks where nothing else is meant (60 000, 1 234 567).
        rf"{BEFORE}{OPTIONAL_MINUS}\d{{1,3}}(?:(?:[{THIN_BLANKS}'’]\d{{3}}){{1,6}}|(?: \d{{3}}){{2,6}}| 000)(?!\d)"
        rf"(?:[.,]\d{{1,20}})?{AFTER}",
        # Days of months, whose full stop ends no sentence: 1.5. und 2.5.2024
        rf"{BEFORE}[0-3]?\d\.[01]?\d\.(?=\s+[\da-zß-ÿ{DASHES}])",
        # Digits with marks between: dates, times, decimals, versions, fractions, ranges, addresses of machines.
        rf"{BEFORE}{OPTIONAL_MINUS}\d{{1,20}}+(?:[.,:/–-]\d{{1,20}}+){{1,12}}{AFTER}(?:\+(?![\w+]))?",
        rf"{OPTIONAL_MINUS}{BARE_DECIMAL}{AFTER}",
        # Three digits or more, a leading zero, or a sign.
        rf"{BEFORE}{OPTIONAL_MINUS}(?:\d{{3,}}+|0\d++){AFTER}",
        rf"(?<![^\s{re.escape(OPENING)}])[{MINUS}]\d{{1,2}}(?![\d{WORD_LETTER}])",
    ),
    signs=r"\d",
)


CHOICE_NUMBERS = NumericKind(  # signs that stand for the number of a choice, in its texts
    SpanKind.NUMBER,
    patterns=("#",),
    signs="#",
    search=lambda kind, text, context: kind.find_matches(text) if context.in_choice else (),
)


class SmallNumbers(LostKind, NumericKind):
    """Numbers of one or two digits.

    If one is lost, all those of the sentence are carried, since another search may lose others; lost ones come first.
    """

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        return compare_numbers(attempt.covered, attempt.written, *context.languages, context.keeps_digits)

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        covered, target = attempt.covered, attempt.written
        if not DIGIT.search(covered):
            return []
        lost = [*self.find_lost(attempt, context).missing, *find_lost_endings(covered, target, context.languages)]
        if not lost and context.copies_placeholders:
            lost = [*list_uncertain(covered, target, context.languages)]
        numbers = sorted(NUMBER.finditer(covered), key=lambda match: match[0] not in lost) if lost else []
        return [self.read_number(number, context) for number in numbers]

    def read_number(self, number: re.Match[str], context: Context) -> Span:
        """Returns the span of a number, with any letters that make it an ordinal or a decade."""
        end, ending = find_ending(number.string, number.end(), number[0], context.languages)
        start = number.start() - bool(ending and re.search(r"(?<!\w)['’]$", number.string[: number.start()]))
        return Span(start, end, number[0] + ending, self.name, self.form == "taken out")


LOST_NUMBERS = LossWords(
    "numbers",
    "protected number",
    "with numbers different from the source",
    unrepaired="a number from the source is missing",
    repaired=("wrong number",),
    doc="Compares the values of all numbers, in any notation or script, or in words of 87 languages. For a target in "
    "another language, numbers below 13 count only if training keeps them in digits",
    nouns=("number", "numbers"),
)
SMALL_NUMBERS = SmallNumbers(SpanKind.NUMBER, signs=r"\d", words=LOST_NUMBERS)


# Numbers in words. A network that knows thirty and five may make thirty-five one of them.

HALF = Decimal("0.5")


class WordedNumbers(LostKind):
    """Numbers in words, which the translation may write in words or in digits."""

    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        return Difference([number.text for number in list_lost_words(attempt, context.languages)])

    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        return [
            self.make_span(number.start, number.text)._replace(text=write_number(number, context))
            for number in list_lost_words(attempt, context.languages)
            if number.is_cardinal
        ]


def list_lost_words(attempt: Attempt, languages: tuple[str, str]) -> list[WordedNumber]:
    """Returns the numbers in words that the translation has neither in words nor in digits."""
    numbers = [*list_worded(attempt.covered, languages[0])]
    if not numbers or not load_rule_sets(languages[1]):
        return []
    target = NumberText.read(attempt.written, languages[1])
    words, digits = NumberSpellings.from_text(target.text), NumberSet.from_tokens(target.numbers)
    values = {number.value for number in list_worded(target.text, target.language)} | digits.parts

    def is_kept(number: WordedNumber) -> bool:
        value = number.value
        readings = {value, value - HALF_DAY} if FEWEST_WORDED <= value <= 2 * HALF_DAY else {value}
        whole = [int(reading) for reading in readings if not reading % 1]
        decades = spell_number(int(value), target.language) if not value % DECADE_YEARS else ()
        return (
            not values.isdisjoint(readings)
            or digits.contains(NumberToken(number.text, (int(value),), frozenset((value,))))
            or fold_words(number.text) in words.text
            or any(has_spelling(reading, words, target.language) for reading in whole)
            or any(words.contains(decade[:-1], ()) for decade in decades)  # in his thirties
        )

    return [number for number in numbers if not is_kept(number)]


def list_worded(text: str, language: str) -> Iterator[WordedNumber]:
    """Yields the numbers that a text has in words, including those with a half."""
    words = NumberWords.load(language)
    yield from words.find_numbers(text)
    for match in re.finditer(rf"\b(?:{find_rules(language).halves or '(?!)'})\b", text, re.IGNORECASE):
        counted = [number for name, number in match.groupdict().items() if number and name != "whole"]
        whole = words.small.get(fold_words(counted[0])) if counted else 1
        if whole is not None:
            yield WordedNumber(match.start(), match[0], whole + HALF, match.lastgroup is not None)


def write_number(number: WordedNumber, context: Context) -> str:
    """Returns a number in words of the target, capitalised like the source; a fraction or a year in digits."""
    if number.value % 1:
        return str(number.value) if context.write_number is None else context.write_number(str(number.value), "")
    if number.value > 1_000 and number.value % 1_000:
        return str(number.value)
    words = spell_cardinal(int(number.value), context.languages[1])
    if number.text.isupper():
        return words.upper()
    return words.capitalize() if number.text[0].isupper() else words


WORDED_NUMBERS = WordedNumbers(SpanKind.NUMBER_WORD, cues=r"[^\W\d_]{3}", words=LOST_NUMBERS)


def find_ending(text: str, end: int, number: str, languages: tuple[str, str]) -> tuple[int, str]:
    """Finds the letters that make a number an ordinal or a decade; returns their end and the target's equivalent.

    The `number` ends at `end`, which is returned if no such letters follow; `languages` are the codes of source and
    target.
    """
    source, target = map(find_rules, languages)
    kinds = ((source.ordinal_endings, write_ordinal_mark(number, target)), (source.decade_endings, target.decade_mark))
    for endings, mark in kinds:
        match = re.compile(rf"(?:{endings})(?!\w)").match(text, end) if endings else None
        if match is not None:
            return match.end(), mark
    return end, ""


def write_ordinal_mark(number: str, rules: LanguageRules) -> str:
    """Returns the mark that makes a number in digits an ordinal; empty if unknown."""
    is_teen = number[-2:-1] == "1"
    return rules.ordinal_mark if is_teen else rules.ordinal_marks.get(number[-1], rules.ordinal_mark)


def find_lost_endings(source: str, target: str, languages: tuple[str, str]) -> Iterator[str]:
    """Yields numbers whose translation is no longer an ordinal or a decade: 1stplatz, 1990 for the 1990s."""
    rules = source_rules, target_rules = find_rules(languages[0]), find_rules(languages[1])
    marks = [mark for mark in (target_rules.ordinal_mark, *target_rules.ordinal_marks.values()) if mark]
    ordinal = "|".join(
        [*map(re.escape, marks), rf"(?:{target_rules.ordinal_endings or '(?!)'})(?!\w)"] if marks else []
    )
    decades = [rf"(?:{side.decade_endings})(?!\w)" if side.decade_endings else "" for side in rules]
    kinds = ((r"(\d*(\d0))", *decades), (r"((\d+))", rf"(?:{source_rules.ordinal_endings or '(?!)'})(?!\w)", ordinal))
    for number, ending, written in kinds:
        for match in re.finditer(rf"(?<!\d){number}{ending}", source) if ending and written else ():
            forms = rf"(?<!\d)(?:{match[1]}|{match[2]})(?!\d)"
            if re.search(forms, target) and not re.search(rf"{forms}(?:{written})", target):
                yield match[1]
