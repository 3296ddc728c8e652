"""A profile of the training text: its characters, words, case, numbers and lengths, as one small file.

`prepare` writes the file, a model directory keeps it, and translation reads it. The first line is JSON;
the other lines are the words of the source, then those of the target, sorted, so that lookups need not parse the file.
Words for which there is no room leave a few bits in the first line, which show that they occur.
Does not depend on other files, subwords or networks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, islice
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.records import build, parse_json
from nmt_cli.text.lexicon import Lexicon
from nmt_cli.text.normalise import find_unspaced
from nmt_cli.text.words import APOSTROPHES, WORDS_REMEMBERED, WordMemory, list_words, remember_by_word

if TYPE_CHECKING:
    from nmt_cli.text.word_filter import WordFilter


PROFILE_NAME = "profile.txt"
PROFILE_FORMAT = 1
SPECIAL_FORMS = {"0": str.lower, "1": str.capitalize, "2": str.upper}  # how the file writes the form of a word
CAPITALISED = "1:"  # begins a form that is the capitalised word
FEWEST_FOR_LINES = 50  # words; to search for fewer, one by one, is faster than to split the table
PAIRS_READ = 1_000  # of a file whose direction is looked for
TURNED = 8.0  # natural logarithm of how much likelier the words of pairs are the other way round
MIN_APOSTROPHES, MOST_OF_OTHERS = 10, 0.01  # words with a usual apostrophe; the share of words with another one
FEWEST_NUMBERS = 3  # as many numbers show how a side writes them
FEWEST_IN_WORDS = 20  # as many show that it writes them in words; a number dropped in silence is the worse fault
IN_DIGITS = "0"  # stands for a number in digits where numbers are counted


class WordCount(NamedTuple):
    """How often a word occurs in the training text, and in which forms."""

    total: int  # in any case, anywhere
    forms: tuple[tuple[str, int], ...]  # the cased forms with their counts where a sentence does not begin, best first


class LengthRatio(NamedTuple):
    """The length ratios of pairs with sources of similar length, in target characters per source character."""

    mean: float
    spread: float  # the standard deviation of the natural logarithm of the ratio
    lowest: float  # a thousandth of the training pairs has a lower ratio
    highest: float  # a thousandth has a higher one


class NumberMarks(NamedTuple):
    """Counts of (mark in source, mark in target) over numbers that both sides contain.

    A mark is "" where a side writes no mark: 1,000 and 1000 give (",", "").
    """

    decimal: Mapping[tuple[str, str], int]
    thousands: Mapping[tuple[str, str], int]
    small: Mapping[tuple[str, str], int] = {}  # of one or two digits in the source: kept in the target, or ""

    @property
    def keeps_digits(self) -> bool | None:
        """Whether targets write small numbers in digits rather than in words; None if the corpus does not show it."""
        usual = find_usual_mark(self.small, IN_DIGITS)
        is_shown = usual == IN_DIGITS or self.small.get((IN_DIGITS, ""), 0) >= FEWEST_IN_WORDS
        return usual == IN_DIGITS if is_shown else None

    def find_target_decimal(self, mark: str) -> str | None:
        """Returns the target's equivalent of the source's decimal `mark`; None if the corpus does not show it."""
        return find_usual_mark(self.decimal, mark)

    def find_target_thousands(self, mark: str) -> str | None:
        """Returns the target's equivalent of the source's thousands `mark`; None if the corpus does not show it."""
        return find_usual_mark(self.thousands, mark)


class WordCounts:
    """The words of one side as lines of the file, sorted by code point and looked up by bisection."""

    def __init__(self, content: bytes, least_count: int, rare: str | None = None) -> None:
        """`content` has one line per word; words rarer than `least_count` were left out to save space.

        `rare` holds these rarer words as `WordFilter.encode` writes them; "" if there are none, None if they are not
        known.
        """
        self.content = content
        self.least_count = least_count
        self.rare = rare
        self.find = remember_by_word(WORDS_REMEMBERED)(self.look_up)
        self.totals = WordMemory[int](WORDS_REMEMBERED)  # the counts of words as `TextProfile.count_word` returns them
        self.by_part = WordMemory[list[int]](WORDS_REMEMBERED)  # those of the words between two blanks of a text
        self.searches = 0  # before the table was split

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the table, split on first use: text in usual case never needs them."""
        return self.content.decode().split("\n") if self.content else []

    def __iter__(self) -> Iterator[WordCount]:
        return map(parse_word, self.lines)

    def list_keys(self) -> Iterator[str]:
        """Yields the words in lower case."""
        return (line.partition("\t")[0] for line in self.lines)

    def list_capitalised(self, most: int) -> list[str]:
        """Returns the words, in lower case, that occur at most `most` times and are usually capitalised.

        Fast, because it skips lines that cannot match and does not parse them.
        """
        counts = frozenset(map(str, range(1, most + 1)))
        rows = (line.split("\t", 3) for line in self.lines)
        rare = (row for row in rows if len(row) > 2 and row[1] in counts)
        return [key for key, _, form, *_ in rare if has_capital_form(form)]

    def list_cased(self) -> Iterator[tuple[str, bool]]:
        """Yields the words in lower case, each with a flag: whether it is usually capitalised."""
        rows = (line.split("\t", 3) for line in self.lines)
        return ((row[0], any(map(has_capital_form, row[2:3]))) for row in rows)

    def look_up(self, key: str) -> WordCount:
        """Returns the counts of a lower-case word, all 0 if it does not occur."""
        line = self.find_line(f"{key}\t")
        return WordCount(0, ()) if line is None else parse_word(line)

    def contains(self, key: str) -> bool:
        """Whether a lower-case word occurs."""
        return self.find_line(f"{key}\t") is not None

    @property
    def is_complete(self) -> bool:
        """Whether `has_occurred` knows every word of the training text."""
        return self.rare is not None

    def has_occurred(self, key: str) -> bool:
        """Whether the training text has a lower-case word, however rarely; wrongly true for one in a hundred others."""
        return self.contains(key) or (self.rare_words is not None and key in self.rare_words)

    @cached_property
    def rare_words(self) -> WordFilter | None:
        """The words that were left out, decoded on first use; None if there are none or they are not known."""
        from nmt_cli.text.word_filter import WordFilter  # which most texts do not need

        return WordFilter.decode(self.rare) if self.rare else None

    @cached_property
    def apostrophe(self) -> str:
        """The only apostrophe that occurs in more than a few words; empty if there is none, or several."""
        counts = {mark: self.content.count(mark.encode()) for mark in APOSTROPHES}
        usual = max(counts, key=lambda mark: counts[mark])
        others = sum(counts.values()) - counts[usual]
        return usual if counts[usual] >= MIN_APOSTROPHES and others <= MOST_OF_OTHERS * counts[usual] else ""

    def list_beginning(self, stem: str) -> Iterator[str]:
        """Yields the lower-case words of the table that begin with `stem`."""
        for index in range(bisect_left(self.lines, stem), len(self.lines)):
            if not self.lines[index].startswith(stem):
                return
            yield self.lines[index].partition("\t")[0]

    def find_line(self, beginning: str) -> str | None:
        """Returns the line with this beginning, or None. The first lookups do not split the table."""
        if self.searches < FEWEST_FOR_LINES:
            self.searches += 1
            key = beginning.encode(errors="surrogatepass")
            start = 0 if self.content.startswith(key) else self.content.find(b"\n" + key) + 1
            end = self.content.find(b"\n", start)
            is_seen = self.content.startswith(key, start)
            return self.content[start : end if end >= 0 else None].decode() if is_seen else None
        index = bisect_left(self.lines, beginning)
        return self.lines[index] if index < len(self.lines) and self.lines[index].startswith(beginning) else None


