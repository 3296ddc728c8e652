"""Spans of text that translation must carry over byte for byte, and text in which they are masked.

Two ways lead through a network. A span that stands for a word (an address, an amount, `{name}`) is *carried*: a
placeholder takes its place, which the network has learnt to bring over. Markup and emoji stand for no word and would
only disturb it: they are *lifted* out of the text and put back by attention. Knows nothing of networks or files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from nmt_cli.text.span_patterns import TRIGGER, whole_pattern

INLINE = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
TAG = r"(?s)<(/?)([A-Za-z][\w:.-]*)[^>]*?(/?)>$"
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())


class Span(NamedTuple):
    """What stands from `start` to `end` of a line, and what is to stand in its translation."""

    start: int
    end: int
    text: str
    is_extracted: bool
    markup: bool = False  # markup or an emoji, which stands for no word

    @property
    def tag(self) -> Tag | None:
        """What it opens or closes, if it is a tag that belongs to another."""
        return parse_tag(self.text) if self.markup else None

    @property
    def divides(self) -> bool:
        """Whether the words before and after it are two, also without a blank."""
        match = re.match(TAG, self.text)
        return match is None or match[2].lower() not in INLINE


class Tag(NamedTuple):
    name: str
    closes: bool


@lru_cache(maxsize=1 << 12)
def parse_tag(markup: str) -> Tag | None:
    """None for what is no tag, or one that has no other half; asked again and again where tags stand in each other."""
    match = re.match(TAG, markup)
    if match is None or match[3] or match[2].lower() in EMPTY_TAGS:
        return None
    return Tag(match[2], closes=bool(match[1]))


def find_spans(text: str) -> list[Span]:
    """The protected spans of a line, in order; none touches or overlaps another carried one."""
    if not TRIGGER.search(text):
        return []
    spans: list[Span] = []
    for match in whole_pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup == "address":
            end = start + len(trim_address(match[0]))
        markup = match.lastgroup == "lifted"
        add(spans, Span(start, end, text[start:end], is_extracted=markup, markup=markup))
    return spans


def add(spans: list[Span], span: Span) -> None:
    """Appends `span`, as one with the last if both are carried and touch."""
    if spans and spans[-1].end == span.start and not spans[-1].is_extracted and not span.is_extracted:
        last = spans.pop()
        span = Span(last.start, span.end, last.text + span.text, is_extracted=False)
    spans.append(span)


def trim_address(address: str) -> str:
    """An address without the punctuation of the sentence that it ends, or the bracket around it.

    >>> trimmed("https://en.wikipedia.org/wiki/Hund_(dog)).")
    'https://en.wikipedia.org/wiki/Hund_(dog)'
    """
    while address:
        last = address[-1]
        opening = {")": "(", "]": "[", "}": "{"}.get(last)
        unbalanced = opening is not None and address.count(opening) < address.count(last)
        if not (unbalanced or last in ".,;:!?'*_~"):
            break
        address = address[:-1]
    return address
