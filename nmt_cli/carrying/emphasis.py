"""Marks of emphasis in plain text: the pairs around words in `*very*`, `_very_`, `**very**` and `~not~`.

They are what tags are in HTML: they stand for no word, and stand around the same words in the translation. Knows text
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nmt_cli.carrying.spans import Span, cover_spans

# A pair has blanks or marks outside and none inside, but within a word (*Lehrer*innen*); it is no name such as __init__
# and no run of signs.
PAIR = re.compile(
    r"(?<![\w*~\\])(?P<sign>\*{1,3}|_|~{1,2})(?=[^\s*_~])(?P<inside>(?:[^*~\n]|(?<=[^\W\d_])\*(?=[^\W\d_])){0,200}?[^\s*_~\\])(?P=sign)(?![\w*~])"
)


def find_emphasis(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yields the opening and closing mark of each pair around words, outside the `spans`."""
    for match in PAIR.finditer(cover_spans(text, spans)):
        sign, inside = match["sign"], match["inside"]
        if any(map(str.isalpha, inside)):
            for start, closes in ((match.start(), False), (match.end() - len(sign), True)):
                yield Span(start, start + len(sign), sign, is_extracted=True, is_markup=True, closes=closes)