class TextProfile(NamedTuple):
    """The profile of one side of the training text."""

    characters: frozenset[str]  # all that occur
    character_counts: Mapping[str, int]
    words: WordCounts
    texts: int
    initial_capitals: float  # share of the texts that begin with a capital, of those that begin with a cased letter
    final_marks: Mapping[str, float]  # the share of texts that ends with a mark, by mark; the others end with a letter
    decimal_mark: str | None  # None where the corpus does not show it
    thousands_mark: str | None
    mean_length: float  # characters
    longest: int  # characters
    unseen_share: float = 1.0  # of the words of a new text, those that never occurred here: as many as occurred once

    def count_word(self, word: str) -> int:
        """Counts a word in any case; a word with apostrophes or hyphens counts as its rarest part.

        In scripts without spaces, a word counts as its rarest character. Fast for words that were counted before.
        """
        totals = self.words.totals
        total = totals.get(word)
        if total is None:
            total = totals.learn(word, self.add_forms(word))
        return total

    def count_words(self, text: str) -> list[int]:
        """Counts each word of a text as `count_word` does."""
        counts: list[int] = []
        memory = self.words.by_part
        for part in text.split():
            if (of_part := memory.get(part)) is None:
                of_part = memory.learn(part, [*map(self.count_word, list_words(part))])
            counts += of_part
        return counts

    def add_forms(self, word: str) -> int:
        """Returns the count of a word or, if it does not occur as a whole, of its rarest part."""
        total = self.find_word(word).total
        if total or not word:
            return total
        if find_unspaced(word):
            return min(self.character_counts.get(character, 0) for character in word)
        parts = split_compound(word)
        return min(map(self.count_word, parts)) if len(parts) > 1 else 0

    def has_word(self, word: str) -> bool:
        """Whether `count_word` is not 0; faster, for words looked up once."""
        if self.words.contains(word.lower()):
            return True
        return self.count_word(word) > 0

    def has_form(self, word: str) -> bool:
        """Whether a word occurred and, if it is in lower case, was usually in lower case."""
        return self.has_word(word) and (not word.islower() or (self.find_usual_case(word) or word) == word)

    def find_usual_case(self, word: str) -> str | None:
        """Returns a word as it is usually cased within a sentence; None if it never occurs there."""
        forms = self.find_word(word).forms
        return forms[0][0] if forms and forms[0][1] else None

    def find_word(self, word: str) -> WordCount:
        """Returns the counts of a word, whatever its case."""
        return self.words.find(word.lower())

    @property
    def has_all_words(self) -> bool:
        """Whether no word was left out, so that a missing word never occurred."""
        return self.words.least_count <= 1


