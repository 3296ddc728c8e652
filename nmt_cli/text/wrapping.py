"""Fits text to terminal columns: text width, wrapping at words, counted nouns.

Imports only the standard library, since `nmt --help` needs it.
"""

from __future__ import annotations

import re
import unicodedata

# Patterns as text: compiled at their first use.
RUNS = r"( *)([^ ]+)"  # a word with the blanks before it
CHOICE_ENDS = r"(?<=\|)|(?<=/)(?=--)"
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
    """Wraps each line of `text` at blanks to at most `width` columns, unless a single word is wider.

    Blanks inside a line are kept. Continuation lines are indented by `hang` columns; None: two more than the first. A
    choice such as `a|b|c` or `--x/--no-x` may also break after a bar or a slash.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" ")) + 2 if hang is None else hang
        lines += wrap_line(line.rstrip(), width, min(indent, max(0, width - SMALLEST_TEXT)))
    return lines


def wrap_line(line: str, width: int, hang: int) -> list[str]:
    if count_columns(line) <= width:
        return [line]
    lines, current = [], ""
    for blanks, word in re.findall(RUNS, line):
        for gap, part in split_choices(blanks, word, width - hang):
            if current.strip() and count_columns(current + gap + part) > width:
                lines.append(current)
                current = " " * hang + part
            else:
                current += gap + part
    return [*lines, current]


def split_choices(blanks: str, word: str, width: int) -> list[tuple[str, str]]:
    """Returns the word with its preceding blanks, split after each bar or flag if it does not fit on a line."""
    if count_columns(word) <= width:
        return [(blanks, word)]
    parts = re.split(CHOICE_ENDS, word)
    return [(blanks if index == 0 else "", part) for index, part in enumerate(parts)]


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Returns a counted noun: "1 epoch", "2,000 epochs"; `plural` overrides the noun plus s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def shorten_text(text: str, most: int) -> str:
    """Returns `text`, or its first `most` characters and an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}…"
