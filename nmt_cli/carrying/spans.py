"""Protected spans, parts of a text that its translation must contain unchanged, and the interface of their kinds.

In `Open <b>{name}</b> now.`, the spans are `<b>` from 5 to 8, `{name}` from 8 to 14 and `</b>` from 14 to 18. There are
two ways to get a span past a network. A *masked* span acts as a word (`{name}`, an address, a number): the network has
learned to copy the placeholder that replaces it. A span that is *taken out* (markup, emoji) represents no word and
would only disturb the network; attention shows where to put it back. The `Kind` of a span says how it is found, how the
network sees it, how it is written in the translation, and what is done if it is lost.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property
from typing import Literal, NamedTuple

from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import CLOSING_BRACKETS, DASHES, END_MARKS, HYPHENS, PAUSES, THIN_BLANKS
from nmt_cli.text.normalise import UNSPACED

DIGIT = re.compile(r"\d")
NO_MATCH = re.compile("(?!)")  # where a language has nothing that a pattern could find
PLACEHOLDER_PATTERN = re.compile("⟦[0-9]⟧")  # stands for a masked span in what a network reads and writes
COVERS = "\ufffb\ufffc"  # stand in turn for the characters of a span while a line is searched or cut
EMOJI_COVER = "\ufffa"  # stands for those of an emoji
DEEPEST = 100  # maximum depth of nested pairs; in a deeper pair, each mark stands alone
BLANK_REFERENCES = frozenset("~ &nbsp; &#160; &#xa0; &#xA0; &ensp; &emsp; &thinsp; &#8239;".split())


class SpanKind(StrEnum):
    """The kind of a span, determined once, when the span is found."""

    CHOICE = auto()  # a message of ICU, with texts to choose from
    ELEMENT = auto()  # an element whose content is not translated: <code>ls</code>
    TAG = auto()
    COMMAND = auto()  # of LaTeX, around its text: \textbf{here}
    EMOJI = auto()
    SIGN = auto()  # behind a word: ™, (!)
    ADDRESS = auto()
    PLACEHOLDER = auto()  # of a program: {name}, %s
    REFERENCE = auto()  # &nbsp; which stands for a blank or a mark
    SYMBOL = auto()  # &amp; which is read as a word
    CODE = auto()  # what is written as no word is: 1½, snake_case, C++
    AMOUNT = auto()
    TIME = auto()
    FULL_TIME = auto()  # in the 24-hour clock, with a word: 14 Uhr
    IDENTIFIER = auto()  # digits with letters or brackets: A4-17, [3], #123
    NUMBER = auto()
    NUMBER_WORD = auto()  # a number with an abbreviation that the target writes in its way: No. 17, 3 hrs.
    DATE = auto()
    WEEKDAY = auto()  # abbreviated
    FULL_WEEKDAY = auto()
    STREET = auto()
    TERM = auto()  # of a glossary
    EMPHASIS = auto()
    NOTE = auto()  # a reference to a note, or what a note begins with: tea.¹
    ACCELERATOR = auto()  # the sign before the letter that opens an entry of a menu: _File
    FOREIGN = auto()  # words of a script that the model does not know
    PERSON = auto()  # with a title, or how a letter begins and ends: Mr. Brown, Yours sincerely
    PLACE = auto()  # that languages name differently, and training hardly had: Denmark
    NAME = auto()  # a word that never occurred in training
    RARE_NAME = auto()  # a name that training hardly had
    BRACKET = auto()
    QUOTE = auto()
    SLASH = auto()  # between two words
    LONE_SIGN = auto()  # ©, →, ♥
    WRAP = auto()  # a code that touches a word, and stands for none: {0}here{1}


NUMERIC = frozenset({SpanKind.AMOUNT, SpanKind.TIME, SpanKind.IDENTIFIER, SpanKind.NUMBER})
PROGRAM_TOKENS = frozenset({SpanKind.PLACEHOLDER, SpanKind.CODE, SpanKind.IDENTIFIER, SpanKind.NUMBER})
WORDLESS = frozenset(  # stand for no word
    {SpanKind.TAG, SpanKind.EMOJI, SpanKind.SIGN, SpanKind.REFERENCE, SpanKind.EMPHASIS, SpanKind.ACCELERATOR}
    | {SpanKind.NOTE, SpanKind.BRACKET, SpanKind.QUOTE, SpanKind.SLASH, SpanKind.WRAP, SpanKind.COMMAND}
)


class Pair(NamedTuple):
    """An opening or closing mark: `<b>` and `</b>`, the two signs of `*very*`, brackets."""

    name: str
    closes: bool


class Span(NamedTuple):
    """The characters from `start` to `end` of a line, and the text that replaces them in its translation."""

    start: int
    end: int
    text: str
    kind: SpanKind
    is_extracted: bool = False  # taken out of what the network reads; else a placeholder stands for it
    pair: Pair | None = None
    replaces: frozenset[str] = frozenset()  # words of the translation, if they precede its placeholder
    covers: str = ""  # a word of the translation, if it follows its placeholder

    @property
    def is_number(self) -> bool:
        """Whether the span is made of digits: a number, a time, an identifier, an amount."""
        return self.kind in NUMERIC

    @property
    def is_markup(self) -> bool:
        """Whether the span represents no word."""
        return self.kind in WORDLESS

    @property
    def is_blank(self) -> bool:
        """Whether the span represents a space: `&nbsp;`."""
        return self.kind is SpanKind.REFERENCE and self.text in BLANK_REFERENCES


def find_partners(pairs: Sequence[Pair | None]) -> dict[int, int]:
    """Returns the index of each paired mark's partner; pairs are properly nested, to a limited depth."""
    partners: dict[int, int] = {}
    waiting: list[tuple[int, str]] = []  # opening marks
    counts: Counter[str] = Counter()
    for index, mark in enumerate(pairs):
        if mark is None:
            continue
        if not mark.closes:
            waiting.append((index, mark.name))
            counts[mark.name] += 1
        elif counts[mark.name]:
            opening, name = waiting.pop()
            while name != mark.name:
                counts[name] -= 1
                opening, name = waiting.pop()
            counts[name] -= 1
            if len(waiting) < DEEPEST:
                partners |= {opening: index, index: opening}
    return partners