class CorpusProfile(NamedTuple):
    """The profiles of both sides of a corpus and their comparison; `source` is None if the sources are pictures."""

    source: TextProfile | None
    target: TextProfile
    marks: NumberMarks
    ratios: tuple[tuple[int, LengthRatio], ...]  # the largest number of source characters of a class, and its ratio
    lexicon: Lexicon  # of the words of the source; without any in the profile of an older nmt, or of captions

    @classmethod
    def parse(cls, content: bytes) -> CorpusProfile:
        """Parses a profile. Raises ValueError, KeyError or TypeError for invalid content."""
        end = content.find(b"\n")
        header = build(dict, parse_json(content[: max(0, end)].decode()))
        if header["format"] != PROFILE_FORMAT:
            raise ValueError(f"its format is {header['format']}, not {PROFILE_FORMAT}")
        middle = content.index(b"\n\n", end + 1)
        source = header["source"]
        return cls(
            source=parse_side(source, content[end + 1 : middle]) if source is not None else None,
            target=parse_side(header["target"], content[middle + 2 : -1]),
            marks=NumberMarks(*(parse_marks(header.get(kind, [])) for kind in NumberMarks._fields)),
            ratios=tuple((limit, LengthRatio(*values)) for limit, values in header["ratios"]),
            lexicon=Lexicon(header.get("lexicon", "")),
        )

    @classmethod
    def load(cls, path: Path) -> CorpusProfile:
        """Reads a profile. Raises OSError and the errors of `parse`."""
        return cls.parse(path.read_bytes())

    def list_capitals(self, sides: Iterable[str]) -> tuple[float, ...]:
        """Returns, for each of these sides, the share of texts that begin with a capital."""
        profiles = (self.source if side == "source" else self.target for side in sides)
        return tuple(profile.initial_capitals for profile in profiles if profile is not None)

    def are_turned(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether pairs of texts surely have source and target swapped, judging by the first pairs."""
        likelier = 0.0
        for pair in islice(pairs, PAIRS_READ) if self.source is not None else ():
            for text, here, there in zip(pair, (self.source, self.target), (self.target, self.source), strict=True):
                counts = zip(here.count_words(text), there.count_words(text), strict=True)  # type: ignore[union-attr]
                likelier += sum(log((other + 0.5) / (count + 0.5)) for count, other in counts)
        return likelier >= TURNED

    def find_ratio(self, source_length: int) -> LengthRatio | None:
        """Returns the length ratio of pairs whose sources have about `source_length` characters; None if unknown."""
        if not self.ratios:
            return None
        index = bisect_left(self.ratios, (source_length,))  # the first class whose limit is not less
        return self.ratios[min(index, len(self.ratios) - 1)][1]


def parse_side(values: Mapping[str, Any], words: bytes) -> TextProfile:
    """Parses the profile of one side from its part of the first line and its lines of words."""
    values, rare = dict(values), read_rare(values)
    counts = dict(zip(values.pop("characters"), values.pop("character_counts"), strict=True))
    values.pop("rare", None)
    return TextProfile(
        characters=frozenset(counts),
        character_counts=counts,
        words=WordCounts(words, values.pop("least_count"), rare),
        **values,
    )


def read_rare(side: Mapping[str, Any]) -> str | None:
    """Returns the rare words of a side as the first line stores them; None if they are not known."""
    rare: str | None = side.get("rare", None if side["least_count"] > 1 else "")
    return rare


def parse_marks(rows: list[list[Any]]) -> dict[tuple[str, str], int]:
    return {(source, target): count for source, target, count in rows}


def parse_word(line: str) -> WordCount:
    """Parses `key`, count and forms, separated by tabs.

    Without forms, the word was in lower case except sentence-initially.
    """
    key, total, *forms = line.split("\t")
    if not forms:
        return WordCount(int(total), ((key, int(total)),))
    return WordCount(int(total), tuple(parse_form(key, form) for form in forms))


def has_capital_form(form: str) -> bool:
    """Whether a form, as written in the file, is the capitalised word and occurs within a sentence."""
    return form.startswith(CAPITALISED) and form != f"{CAPITALISED}0"


def parse_form(key: str, form: str) -> tuple[str, int]:
    """Parses a cased form and its count: `1:20` is the capitalised word, 20 times."""
    text, _, count = form.rpartition(":")
    return (SPECIAL_FORMS[text](key) if text in SPECIAL_FORMS else text), int(count)


def split_compound(word: str) -> list[str]:
    """Returns the parts of a word that hyphens or apostrophes separate."""
    return [part for part in word.replace("’", "'").replace("-", "'").split("'") if part]


def find_usual_mark(counts: Mapping[tuple[str, str], int], mark: str) -> str | None:
    """Returns the target mark that most often replaces the source's `mark`, given enough examples.

    Marks that differ from it need a majority only together, not each (1.000, 1000 and 1 000 for 1,000).
    """
    targets = {target: count for (source, target), count in counts.items() if source == mark}
    best = max(targets, key=lambda target: targets[target], default=None)
    if best is None or targets[best] < FEWEST_NUMBERS:
        return None
    agreeing = targets[best] if best == mark else sum(targets.values()) - targets.get(mark, 0)
    return best if 2 * agreeing >= sum(targets.values()) else None


# How words end, and how many of those that end alike are names: `-ing` ends none, `-enko` ends little else. Brants
# (2000), section 2.3, guesses the class of an unknown word so.
LONGEST_ENDING, SHORTEST_ENDING = 5, 3  # letters
ENOUGH_ALIKE = 5  # as many words with an ending show what it ends
LAST_LETTER = "\U0010ffff"


class WordEndings:
    """The words of one side, sorted by their letters from last to first."""

    def __init__(self, words: WordCounts) -> None:
        rows = sorted((key[::-1], has_capital) for key, has_capital in words.list_cased() if key.isalpha())
        self.reversed = [key for key, _ in rows]
        self.capitals = [0, *accumulate(has_capital for _, has_capital in rows)]  # among the first n words

    def find_capital_share(self, word: str) -> float | None:
        """Returns the share of capitalised words among those with the longest ending that `word` shares with enough
        words; None if there is no such ending.
        """
        key = word.lower()[::-1]
        for length in range(min(LONGEST_ENDING, len(key) - 1), SHORTEST_ENDING - 1, -1):
            ending = key[:length]
            first, end = (bisect_left(self.reversed, limit) for limit in (ending, ending + LAST_LETTER))
            if end - first >= ENOUGH_ALIKE:
                return (self.capitals[end] - self.capitals[first]) / (end - first)
        return None
