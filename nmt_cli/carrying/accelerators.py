"""Accelerators of menus and buttons: the sign before the letter that opens an entry, as in `_File` and `Save &As`.

In a translation the sign stands before a word, wherever in the word it stood in the source. Knows text alone.
"""

from __future__ import annotations

import re

from nmt_cli.carrying.spans import Span, cover_spans
from nmt_cli.text.characters import OPENING

LONGEST = 60  # characters of a text that may be an entry of a menu
AT_WORD = rf"(?<![^\s{re.escape(OPENING)}])[&_](?=[^\W\d_])"
IN_WORD = re.compile(r"(?<=[^\W\d_])([&_])(?=[^\W\d_])")


def find_accelerator(text: str, spans: list[Span]) -> Span | None:
    """Returns the sign before a word of `text`; None if there is none, or if there are several."""
    covered = cover_spans(text, spans)
    signs = [(match.start(), match[0]) for match in re.finditer(AT_WORD, covered)]
    if len(signs) != 1 or covered.count(signs[0][1]) > 1:
        return None
    start, sign = signs[0]
    return Span(start, start + 1, sign, is_extracted=True, is_markup=True)


def move_to_word(text: str) -> str:
    """Returns the text of a menu or button with a sign inside a word before that word: `E&xit` becomes `&Exit`.

    What is no entry of a menu stays: long texts, and words in capitals such as `R&D`.
    """
    signs = list(IN_WORD.finditer(text))
    if len(text) > LONGEST or len(signs) != 1 or text.count(signs[0][1]) > 1:
        return text
    position = signs[0].start()
    if text[position + 1].isupper() and text[position - 1].isupper():
        return text
    start = re.search(r"[^\W\d_]+$", text[:position])
    return text if start is None else text[: start.start()] + text[position] + start[0] + text[position + 1 :]
