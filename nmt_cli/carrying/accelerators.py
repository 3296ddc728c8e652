"""The sign before a letter of a menu: `_File`, `Save &As`, `~Edit`.

A sign stands before a letter at the beginning of a word, outside every other span. Within a word it is a part of it
(`data_type`, `R&D`, `?q=x&p=y`), unless a file declares the sign: then `E&xit` is read as `&Exit`, since in a
translation the sign precedes a word, wherever in the word it was in the source. Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind, cover_spans
from nmt_cli.carrying.tokens import is_variable
from nmt_cli.text.characters import ANY_CLOSING, END_MARKS, OPENING, PAUSES

LONGEST_LABEL = 60  # characters of a text that may be an entry of a menu
BEHIND_BLANK = rf"(?<![^\s{re.escape(OPENING)}])"
BEFORE_BLANK = rf"(?=[{re.escape(END_MARKS + PAUSES + ANY_CLOSING)}]*(?:\s|$))"
AT_WORD = rf"{BEHIND_BLANK}[&_~](?=[^\W\d_])"
# Where a declared sign may stand within a word: the word before it, and behind it. Names of programs have underscores
# between small letters, and between capitals.
SMALL_LETTERS = r"(?:(?![^\W\d_]*[A-ZÀ-Þ])[^\W\d_]+)"
IN_WORD = {
    "&": rf"(?P<before>[^\W\d_]+)(?P<sign>&)(?P<after>{SMALL_LETTERS})",
    "~": rf"(?P<before>[^\W\d_]+)(?P<sign>~)(?P<after>{SMALL_LETTERS})",
    "_": rf"(?P<before>[A-ZÀ-Þ][^\W\d_]*)(?P<sign>_)(?P<after>{SMALL_LETTERS})",
}


class AcceleratorKind(Kind):
    """The sign before a word of a text that contains only one, but not that of a variable: `&var`."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        signs = list(super().find(text, context))
        if len(signs) == 1 and text.count(signs[0].text) == 1 and not is_variable(signs[0], text, context):
            yield from signs


ACCELERATORS = AcceleratorKind(SpanKind.ACCELERATOR, form="taken out", patterns=(AT_WORD,), signs="&_~")


def move_to_word(text: str, sign: str, spans: Sequence[Span]) -> str:
    """Moves the declared `sign` of accelerators before the word of a menu or button in which it is.

    Leaves other texts alone: long ones, those with several signs, and what `spans` cover.
    """
    if sign not in IN_WORD or len(text) > LONGEST_LABEL or text.count(sign) != 1:
        return text
    word = re.search(BEHIND_BLANK + IN_WORD[sign] + BEFORE_BLANK, cover_spans(text, spans))
    return text if word is None else f"{text[: word.start()]}{sign}{word['before']}{word['after']}{text[word.end() :]}"
