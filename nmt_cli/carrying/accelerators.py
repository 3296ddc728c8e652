"""Accelerators of menus and buttons: the sign before the letter that opens an entry, as in `_File` and `Save &As`.

In a translation the sign stands before a word, wherever in the word it stood in the source. Knows text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import OPENING

LONGEST_LABEL = 60  # characters of a text that may be an entry of a menu
AT_WORD = rf"(?<![^\s{re.escape(OPENING)}])[&_](?=[^\W\d_])"
IN_WORD = re.compile(r"(?<=[^\W\d_])([&_])(?=[^\W\d_])")


class AcceleratorKind(Kind):
    """The sign before a word of a text, if there is only one."""

    def find(self, text: str, spans: Sequence[Span], context: Context) -> Iterator[Span]:
        signs = list(super().find(text, spans, context))
        if len(signs) == 1 and text.count(signs[0].text) == 1:
            yield from signs


ACCELERATORS = AcceleratorKind(SpanKind.ACCELERATOR, form="taken out", patterns=(AT_WORD,), signs="&_")


def move_to_word(text: str) -> str:
    """Returns the text of a menu or button with a sign inside a word before that word: `E&xit` becomes `&Exit`.

    What is no entry of a menu stays: long texts, and words in capitals such as `R&D`.
    """
    signs = list(IN_WORD.finditer(text))
    if len(text) > LONGEST_LABEL or len(signs) != 1 or text.count(signs[0][1]) > 1:
        return text
    position = signs[0].start()
    if text[position + 1].isupper() and text[position - 1].isupper():
        return text
    start = re.search(r"[^\W\d_]+$", text[:position])
    return text if start is None else text[: start.start()] + text[position] + start[0] + text[position + 1 :]
