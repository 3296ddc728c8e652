"""Labels of pieces and words, their merged attention, and its colours: the same in pictures and on pages."""

from __future__ import annotations

import dataclasses
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.files import write_text
from nmt_cli.pages import read_asset, render_document
from nmt_cli.text.symbols import BLANK, JOINER, UNKNOWN_PIECE
from nmt_cli.text.words import APOSTROPHES
from nmt_cli.text.wrapping import count_columns, is_wide, is_zero_width
from nmt_cli.translation.placement.alignment import Groups, group_by_blanks, merge_attention

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.translation.result import Translation

# Readable labels for subword pieces and for texts of any script. Standard library only.


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


def spell_unknown(pieces: Sequence[str], unknown: Sequence[str]) -> list[str]:
    """Returns the pieces with the words that unknown ones stand for, in brackets, if these words are known.

    >>> spell_unknown(["the", "<unk>", "cat"], ["brindled"])
    ['the', '[brindled]', 'cat']
    """
    words = (f"[{word}]" for word in unknown)
    return [next(words, piece) if piece == UNKNOWN_PIECE else piece for piece in pieces]


def label_rivals(pieces: Sequence[str]) -> list[str]:
    """Returns a label for each of several alternative pieces after a word."""
    behind = [] if are_words(pieces) else [f"{BLANK}a"]
    return [label_pieces([*behind, piece])[-1] for piece in pieces]


def are_words(pieces: Sequence[str]) -> bool:
    """Whether pieces are whole words: none begins with the mark of a word's first subword."""
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


# The colours of attention, the same in pictures and on pages. Standard library only: pages do not need matplotlib.
#
# RAMP runs from white to navy. Its CIE lightness falls evenly, so that it works in grey and for every kind of eye.
# Between two colours it is interpolated linearly in sRGB, by matplotlib and by attention.js alike.


RAMP = (
    *("#ffffff", "#eaf2f9", "#d6e5f2", "#bfd8ea", "#a4cde1", "#8dc0dc"),
    *("#75b3d7", "#60a6d0", "#4d99c9", "#3c8bc2", "#2e7dba", "#206fb2"),
    *("#1561a8", "#0a539d", "#09478d", "#083b7b", "#08306b"),
)
DARK_PAPER = "#15171c"
DARK_RAMP = (DARK_PAPER, *reversed(RAMP[1:]))  # on a dark page the strongest weight is the lightest


# Merges the attention between subword pieces into that between words: summed over source, averaged over target pieces.
#
# Takes pieces and arrays; must not know tokenizers. Letters: T target and S source labels, L layers, H heads.


BYTE = re.compile(r"<0x([0-9A-F]{2})>$")


@dataclass(frozen=True)
class LabelledAttention:
    """A sentence, its translation and the attention between them, with labels for drawing."""

    source: tuple[str, ...]  # S labels
    target: tuple[str, ...]  # T labels
    attention: FloatArray  # (T, S), or (L, H, T, S); sums to 1 over S
    probabilities: tuple[float, ...]  # T, 0-1: that of a word is the product of its pieces'
    source_text: str
    target_text: str


def label_attention(translation: Translation, *, merge: bool, heads: FloatArray | None = None) -> LabelledAttention:
    """Returns the best translation with its attention, by words if `merge`, else by subword pieces.

    `heads` (L, H, T, S) replaces the translation's own attention.
    """
    import numpy as np  # `nmt --help` does not need it

    best = translation.hypotheses[0]
    attention = best.attention if heads is None else heads
    source, target = group_words(translation.source_pieces), group_words(best.pieces)
    source_pieces = spell_unknown(translation.source_pieces, translation.unknown)
    target_pieces = spell_unknown(best.pieces, best.unknown)
    pieces = LabelledAttention(
        source=tuple(label_pieces(source_pieces)),
        target=tuple(label_pieces(target_pieces)),
        attention=attention,
        probabilities=tuple(float(value) for value in np.exp(best.token_log_probabilities)),
        source_text=replace_controls(translation.source),
        target_text=replace_controls(best.text),
    )
    if not merge:
        return pieces
    return dataclasses.replace(
        pieces,
        source=tuple(spell_word(source_pieces, group) for group in source),
        target=tuple(spell_word(target_pieces, group) for group in target),
        attention=merge_attention(attention, source, target),
        probabilities=tuple(
            float(np.exp(sum(best.token_log_probabilities[piece] for piece in group))) for group in target
        ),
    )


def group_words(pieces: Sequence[str]) -> Groups:
    """Returns the indices of the pieces of each word, in order; punctuation around a word is a group of its own.

    In scripts without spaces each piece is a word.
    """
    return [part for group in group_by_blanks(pieces) for part in split_word(pieces, group)]


