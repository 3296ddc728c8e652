"""Tags, comments and declarations: `<b>`, `<br/>`, `<!-- -->`. They represent no word."""

from __future__ import annotations

import re
from functools import lru_cache

from nmt_cli.carrying.kind import NOT_IN_SPANS, Kind
from nmt_cli.carrying.spans import Pair, Span, SpanKind

INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())
TAG_PATTERN = r"(?s)<(/?)([A-Za-z][\w:.-]*)[^>]*?(/?)>$"


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
        rf"</?[A-Za-z][\w:.-]*+(?:\s(?:[^<>\"'{NOT_IN_SPANS}]|\"[^\"{NOT_IN_SPANS}]{{0,2000}}\"|'[^'{NOT_IN_SPANS}]{{0,2000}}')*+)?/?>",
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


def is_block_tag(span: Span) -> bool:
    """Whether a span is a tag that separates sentences: a line break, a paragraph, a list item."""
    return span.kind is SpanKind.TAG and parts_words(span) and re.match(TAG_PATTERN, span.text) is not None
