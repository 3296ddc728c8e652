"""The sign before a letter of a menu: `_File`, `Save &As`.

In a translation, the sign precedes a word, wherever in the word it was in the source. Knows only text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmt_cli.carrying.kind import Context, Kind
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.carrying.tokens import begins_variable
from nmt_cli.text.characters import OPENING

LONGEST_LABEL = 60  # characters of a text that may be an entry of a menu
AT_WORD = rf"(?<![^\s{re.escape(OPENING)}])[&_](?=[^\W\d_])"
IN_WORD = re.compile(r"(?<=[^\W\d_])([&_])(?=[^\W\d_])")


class AcceleratorKind(Kind):
    """The sign before a word of a text that contains only one, but not that of a variable: `&var`."""

    def find(self, text: str, context: Context) -> Iterator[Span]:
        signs = list(super().find(text, context))
        if len(signs) == 1 and text.count(signs[0].text) == 1 and not begins_variable(signs[0], text, context):
            yield from signs


ACCELERATORS = AcceleratorKind(SpanKind.ACCELERATOR, form="taken out", patterns=(AT_WORD,), signs="&_")


def move_to_word(text: str) -> str:
    """Moves a sign within a word of a menu or button before that word: `E&xit` becomes `&Exit`.

    Leaves other texts alone: long ones, and words in capitals such as `R&D`.
    """
    signs = list(IN_WORD.finditer(text))
    if len(text) > LONGEST_LABEL or len(signs) != 1 or text.count(signs[0][1]) > 1:
        return text
    position = signs[0].start()
    if text[position + 1].isupper() and text[position - 1].isupper():
        return text
    start = re.search(r"[^\W\d_]+$", text[:position])
    return text if start is None else text[: start.start()] + text[position] + start[0] + text[position + 1 :]
