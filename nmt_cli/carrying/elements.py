"""Elements whose content is not translated: `<kbd>Ctrl</kbd>`, `<code>ls</code>`; in Markdown, between backticks."""

from __future__ import annotations

from nmt_cli.carrying.kind import BREAKS, Kind
from nmt_cli.carrying.spans import SpanKind

VERBATIM = "kbd|code|samp|var|pre"  # what is typed, printed or run
ELEMENT = rf"<(?:{VERBATIM})(?:\s[^<>{BREAKS}]{{0,200}})?>[^<>{BREAKS}]{{0,500}}</(?:{VERBATIM})>"
ELEMENTS = Kind(
    SpanKind.ELEMENT,
    patterns=(rf"{ELEMENT}(?: ?[+/-]? ?{ELEMENT}){{0,9}}", rf"(?<![\w`])`[^`{BREAKS}]{{1,100}}`(?![\w`])"),
    signs="<`",
)
