"""Protected spans: parts of a text that a translation must contain unchanged, byte for byte.

There are two ways through a network. A *masked* span stands for a word (an address, a number, `{name}`): a placeholder
takes its place, which the network has learned to carry over. An *extracted* span (markup, emoji) stands for no word and
would only disturb the network: it is taken out of the text and put back by attention. Knows no networks and no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from nmt_cli.text.characters import FINAL_MARKS, PAUSES

# Every span but a number contains one of these; most sentences contain none, and a search for them alone is fast.
TRIGGER = re.compile(
    r"[@%{<&~$`⟦©®¼-¾₀-₉\u203c\u2049\u20e3\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
    r"|://|mailto:|www\.|\w\.[a-z]|[:;=]['-]?[DPpOo3|/\\*()\[\]]|[xX]D|\^_?\^"
)
DIGIT = re.compile(r"\d")  # which every number contains
INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())
BLANK_ENTITIES = frozenset("&nbsp; &#160; &#xa0; &#xA0; &ensp; &emsp; &thinsp; &#8239;".split())
COVERS = "\ufffb\ufffc"  # stand in turn for the characters of a span while a line is searched or cut
TRADE_MARKS = ("®", "™", "℠")
EMOJI_COVER = "\ufffa"  # stands for those of an emoji
BRACKETS = {"(": ")", "[": "]", "{": "}"}
TAG_PATTERN = r"(?s)<(/?)([A-Za-z][\w:.-]*)[^>]*?(/?)>$"


class Span(NamedTuple):
    """The characters from `start` to `end` of a line, and the text that replaces them in its translation."""

    start: int
    end: int
    text: str
    is_extracted: bool
    is_markup: bool = False  # markup or an emoji, which stands for no word
    is_number: bool = False  # digits: a number, a date, a code, an amount
    is_choice: bool = False  # a message of ICU, with texts to choose from
    is_foreign: bool = False  # words of a script that the model does not know
    is_name: bool = False  # a word that training never had, taken for a name
    closes: bool | None = None  # whether it is the second mark of a pair such as *very*; None for any other span

    @property
    def tag(self) -> Tag | None:
        """What the span opens or closes, if it is one tag of a pair."""
        if self.closes is not None:
            return Tag(BRACKETS.get(self.text, self.text), self.closes)
        return parse_tag(self.text) if self.is_markup else None

    @property
    def divides(self) -> bool:
        """Whether the texts before and after the span are separate words even without a space."""
        match = re.match(TAG_PATTERN, self.text)
        return self.closes is None and (match is None or match[2].lower() not in INLINE_TAGS)

    @property
    def is_blank(self) -> bool:
        """Whether the span stands for a blank: `&nbsp;`."""
        return self.text in BLANK_ENTITIES

    @property
    def is_emoji(self) -> bool:
        """Whether the span is a pictograph, not a tag or a reference."""
        return self.is_markup and self.closes is None and self.text[0] not in "<&_/" and self.text not in TRADE_MARKS

    @property
    def was_lost(self) -> bool:
        """Whether the span is a bracket or a stroke, which the network reads and writes itself unless it loses them."""
        return self.is_stroke or (self.is_markup and self.text in "()[]{}")

    @property
    def is_stroke(self) -> bool:
        """Whether the span is the stroke between two words."""
        return self.is_markup and self.text == "/"

    @property
    def is_accelerator(self) -> bool:
        """Whether the span is the sign before the letter that opens an entry of a menu: `_File`, `&Open`."""
        return self.is_markup and self.closes is None and self.text in ("&", "_")

    @property
    def is_block_tag(self) -> bool:
        """Whether the span is a tag that parts sentences: a break, a paragraph, an item of a list."""
        return self.is_markup and self.text[0] == "<" and self.divides and re.match(TAG_PATTERN, self.text) is not None


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
    spans: list[Span] = []
    if TRIGGER.search(text):
        from nmt_cli.carrying.span_patterns import compile_span_pattern  # which few lines need

        spans = [make_span(match) for match in compile_span_pattern().finditer(text)]
    if DIGIT.search(text):
        spans = sorted([*spans, *find_numbers(text, spans)])
    if "(" in text or "[" in text:
        spans = [take_brackets(span, text) for span in spans]
    return join_touching(spans) if len(spans) > 1 else spans


def find_numbers(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yields the numbers that are carried over unchanged, outside the `spans`."""
    from nmt_cli.carrying.span_patterns import compile_number_pattern  # which few lines need

    for match in compile_number_pattern().finditer(cover_spans(text, spans)):
        yield Span(*match.span(), match[0], is_extracted=False, is_number=True)


def cover_spans(text: str, spans: Sequence[Span]) -> str:
    """Returns `text` with covers for the characters of its spans."""
    if not spans:
        return text
    characters = list(text)
    for number, span in enumerate(spans):
        cover = EMOJI_COVER if span.is_emoji else COVERS[number % 2]
        characters[span.start : span.end] = cover * (span.end - span.start)
    return "".join(characters)


def make_span(match: re.Match[str]) -> Span:
    """Returns the span that a match of the pattern is."""
    from nmt_cli.carrying.references import REFERENCE, stands_for_word  # which few lines need

    kind, start, end = match.lastgroup, *match.span()
    if kind == "address":
        end = start + len(trim_address(match[0]))
    is_markup = kind == "extracted" or (REFERENCE.fullmatch(match[0]) is not None and not stands_for_word(match[0]))
    content = match[0][: end - start]
    return Span(start, end, content, is_markup, is_markup, is_choice=kind == "choice")


def take_brackets(span: Span, text: str) -> Span:
    """Returns a masked span with the brackets that stand around it alone: (350 °F), [A4]."""
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
    """Returns spans, which are in order, with masked ones that touch as one."""
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].end == span.start and not joined[-1].is_extracted and not span.is_extracted:
            last = joined.pop()
            span = Span(last.start, span.end, last.text + span.text, is_extracted=False)
        joined.append(span)
    return joined


def trim_address(address: str) -> str:
    """Returns an address without the sentence's punctuation at its end and without the bracket that closes around it.

    >>> trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).")
    'https://en.wikipedia.org/wiki/Hund_(dog)'
    """
    while address:
        last = address[-1]
        opening = {")": "(", "]": "[", "}": "{"}.get(last)
        unbalanced = opening is not None and address.count(opening) < address.count(last)
        if not (unbalanced or last in f"{FINAL_MARKS}{PAUSES}'*_~"):
            break
        address = address[:-1]
    return address
