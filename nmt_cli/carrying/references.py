"""HTML character references: `&amp;`, `&#39;`. `rewriting` decodes those for letters and quotes."""

from __future__ import annotations

import re
import unicodedata

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.spans import Span, SpanKind

REFERENCE = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def stands_for_word(reference: str) -> bool:
    """Whether a reference represents a symbol read as a word (&, ©, €) rather than a blank or a mark."""
    from html import unescape  # which few texts need

    character = unescape(reference)
    return len(character) > 1 or character == "&" or unicodedata.category(character)[0] not in "PZC"


class ReferenceKind(Kind):
    """References that are kept: those read as a word get a placeholder, the others are taken out."""

    def make_span(self, start: int, text: str) -> Span:
        span = super().make_span(start, text)
        return span._replace(kind=SpanKind.SYMBOL, is_extracted=False) if stands_for_word(text) else span


REFERENCES = ReferenceKind(
    SpanKind.REFERENCE,
    form="taken out",
    patterns=(REFERENCE.pattern,),
    signs="&",
)
