"""Emphasis in plain text: `*very*`, `_very_`, `**very**`, `~not~`.

Like tags in HTML, they represent no word and enclose the same words in the translation. Knows only text.
"""

from __future__ import annotations

from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import COVERS, Pair, Span, SpanKind
from nmt_cli.text.words import has_letters

# A pair has blanks or marks outside and none inside, but within a word (*Lehrer*innen*); it is no name such as __init__
# and no run of signs.
PAIR = (
    r"(?<![\w*~\\])(?P<sign>\*{1,3}|_|~{1,2})(?=[^\s*_~/])(?!\.\w)"
    r"(?P<inside>(?:[^*~\n]|(?<=[^\W\d_])\*(?=[^\W\d_])){0,200}?[^\s*_~\\])(?P=sign)(?![\w*~])"
)


class EmphasisKind(Kind):
    """The opening and closing mark of each pair around words."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        for match in self.pattern.finditer(text):
            sign, inside = match["sign"], match["inside"]
            if has_letters(inside) or not frozenset(COVERS).isdisjoint(inside):
                for start, closes in ((match.start(), False), (match.end() - len(sign), True)):
                    yield self.make_span(start, sign)._replace(pair=Pair(sign, closes))


EMPHASIS = EmphasisKind(SpanKind.EMPHASIS, form="taken out", patterns=(PAIR,), signs="*_~")
