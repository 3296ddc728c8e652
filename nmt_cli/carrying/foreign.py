"""Words in scripts the model does not know."""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind


class ForeignKind(Kind):
    """Words without a single letter that the model knows."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        if context.find_foreign_words is not None and not text.isascii():
            for start, end in context.find_foreign_words(text):
                yield self.make_span(start, text[start:end])


FOREIGN_WORDS = ForeignKind(SpanKind.FOREIGN)