def split_word(pieces: Sequence[str], group: list[int]) -> Groups:
    """Splits the text between spaces into preceding punctuation, the word, and following punctuation.

    In scripts without spaces, splits it into its pieces. A final apostrophe counts as a letter unless one opens a
    quotation.
    """
    if any(is_wide(character) for index in group for character in pieces[index]):
        return join_blanks(pieces, group_bytes(pieces, group))
    text = "".join(strip_marks(pieces[index]) for index in group)
    letters = "" if text[:1] in APOSTROPHES else APOSTROPHES
    alphanumeric = [index for index in group if any(c.isalnum() or c in letters for c in strip_marks(pieces[index]))]
    if not alphanumeric:
        return [group]
    first, last = alphanumeric[0], alphanumeric[-1]
    before, after = [index for index in group if index < first], [index for index in group if index > last]
    word = [index for index in group if first <= index <= last]
    if not any(strip_marks(pieces[index]) for index in before):  # a space alone belongs to the word
        before, word = [], before + word
    return [part for part in (before, word, after) if part]


def strip_marks(piece: str) -> str:
    """Removes the space and joiner marks from a piece."""
    return piece.replace(BLANK, "").removeprefix(JOINER)


def group_bytes(pieces: Sequence[str], group: list[int]) -> Groups:
    """Groups consecutive byte pieces, which spell one or more characters; every other piece is a group of its own."""
    groups: Groups = []
    for are_bytes, run in groupby(group, key=lambda index: bool(BYTE.match(pieces[index]))):
        indices = list(run)
        groups += [indices] if are_bytes else [[index] for index in indices]
    return groups


def join_blanks(pieces: Sequence[str], groups: Groups) -> Groups:
    """Joins a first piece that is only a space with the group after it."""
    if len(groups) > 1 and not strip_marks(pieces[groups[0][0]]):
        return [groups[0] + groups[1], *groups[2:]]
    return groups


def spell_word(pieces: Sequence[str], group: Sequence[int]) -> str:
    """Returns the text of the pieces of a group; byte pieces are decoded to characters."""
    text = bytearray()
    for index in group:
        byte = BYTE.match(pieces[index])
        text += bytes([int(byte[1], 16)]) if byte else strip_marks(pieces[index]).encode("utf-8", "replace")
    return replace_controls(text.decode("utf-8", "replace")) or SPACE


# Renders attention as one interactive HTML page that needs no network connection.
#
# The page holds all text as JSON data, and its script shows it as text, never as markup (see attention.js). Takes the
# result of `labels.label_attention`. Letters: L layers, H heads, T target labels, S source labels.


@dataclass(frozen=True)
class PageSentence:
    """A sentence of the page, by words and by pieces, with a summary of its attention."""

    words: LabelledAttention
    pieces: LabelledAttention
    summary: str = ""
    model: str = ""  # its name, where several are compared


def write_page(sentences: Sequence[PageSentence], path: Path, *, merge: bool = True, transpose: bool = False) -> None:
    """Writes the page that `render_page` returns."""
    write_text(path, render_page(sentences, merge=merge, transpose=transpose))


def render_page(sentences: Sequence[PageSentence], *, merge: bool = True, transpose: bool = False) -> str:
    """Returns the page. It opens by words if `merge`, else by pieces, and with swapped axes if `transpose`."""
    data = {
        "merge": merge,
        "transpose": transpose,
        "ramp": RAMP,
        "darkRamp": DARK_RAMP,
        "sentences": [
            {
                "words": describe_view(sentence.words),
                "pieces": describe_view(sentence.pieces),
                "measured": sentence.summary,
                "model": sentence.model,
            }
            for sentence in sentences
        ],
    }
    title = f"Attention: {sentences[0].words.source_text}" if len(sentences) == 1 else "Attention"
    style, script = (read_asset("nmt_cli.visuals", f"attention.{kind}") for kind in ("css", "js"))
    encoded = f'<script type="application/json" id="data">{encode_data(data)}</script>'
    return render_document(
        title, [read_asset("nmt_cli.visuals", "attention.html"), encoded], style=style, script=script
    )


def describe_view(view: LabelledAttention) -> dict[str, Any]:
    """Returns one view of a sentence, by words or by pieces, in the form that attention.js reads."""
    return {
        "source": view.source,
        "target": view.target,
        "sourceText": view.source_text,
        "targetText": view.target_text,
        "probabilities": [round(value, 4) for value in view.probabilities],
        # (L, H, T, S); attention (T, S) becomes that of one layer with one head.
        "attention": (view.attention if view.attention.ndim == 4 else view.attention[None, None]).round(4).tolist(),
    }


def encode_data(value: Any) -> str:
    """Returns JSON in which an HTML parser cannot find the end of the enclosing element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(character, character) for character in text)
