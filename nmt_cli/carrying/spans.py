"""Protected spans: parts of a text that its translation must contain unchanged, byte for byte.

There are two ways past a network. A *masked* span acts as a word (an address, a number, `{name}`): the network has
learned to copy the placeholder that replaces it. An *extracted* span (markup, emoji) represents no word and would only
disturb the network: it is taken out of the text and put back by attention. Knows no kind of span.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum, auto
from typing import NamedTuple

DIGIT = re.compile(r"\d")
PLACEHOLDER_PATTERN = re.compile("⟦[0-9]⟧")  # stands for a masked span in what a network reads and writes
COVERS = "\ufffb\ufffc"  # stand in turn for the characters of a span while a line is searched or cut
EMOJI_COVER = "\ufffa"  # stands for those of an emoji
DEEPEST = 100  # maximum depth of nested pairs; in a deeper pair, each mark stands alone
BLANK_REFERENCES = frozenset("&nbsp; &#160; &#xa0; &#xA0; &ensp; &emsp; &thinsp; &#8239;".split())


class SpanKind(StrEnum):
    """The kind of a span, known when it is found and never guessed again."""

    CHOICE = auto()  # a message of ICU, with texts to choose from
    ELEMENT = auto()  # an element whose content is not translated: <code>ls</code>
    TAG = auto()
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
    WEEKDAY = auto()
    STREET = auto()
    TERM = auto()  # of a glossary
    EMPHASIS = auto()
    NOTE = auto()  # a reference to a note, or what a note begins with: tea.¹
    ACCELERATOR = auto()  # the sign before the letter that opens an entry of a menu: _File
    FOREIGN = auto()  # words of a script that the model does not know
    PERSON = auto()  # with a title, or how a letter begins and ends: Mr. Brown, Yours sincerely
    PLACE = auto()  # that languages name differently, and training hardly had: Denmark
    NAME = auto()  # a word that training never had
    RARE_NAME = auto()  # a name that training hardly had
    BRACKET = auto()
    QUOTE = auto()
    SLASH = auto()  # between two words
    WRAP = auto()  # a placeholder beside words that it wraps: {0}here{1}


NUMERIC = frozenset({SpanKind.AMOUNT, SpanKind.TIME, SpanKind.IDENTIFIER, SpanKind.NUMBER})
PROGRAM_TOKENS = frozenset({SpanKind.PLACEHOLDER, SpanKind.CODE, SpanKind.IDENTIFIER, SpanKind.NUMBER})
WORDLESS = frozenset(  # stand for no word
    {SpanKind.TAG, SpanKind.EMOJI, SpanKind.SIGN, SpanKind.REFERENCE, SpanKind.EMPHASIS, SpanKind.ACCELERATOR}
    | {SpanKind.NOTE, SpanKind.BRACKET, SpanKind.QUOTE, SpanKind.SLASH, SpanKind.WRAP}
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

    @property
    def is_number(self) -> bool:
        """Whether it consists of digits: a number, a time, a code, an amount."""
        return self.kind in NUMERIC

    @property
    def is_markup(self) -> bool:
        """Whether it represents no word."""
        return self.kind in WORDLESS

    @property
    def is_blank(self) -> bool:
        """Whether it represents a blank: `&nbsp;`."""
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
    """Returns the spans of the characters from `start` to `end` of a text, as spans of these characters alone."""
    inside = (span for span in list_overlapping(spans, start, end) if start <= span.start and span.end <= end)
    return tuple(span._replace(start=span.start - start, end=span.end - start) for span in inside)


def widen_to_brackets(span: Span, text: str) -> Span:
    """Returns a masked span extended by brackets that enclose nothing else: (350 °F), [A4]."""
    start, end = span.start - 1, span.end + 1
    if (
        span.is_extracted
        or start < 0
        or text[start] + text[end - 1 : end] not in ("()", "[]")
        or not text[end:].strip()
    ):
        return span
    if start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        return span
    return span._replace(start=start, end=end, text=text[start:end])


def join_touching(spans: Iterable[Span]) -> list[Span]:
    """Joins touching masked spans, except glossary terms, into one code; spans are in order."""
    joined: list[Span] = []
    for span in spans:
        pair = (joined[-1], span) if joined and joined[-1].end == span.start else ()
        if pair and not any(other.is_extracted or other.kind is SpanKind.TERM for other in pair):
            last = joined.pop()
            span = Span(last.start, span.end, last.text + span.text, SpanKind.CODE)
        joined.append(span)
    return joined
