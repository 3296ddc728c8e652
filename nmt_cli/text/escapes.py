"""Makes foreign text safe to print: control characters are shown, not obeyed. Must stay light: errors need it."""

from __future__ import annotations

import re
from typing import IO, cast

from nmt_cli.text.characters import DIRECTION_MARKS

# All of C0 but tab and line end, DEL, and C1, which some terminals obey too: they would set the title, move the cursor
# or write to the clipboard.
CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # as text: compiled at its first use
# Line ends of Unicode, and marks that turn the direction of what follows, so that a name may be read as another.
TURNS = rf"[\u2028\u2029{DIRECTION_MARKS}]"
SURROGATES = "[\ud800-\udfff]"  # as text, too


def replace_surrogates(text: str) -> str:
    """Returns `text` with U+FFFD for each half of a character, which JSON can escape but UTF-8 cannot encode."""
    return text if text.isascii() else re.sub(SURROGATES, "\ufffd", text)


def escape_controls(text: str) -> str:
    r"""Returns `text` with every control character except tab and line end as its code, such as `\x1b`."""
    return re.sub(CONTROLS, lambda match: f"\\x{ord(match[0]):02x}", text)


def escape_line(text: str) -> str:
    r"""Returns `text` as a single line that a person can read: what it shows of others neither acts nor begins a line.

    Line ends become `\n`, and marks that turn the direction of what follows their codes, such as `\u202e`, too.
    """
    line = escape_controls(text).replace("\n", "\\n")
    return re.sub(TURNS, lambda match: f"\\u{ord(match[0]):04x}", line)


class TerminalOutput:
    """A stream to a terminal, which shows the control characters of a text and does not obey them."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.flush, self.isatty = stream.flush, stream.isatty

    def write(self, data: bytes) -> int:
        lines = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        return self.stream.write(escape_controls(lines).encode("utf-8", "backslashreplace"))


def protect_terminal(stream: IO[bytes]) -> IO[bytes]:
    """Returns the stream itself, or for a terminal, one that escapes what is written to it."""
    return cast(IO[bytes], TerminalOutput(stream)) if stream.isatty() else stream
