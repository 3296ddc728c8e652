"""Subword pieces as words a person can read, and how wide text is on a terminal. Standard library only."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

WORD_START = "▁"  # sentencepiece's mark of a space
SPACE = "␣"
CONTINUES = "·"


def piece_labels(pieces: Sequence[str]) -> list[str]:
    """A label for each piece: word starts as they are, the rest of a word with a leading middle dot.

    `▁Bahn hof ?` becomes `Bahn ·hof ?`: no dot before punctuation, nor in scripts that put no space between words.
    """
    readable = [printable(piece) for piece in pieces]
    return [
        piece.removeprefix(WORD_START).replace(WORD_START, " ") or SPACE
        if piece.startswith(WORD_START) or not continues(before, piece)
        else CONTINUES + piece
        for before, piece in pairwise(["", *readable])
    ]


def continues(before: str, piece: str) -> bool:
    """Whether `piece` goes on with the word that `before` has begun."""
    letters = before[-1:] + piece[:1]
    return len(letters) == 2 and letters.isalpha() and not any(is_wide(letter) for letter in letters)


def printable(text: str) -> str:
    """`text` with a replacement character for each that a terminal or a picture would obey instead of show."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)


def is_wide(character: str) -> bool:
    """Whether a terminal gives the character two columns."""
    return unicodedata.east_asian_width(character) in ("W", "F")


def cell_width(text: str) -> int:
    """Columns of a terminal that `text` takes: 2 for East Asian wide characters, 0 for marks and invisible ones."""
    return sum(0 if is_attached(character) else 1 + is_wide(character) for character in text)


def is_attached(character: str) -> bool:
    """Whether the character is drawn on the one before it, or not at all."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def graphemes(text: str) -> list[str]:
    """Characters with the marks drawn on them, near enough for a heading that is written downwards."""
    found: list[str] = []
    for character in text:
        if found and (is_attached(character) or unicodedata.category(character) == "Mc"):
            found[-1] += character
        else:
            found.append(character)
    return found


def is_right_to_left(text: str) -> bool:
    """Whether any character is of a script that runs from right to left."""
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def isolated(text: str) -> str:
    """`text`, followed by a left-to-right mark if it runs right to left: its neighbours then keep their places."""
    return f"{text}\N{LEFT-TO-RIGHT MARK}" if is_right_to_left(text) else text


def shortened(text: str, width: int) -> str:
    """`text`, cut with an ellipsis where it takes more than `width` columns of a terminal."""
    if cell_width(text) <= width:
        return text
    kept = ""
    for grapheme in graphemes(text):
        if cell_width(kept + grapheme) >= width:
            break
        kept += grapheme
    return kept + "…"
