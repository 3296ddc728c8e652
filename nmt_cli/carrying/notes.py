"""Note references, and what begins notes: `tea.¹`, `†Died.`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.carrying.tokens import is_variable
from nmt_cli.text.characters import ANY_CLOSING, END_MARKS, PAUSES, RAISED_DIGITS

SIGNS = "*†‡§"
MARKS = re.escape(END_MARKS + PAUSES)


class NoteKind(Kind):
    """The signs of notes, but not that of a variable: `*args`."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        yield from (span for span in super().find(text, context) if not is_variable(span, text, context))


NOTES = NoteKind(
    SpanKind.NOTE,
    form="taken out",
    patterns=(
        # Behind a word longer than a unit of measure, or behind a mark.
        rf"(?:(?<=[^\W\d_]{{3}})|(?<=[^\W\d_][{MARKS}]))[{RAISED_DIGITS}]{{1,3}}(?![\w{RAISED_DIGITS}])",
        rf"(?:(?<=[^\W\d_]{{2}})|(?<=[^\W\d_][{MARKS}]))[{SIGNS}]{{1,3}}(?=[\s{MARKS}{re.escape(ANY_CLOSING)}]|$)",
        rf"^(?:[{RAISED_DIGITS}]{{1,3}}|[{SIGNS}]{{1,3}})(?=[^\W\d_])",
    ),
    signs=f"{SIGNS}{RAISED_DIGITS}",
)
