"""Makes text of others fit to be printed: control characters are shown, not obeyed. Must stay light: errors need it."""

from __future__ import annotations

import re

# All of C0 but tab and line end, DEL, and C1, which some terminals obey too: they would set the title, move the cursor
# or write to the clipboard.
CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # as text: compiled at its first use


def escape_controls(text: str) -> str:
    """Returns `text` with every control character but tab and line end as its number, as in `\\x1b`."""
    return re.sub(CONTROLS, lambda match: f"\\x{ord(match[0]):02x}", text)


def escape_line(text: str) -> str:
    """Returns `text` as a single line: line ends are shown too."""
    return escape_controls(text).replace("\n", "\\n")
