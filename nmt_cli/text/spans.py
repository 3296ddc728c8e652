"""Protected spans: parts of a text that a translation must contain unchanged, byte for byte.

There are two ways through a network. A *masked* span stands for a word (an address, an amount, `{name}`): a placeholder
takes its place, which the network has learned to carry over. An *extracted* span (markup, emoji) stands for no word and
would only disturb the network: it is taken out of the text and put back by attention. Knows no networks and no files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from nmt_cli.text.span_patterns import TRIGGER, compile_span_pattern

INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())
TAG_PATTERN = r"(?s)<(/?)([A-Za-z][\w:.-]*)[^>]*?(/?)>$"


class Span(NamedTuple):
    """The characters from `start` to `end` of a line, and the text that replaces them in its translation."""

    start: int
    end: int
    text: str
    is_extracted: bool
    is_markup: bool = False  # markup or an emoji, which stands for no word

    @property
    def tag(self) -> Tag | None:
        """What the span opens or closes, if it is one tag of a pair."""
        return parse_tag(self.text) if self.is_markup else None

    @property
    def divides(self) -> bool:
        """Whether the texts before and after the span are separate words even without a space."""
        match = re.match(TAG_PATTERN, self.text)
        return match is None or match[2].lower() not in INLINE_TAGS


class Tag(NamedTuple):
    """An opening or closing tag, such as `<b>` and `</b>`."""

    name: str
    closes: bool


@lru_cache(maxsize=1 << 12)
def parse_tag(markup: str) -> Tag | None:
    """Returns the tag that `markup` is; None if it is no tag or a tag without a partner.

    Cached, since nested tags ask for the same ones over and over.
    """
    match = re.match(TAG_PATTERN, markup)
    if match is None or match[3] or match[2].lower() in EMPTY_TAGS:
        return None
    return Tag(match[2], closes=bool(match[1]))


def find_spans(text: str) -> list[Span]:
    """Returns the protected spans of a line, in order. They do not overlap, and no two masked ones touch."""
    if not TRIGGER.search(text):
        return []
    spans: list[Span] = []
    for match in compile_span_pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup == "address":
            end = start + len(trim_address(match[0]))
        is_markup = match.lastgroup == "extracted"
        append_span(spans, Span(start, end, text[start:end], is_extracted=is_markup, is_markup=is_markup))
    return spans


def append_span(spans: list[Span], span: Span) -> None:
    """Appends `span`, merged with the last span if both are masked and touch."""
    if spans and spans[-1].end == span.start and not spans[-1].is_extracted and not span.is_extracted:
        last = spans.pop()
        span = Span(last.start, span.end, last.text + span.text, is_extracted=False)
    spans.append(span)


def trim_address(address: str) -> str:
    """Returns an address without the sentence's punctuation at its end and without the bracket that closes around it.

    >>> trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).")
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
