"""ICU messages: `{count, plural, one {# file} other {#}}`.

Keywords and braces are kept; only the texts are translated. Knows only text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.spans import SpanKind

# Texts to choose from, in a message of ICU: `{count, plural, one {# file} other {# files}}`. Braces nest to depth 3.
CHOICE = (
    r"\{\s*[\w.-]{1,60}\s*,\s*(?:plural|select|selectordinal)\s*,"
    r"(?:[^{}]++|\{(?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+\})*+\}"
)
# Texts by intervals of numbers, as i18next writes them: `(0){no items};(1){one item};(2-inf){items};`
INTERVAL = r"\(\d+(?:-(?:\d+|inf))?\)\{"
INTERVALS = rf"(?:{INTERVAL}[^{{}}]*+(?:\{{[^{{}}]*+\}}[^{{}}]*+)*+\}};?\s*)+"
CHOICES = Kind(SpanKind.CHOICE, patterns=(CHOICE, INTERVALS), signs="{")
SELECTOR = re.compile(r"\s*(?:offset:\d+\s+)?(?:=\d+|[\w-]+)\s*\{")


class ChoicePart(NamedTuple):
    """A part of a choice: syntax, which is kept, or one of its texts."""

    text: str
    is_text: bool


def split_choice(choice: str) -> list[ChoicePart] | None:
    """Splits a choice into alternating syntax and texts; None if it is malformed.

    >>> [part.text for part in split_choice("{n, plural, one {# file} other {# files}}")]
    ['{n, plural, one {', '# file', '} other {', '# files', '}}']
    """
    if re.match(INTERVAL, choice):
        return split_intervals(choice)
    head = re.match(r"\{[^{},]*,[^{},]*,", choice)
    if head is None:
        return None
    parts: list[ChoicePart] = []
    syntax, position = head[0], head.end()
    while match := SELECTOR.match(choice, position):
        end = find_end(choice, match.end())
        if end is None:
            return None
        parts += [ChoicePart(syntax + match[0], False), ChoicePart(choice[match.end() : end], True)]
        syntax, position = "}", end + 1
    if not parts or choice[position:].strip() != "}":
        return None
    return [*parts, ChoicePart(syntax + choice[position:], False)]


def spell_out_choice(text: str) -> str:
    """Returns the texts of the first choice of a message, each on a line with the words around the choice.

    >>> spell_out_choice("I see {n, plural, one {# file} other {# files}}.").split("\\n")
    ['I see # file.', 'I see # files.']
    """
    choice = re.search(f"{CHOICE}|{INTERVALS}", text) if "{" in text else None
    parts = split_choice(choice[0]) if choice else None
    if choice is None or parts is None:
        return text
    before, after = text[: choice.start()], text[choice.end() :]
    return "\n".join(f"{before}{part.text}{after}" for part in parts if part.is_text)


def split_intervals(choice: str) -> list[ChoicePart]:
    """Splits texts by intervals of numbers into alternating syntax and texts.

    >>> [part.text for part in split_intervals("(0){no items};(1){one item};")]
    ['(0){', 'no items', '};(1){', 'one item', '};']
    """
    parts: list[ChoicePart] = []
    position = 0
    for match in re.finditer(INTERVAL, choice):
        end = find_end(choice, match.end())
        if end is not None:
            parts += [
                ChoicePart(choice[position : match.end()], False),
                ChoicePart(choice[match.end() : end], True),
            ]
            position = end
    return [*parts, ChoicePart(choice[position:], False)]


def find_end(text: str, start: int) -> int | None:
    """Returns the position of the brace that closes the one before `start`, or None."""
    depth = 1
    for match in re.compile("[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return None
