"""Elements whose content stays: `<kbd>Ctrl</kbd>`; in Markdown, between backticks."""

from __future__ import annotations

from nmt_cli.carrying.kind import NOT_IN_SPANS, Kind
from nmt_cli.carrying.spans import SpanKind

VERBATIM = "kbd|code|samp|var|pre"  # what is typed, printed or run
ELEMENT = rf"<(?:{VERBATIM})(?:\s[^<>{NOT_IN_SPANS}]{{0,200}})?>[^<>{NOT_IN_SPANS}]{{0,500}}</(?:{VERBATIM})>"
ELEMENTS = Kind(
    SpanKind.ELEMENT,
    patterns=(rf"{ELEMENT}(?: ?[+/-]? ?{ELEMENT}){{0,9}}", rf"(?<![\w`])`[^`{NOT_IN_SPANS}]{{1,100}}`(?![\w`])"),
    signs="<`",
)
