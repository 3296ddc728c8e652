"""Readable labels for subword pieces and for texts of any script. Standard library only."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from nmt_cli.text.symbols import BLANK, JOINER
from nmt_cli.text.wrapping import count_columns, is_wide, is_zero_width

SPACE = "␣"
CONTINUES = "·"


def label_pieces(pieces: Sequence[str]) -> list[str]:
    """Returns a label for each piece: the start of a word unchanged, its continuation with a leading middle dot.

    `▁Bahn hof ?` becomes `Bahn ·hof ?`: no dot precedes punctuation, nor any piece in scripts without spaces. If pieces
    are words, `Bahnhof ￭?` becomes `Bahnhof ?`.
    """
    readable = [replace_controls(piece) for piece in pieces]
    if are_words(readable):
        return [piece.removeprefix(JOINER) or piece for piece in readable]
    return [
        piece.removeprefix(BLANK).replace(BLANK, " ") or SPACE
        if piece.startswith(BLANK) or not continues_word(before, piece)
        else CONTINUES + piece
        for before, piece in pairwise(["", *readable])
    ]


def label_rivals(pieces: Sequence[str]) -> list[str]:
    """Returns a label for each of several pieces that stand behind a word, each instead of the others."""
    behind = [] if are_words(pieces) else [f"{BLANK}a"]
    return [label_pieces([*behind, piece])[-1] for piece in pieces]


def are_words(pieces: Sequence[str]) -> bool:
    """Whether pieces are whole words: none has the mark with which the first subword begins."""
    return not any(piece.startswith(BLANK) for piece in pieces)


def continues_word(before: str, piece: str) -> bool:
    """Whether `piece` continues the word of the piece `before` it."""
    letters = before[-1:] + piece[:1]
    return len(letters) == 2 and letters.isalpha() and not any(is_wide(letter) for letter in letters)


def replace_controls(text: str) -> str:
    """Replaces each control character, which a terminal would obey instead of showing it, with U+FFFD."""
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cs") else c for c in text)


def split_graphemes(text: str) -> list[str]:
    """Splits text into characters with their combining marks: good enough for headings that are written downwards."""
    graphemes: list[str] = []
    for character in text:
        if graphemes and (is_zero_width(character) or unicodedata.category(character) == "Mc"):
            graphemes[-1] += character
        else:
            graphemes.append(character)
    return graphemes


def is_right_to_left(text: str) -> bool:
    """Whether any character belongs to a right-to-left script."""
    return any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


def isolate_text(text: str) -> str:
    """Appends a left-to-right mark to right-to-left text, so that adjacent text keeps its place."""
    return f"{text}\N{LEFT-TO-RIGHT MARK}" if is_right_to_left(text) else text


def shorten(text: str, width: int) -> str:
    """Shortens text wider than `width` terminal columns, ending it in an ellipsis."""
    if count_columns(text) <= width:
        return text
    beginning = ""
    for grapheme in split_graphemes(text):
        if count_columns(beginning + grapheme) >= width:
            break
        beginning += grapheme
    return beginning + "…"
