"""Tags, comments and declarations: `<b>`, `<br/>`, `<!-- -->`. They represent no word."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

from nmt_cli.carrying.kind import NOT_IN_SPANS, Kind
from nmt_cli.carrying.spans import Pair, Span, SpanKind

INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())
BLOCK_TAGS = frozenset(
    "address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main"
    " menu meta nav noscript object ol optgroup option p param script section select style summary table tbody td"
    " template textarea tfoot th thead title tr ul video audio canvas map"
    " para item itemizedlist listitem entry row seg tu tuv source target string text note step".split()
)
TAG_PATTERN = r"(?s)<(/?)([A-Za-z][\w:.-]*|\d{1,3})[^>]*?(/?)>$"


class TagKind(Kind):
    """Tags, each with the element that it opens or closes."""

    def make_span(self, start: int, text: str) -> Span:
        return super().make_span(start, text)._replace(pair=parse_tag(text))


TAGS = TagKind(
    SpanKind.TAG,
    form="taken out",
    patterns=(
        # Markup: a comment, a declaration, an instruction, or a tag, which may have a `>` within quotes.
        rf"<!--[^{NOT_IN_SPANS}]{{0,2000}}?-->|<[!?][A-Za-z\[][^<>{NOT_IN_SPANS}]{{0,2000}}>",
        rf"</?(?:[A-Za-z][\w:.-]*+|\d{{1,3}}+)(?:\s(?:[^<>\"'{NOT_IN_SPANS}]|\"[^\"{NOT_IN_SPANS}]{{0,2000}}\"|'[^'{NOT_IN_SPANS}]{{0,2000}}')*+)?/?>",
    ),
    signs="<",
)


@lru_cache(maxsize=1 << 12)
def parse_tag(markup: str) -> Pair | None:
    """Returns the pair that a tag opens or closes; None for anything else.

    Cached, since nested tags ask repeatedly.
    """
    match = re.match(TAG_PATTERN, markup)
    if match is None or match[3] or match[2].lower() in EMPTY_TAGS:
        return None
    return Pair(match[2], closes=bool(match[1]))


def parts_words(span: Span) -> bool:
    """Whether the texts before and after a span are separate words even without a space."""
    if span.kind is not SpanKind.TAG:
        return span.pair is None
    match = re.match(TAG_PATTERN, span.text)
    return match is None or match[2].lower() not in INLINE_TAGS


def remove_tags(text: str) -> str:
    """Returns a text as it is read: without tags, some of which part words."""
    if "<" not in text:
        return text
    return TAGS.pattern.sub(lambda tag: " " if parts_words(TAGS.read_match(tag)) else "", text).strip()


def is_block_tag(span: Span, pairs: Container[Pair]) -> bool:
    """Whether a span is a tag that parts sentences: a break, a paragraph, an item of a list.

    A tag with an unknown name does if it has no partner among the `pairs` of its line.
    """
    match = re.match(TAG_PATTERN, span.text) if span.kind is SpanKind.TAG and parts_words(span) else None
    if match is None or match[2].isdigit():
        return False
    if match[2].lower() in BLOCK_TAGS or span.pair is None:
        return match[2].lower() in BLOCK_TAGS
    return span.pair._replace(closes=not span.pair.closes) not in pairs