def cover_spans(text: str, spans: Sequence[Span]) -> str:
    """Returns `text` with the characters of its spans covered."""
    if not spans:
        return text
    characters = list(text)
    for number, span in enumerate(spans):
        cover = EMOJI_COVER if span.kind is SpanKind.EMOJI else COVERS[number % 2]
        characters[span.start : span.end] = cover * (span.end - span.start)
    return "".join(characters)


def cover_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Returns `text` with the characters in these ranges covered."""
    characters = list(text)
    for start, end in ranges:
        characters[start:end] = COVERS[0] * (end - start)
    return "".join(characters)


def list_overlapping(spans: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Returns the spans that share characters with those from `start` to `end`; `spans` are in order, without overlaps.

    Takes time that grows with the logarithm of their number.
    """
    last = bisect_left(spans, end, key=lambda span: span.start)
    first = last
    while first and spans[first - 1].end > start:
        first -= 1
    return spans[first:last]


def cut_spans(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Returns the spans between `start` and `end` of a text, with positions counted from `start`."""
    inside = (span for span in list_overlapping(spans, start, end) if start <= span.start and span.end <= end)
    return tuple(span._replace(start=span.start - start, end=span.end - start) for span in inside)


def widen_to_brackets(span: Span, text: str, covered: str) -> Span:
    """Returns a masked span extended by brackets around it alone: (350 °F), [A4]; `covered` hides all spans."""
    start, end = span.start - 1, span.end + 1
    if (
        span.is_extracted
        or start < 0
        or covered[start] + covered[end - 1 : end] not in ("()", "[]")
        or not text[end:].strip()
    ):
        return span
    if start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        return span
    return span._replace(start=start, end=end, text=text[start:end])


def join_touching(spans: Iterable[Span]) -> list[Span]:
    """Joins adjacent masked spans, except glossary terms, into one code; `spans` must be in order."""
    joined: list[Span] = []
    for span in spans:
        pair = (joined[-1], span) if joined and joined[-1].end == span.start else ()
        if pair and not any(other.is_extracted or other.kind is SpanKind.TERM for other in pair):
            last = joined.pop()
            span = Span(last.start, span.end, last.text + span.text, SpanKind.CODE)
        joined.append(span)
    return joined


# Building blocks of the patterns for numbers, amounts and codes, as text, compiled on first use.
LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"  # in scripts with spaces: characters that continue a word
WORD_LETTER = r"A-Za-z_\u00c0-\u024f\u0370-\u052f"  # the same without digits
UNSPACED_LETTERS = UNSPACED[1:-1]
MINUS = r"+±−-"

# A decimal without a zero before its mark: .75; but not ...5, 1 ,5 or v.2.
BARE_DECIMAL = (
    rf"(?<![{LETTER}{re.escape(END_MARKS + PAUSES + CLOSING_BRACKETS)}%/\\])(?<!\d )[.,]\d{{1,20}}+(?![.,:/]\d)"
)
# Bounded, so that a line of nothing but digits and points takes no longer to search than any other.
NUMBER_WITH_SIGNS = (
    rf"(?:\d{{1,3}}(?:[ {THIN_BLANKS}'’]\d{{3}}){{1,6}}(?!\d)(?:[.,]\d{{1,20}})?|\d{{1,20}}+(?:[.,]\d{{1,20}}+){{0,6}}"
    rf"|{BARE_DECIMAL})"
)
# Between two numbers, a dash with blanks on both sides or on none; in "€30 -5 °C" it is a sign.
# A sign before a number, as in ">5" and "is >= 5"; a lone ">" that begins a line quotes a mail.
COMPARISON = r"(?:(?<![\w<>=-])(?:[<>]=?|[≤≥≈≠])|(?<=\S )(?:[<>]=?|[≤≥≈≠]) )"
BEFORE, AFTER = rf"(?<![{LETTER}])", rf"(?![{WORD_LETTER}])"
CONNECTING = re.escape("&" + HYPHENS + DASHES)
# Of an abbreviation, which ends no sentence.
INNER_STOP = rf"\.(?=\s+[\da-zß-ÿ({CONNECTING}]|[/){re.escape(PAUSES)}{CONNECTING}])"
OPTIONAL_MINUS = rf"(?:(?<![\d.,)])[{MINUS}])?"


LONGEST_NAME = 30  # characters of what has versions
VERSIONED = rf"(?<!\w)([^\W\d_][\w.+#-]*) (?:\d+\.\d+ ?[/{re.escape(HYPHENS + DASHES)}] ?)?$"  # 3.0 - 5.0
SCALED = "[MmBb]i"  # millions, as most languages write them

WordTest = Callable[[str], bool]  # whether training had a word


class Context(NamedTuple):
    """The facts beyond the text that kinds may use; kinds that need a missing function find nothing."""

    languages: tuple[str, str] = ("", "")  # codes of the text and of its translation
    copies_placeholders: bool = True  # whether the network has learned to carry placeholders over
    in_choice: bool = False  # whether the text is one of those to choose from, in which `#` is a number
    is_word: WordTest | None = None
    find_names: Callable[[str], Iterable[Span]] | None = None  # and codes, with the profiles of both sides
    find_terms: Callable[[str], Iterable[Span]] | None = None  # of a glossary
    find_foreign_words: Callable[[str], Iterable[tuple[int, int]]] | None = None  # by the letters of the model
    find_missing_names: Callable[[str, str], Iterable[re.Match[str]]] | None = None  # of a text and its translation
    keeps_digits: bool | None = None  # whether the target writes small numbers in digits; None: not known
    write_number: Callable[..., str] | None = None  # in the target's notation, given a number and what follows it
    find_usual_case: Callable[[str], str | None] | None = None  # of a word within a sentence

    def is_version(self, text: str, start: int, end: int) -> bool:
        """Whether a number is the version of the name before it and so keeps its point: `Python 3.12 is new`.

        An amount is not a version: `Tom 2.5 euros`. If a language lists no units, any word after the number may be one,
        except after a name with inner capitals: `USB 3.0 port`.
        """
        name = re.search(VERSIONED, text[max(0, start - LONGEST_NAME) : start])
        if name is None or self.find_usual_case is None or not re.fullmatch(r"\d{1,3}\.\d{1,2}\+?", text[start:end]):
            return False
        word, rules = name[1], find_rules(self.languages[0])
        is_plain = word[1:] == word[1:].lower() or text.isupper()
        usual = (self.find_usual_case(word) or word) if is_plain else word
        others = SCALED if usual[1:] != usual[1:].lower() else rf"(?!(?:{rules.list_links or '(?!)'})\s)\w"
        is_amount = re.compile(rf"\s?(?:{rules.measures or others})").match(text, end) is not None
        return usual != usual.lower() and not is_amount


class Attempt(NamedTuple):
    """A sentence and the network's attempt to translate it."""

    text: str  # as it stands in the source
    spans: Sequence[Span]  # of it, that are carried
    read: str  # as the network read it
    target: str  # as the network wrote it, with placeholders
    finds_place: Callable[[Span], bool]  # whether attention finds the place of a span that was taken out

    @property
    def covered(self) -> str:
        """The sentence with protected spans covered."""
        return cover_spans(self.text, self.spans)

    @property
    def written(self) -> str:
        """The network's translation without placeholders."""
        return PLACEHOLDER_PATTERN.sub(" ", self.target)

    @classmethod
    def from_texts(cls, text: str, target: str) -> Attempt:
        """Returns the attempt for a whole text without protected spans."""
        return cls(text, (), text, target, lambda span: True)


NO_CONTEXT = Context()
NOT_IN_SPANS = rf"\x00-\x1f\x7f-\x9f\u2028\u2029{COVERS}"  # no span contains control characters, line ends, others


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of span: one row of a table. Its `patterns` describe it fully, unless it has a `search` of its own."""

    name: SpanKind
    form: Literal["placeholder", "taken out"] = "placeholder"  # how the network meets it
    patterns: tuple[str, ...] = ()
    signs: str = ""  # every text with such a span has one of these characters (the inside of a class of a pattern),
    cues: str = ""  # or something that this pattern finds; both are empty where there is no fast guard
    search: Callable[[Kind, str, Context], Iterable[Span]] | None = None  # finds what patterns alone cannot tell
    finish: Callable[[Span], Span] | None = None  # adds to a match of a pattern what else its text says

    def find(self, text: str, context: Context) -> Iterator[Span]:
        """Yields the spans of this kind in a text, in which those of earlier kinds are covered."""
        return iter(self.find_matches(text) if self.search is None else self.search(self, text, context))

    def find_matches(self, text: str) -> Iterator[Span]:
        """Yields the matches of the patterns."""
        return map(self.read_match, self.pattern.finditer(text))

    def may_be_in(self, text: str, context: Context) -> bool:
        """Whether a text may have such a span; a fast check, since most texts have none."""
        return self.guard.search(text) is not None

    def write(self, span: Span, text: str, context: Context) -> str:
        """Returns the text of a span in the translation."""
        return span.text

    def read_match(self, match: re.Match[str]) -> Span:
        """Returns the span for a match of one of the patterns."""
        return self.make_span(match.start(), match[0])

    def make_span(self, start: int, text: str) -> Span:
        """Returns a span of this kind."""
        span = Span(start, start + len(text), text, self.name, self.form == "taken out")
        return span if self.finish is None else self.finish(span)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The patterns joined into one, compiled on first use: compiling takes longer than translating a sentence."""
        return re.compile("|".join(self.patterns))

    @cached_property
    def guard(self) -> re.Pattern[str]:
        """A pattern that matches in every text that has such a span."""
        return compile_guard((self,))


class Difference(NamedTuple):
    """The items that occur in only one of two texts, as messages name them."""

    missing: Sequence[str] = ()  # from the translation
    added: Sequence[str] = ()  # to it


class LossWords(NamedTuple):
    """The words that describe a loss in a translation: for the failed check and for the count of repairs."""

    fault: Literal["numbers", "dates", "untranslated", "brackets"]
    remedy: str  # what helps
    summary: str  # what is wrong with the lines that fail the check
    unrepaired: str  # the message if no remedy helped
    repaired: tuple[str, ...]  # what a repaired fault is called, and several if they have no plural in -s
    doc: str  # what the check does
    nouns: tuple[str, str] = ("", "")  # what stands before one, or several, that the message names


@dataclass(frozen=True, eq=False, kw_only=True)
class LostKind(Kind, ABC):
    """A kind that the network writes itself, protected only if the network lost it.

    Checks call `find_lost`; repairs also call `list_carried`, which may be stricter.
    """

    words: LossWords

    @abstractmethod
    def find_lost(self, attempt: Attempt, context: Context) -> Difference:
        """Returns the lost and the added parts of a translation."""

    @abstractmethod
    def list_carried(self, attempt: Attempt, context: Context) -> list[Span]:
        """Returns the spans to carry in a second search; empty if nothing was lost."""


class DoubtfulKind(Kind, ABC):
    """A kind that may mislead the network, which also reads the sentence without it; the likelier result is kept."""

    @abstractmethod
    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        """Returns the spans to take out in a second reading."""

    def make_pair(self, start: int, opening: str, end: int, closing: str) -> tuple[Span, Span]:
        """Returns the spans of an opening and a closing mark of this kind."""
        first, last = self.make_span(start, opening), self.make_span(end, closing)
        return first._replace(pair=Pair(closing, closes=False)), last._replace(pair=Pair(closing, closes=True))


def compile_guard(kinds: Sequence[Kind]) -> re.Pattern[str]:
    """Returns a pattern that matches in every text with a span of one of the kinds."""
    signs = "".join(kind.signs for kind in kinds)
    cues = [kind.cues for kind in kinds if kind.cues]
    return re.compile("|".join([f"[{signs}]"] * bool(signs) + cues))
