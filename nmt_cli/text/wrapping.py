"""Formats text for a terminal or a notebook: measures and wraps it, counts nouns, shows control characters.

`format_count(2000, "epoch")` is `2,000 epochs`; `escape_controls` writes the escape before a colour as `\\x1b`. Imports
only the standard library, since `nmt --help` and errors need it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import IO, cast

from nmt_cli.text.characters import DIRECTION_MARKS

# Patterns as text: compiled at their first use.
# A command is copied as it stands: between backticks, or to the end of a line of its own or after a colon.
BEFORE_SHELL_LINE = r"(?:(?<=: )|(?<=  )|^ *)"
# Prose goes on behind a mark that no quotes enclose.
COMMAND_WORDS = r"""(?: (?:"[^"]*"|'[^']*'|(?!(?<!\.)[.,;] )[^"'])*)?"""
SHELL_LINE = (
    rf"{BEFORE_SHELL_LINE}(?:echo .+ \| )?"
    rf"(?:nmt (?:prepare|train|translate|evaluate|visualize)|pip|pipx|uv){COMMAND_WORDS}$"
)
LINE_GOES_ON = " \\"  # ends a line of a command that goes on in the next
# With the blanks before it, what a line of prose or of a command does not break: a word, a command between backticks, a
# text in quotation marks, an option with its value, a default.
WITH_VALUE = r"(?:(?:--?[a-z][\w-]*|\[default:) (?!-))?"
RUNS = rf"( *)(`[^`]+`[^ ]*|{WITH_VALUE}[^ ]+)"
PARTS = rf"""( *)((?:(?:\| )?nmt |{WITH_VALUE})(?:"[^"]*"|'[^']*'|[^ ])+)"""
CHOICE_ENDS = r"(?<=\|)|(?<=/)(?=--)|(?<= )"  # where even such a run breaks if it is wider than the line
SMALLEST_TEXT = 16  # columns that an indent leaves to the text, however narrow the terminal


def is_wide(character: str) -> bool:
    """Whether a terminal gives the character two columns."""
    return unicodedata.east_asian_width(character) in ("W", "F")


def is_zero_width(character: str) -> bool:
    """Whether the character is drawn onto the previous one, or not at all."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def count_columns(text: str) -> int:
    """Counts the terminal columns of `text`: 2 for wide East Asian characters, 0 for combining marks."""
    if text.isascii():
        return len(text)
    return sum(0 if is_zero_width(character) else 1 + is_wide(character) for character in text)


def wrap_text(text: str, width: int, *, hang: int | None = None) -> list[str]:
    """Wraps each line of `text` at spaces to at most `width` columns, unless a single word is wider.

    Spaces inside a line are kept. Continuation lines are indented by `hang` columns, by default two more than the first
    line. A choice such as `a|b|c` or `--x/--no-x` may also break after a bar or a slash.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        indent = count_indent(line) + 2 if hang is None else hang
        lines += wrap_line(line.rstrip(), width, min(indent, max(0, width - SMALLEST_TEXT)))
    return lines


def count_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def wrap_line(line: str, width: int, hang: int) -> list[str]:
    if count_columns(line) <= width:
        return [line]
    command = re.search(SHELL_LINE, line)
    if command:
        before = line[: command.start()].rstrip(" ")
        return (wrap_line(before, width, hang) if before else []) + wrap_command(command[0], width, hang)
    lines, current = [], ""
    for blanks, word in re.findall(RUNS, line):
        for gap, part in split_choices(blanks, word, width - hang):
            if current.strip() and count_columns(current + gap + part) > width:
                lines.append(current.rstrip())
                current = " " * hang + part
            else:
                current += gap + part
    return [*lines, current]


def wrap_command(command: str, width: int, hang: int) -> list[str]:
    """Wraps a command so that a shell reads its lines as one: each but the last ends with a backslash."""
    line = command if command.startswith(" ") else " " * hang + command
    hang = count_indent(line)
    if count_columns(line) <= width:
        return [line]
    room = width - hang - 2 - len(LINE_GOES_ON)
    first, *rest = [part for run in re.findall(PARTS, line) for part in split_choices(run[0], run[1], room)]
    lines = ["".join(first)]
    for blanks, word in rest:
        if count_columns(lines[-1] + blanks + word) > width - len(LINE_GOES_ON):
            lines.append(" " * (hang + 2) + word)
        else:
            lines[-1] += blanks + word
    return [*(line.rstrip() + LINE_GOES_ON for line in lines[:-1]), lines[-1]]


def split_choices(blanks: str, word: str, width: int) -> list[tuple[str, str]]:
    """Returns the word with its preceding spaces, split after each bar or flag if it does not fit on a line."""
    if count_columns(word) <= width:
        return [(blanks, word)]
    parts = re.split(CHOICE_ENDS, word)
    return [(blanks if index == 0 else "", part) for index, part in enumerate(parts)]


def join_first(texts: Iterable[str], most: int = 3) -> str:
    """Joins the first distinct texts with commas, and adds "..." if there are more."""
    distinct = list(dict.fromkeys(texts))
    return ", ".join(distinct[:most]) + (" ..." if len(distinct) > most else "")


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Returns a counted noun: "1 epoch", "2,000 epochs"; `plural` overrides the noun plus s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def shorten_text(text: str, most: int) -> str:
    """Returns `text`, or its first `most` characters and an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}…"


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
    r"""Returns `text` as one readable line, in which text by others cannot control the terminal or begin a line.

    Line ends become `\n`, and characters that change the direction of text become their codes, such as `\u202e`.
    """
    line = escape_controls(text).replace("\n", "\\n")
    return re.sub(TURNS, lambda match: f"\\u{ord(match[0]):04x}", line)


class TerminalOutput:
    """A stream to a terminal that shows the control characters of a text instead of passing them on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.flush, self.isatty = stream.flush, stream.isatty

    def write(self, data: bytes) -> int:
        lines = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        return self.stream.write(escape_controls(lines).encode("utf-8", "backslashreplace"))


def protect_terminal(stream: IO[bytes]) -> IO[bytes]:
    """Returns the stream itself or, for a terminal, one that escapes control characters."""
    return cast(IO[bytes], TerminalOutput(stream)) if stream.isatty() else stream


def render_rows(rows: Iterable[Sequence[str]]) -> str:
    """Returns an HTML table; the first cell of each row is its heading."""
    from html import escape  # which only a notebook needs

    lines = (
        f"<tr><th>{escape(heading)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for heading, *cells in rows
    )
    return f"<table>{''.join(lines)}</table>"
