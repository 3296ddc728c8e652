"""Texts as they are written in a document: what each escape, reference and run of blanks spells.

Must not know any format: `TextSyntax` says how one escapes its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nmt_cli.documents.marks.items import InlineItem, Wrapper


class TextSyntax(NamedTuple):
    """How a format escapes text."""

    escapes: re.Pattern[str]  # finds all that is not written as itself, and runs of blanks
    decode: Callable[[str], str]  # what one of these spells
    escape: Callable[[str], str]


class SpelledRun:
    """Collects a text, and how its characters are written where `escape` would write them in another way."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        self.escape = escape
        self.text: list[str] = []
        self.raw: list[str] = []
        self.spellings: dict[int, str] = {}
        self.length = 0

    def add(self, text: str, written: str) -> None:
        """Adds a text that is `written` so."""
        if written != self.escape(text):
            if text == written and len(text) > 1:
                for character in text:
                    self.add(character, character)
                return
            rest = range(self.length + 1, self.length + len(text))
            self.spellings |= {self.length: written, **dict.fromkeys(rest, "")}
        self.text.append(text)
        self.raw.append(written)
        self.length += len(text)

    def make_item(self, wrappers: Sequence[Wrapper] = ()) -> InlineItem:
        return InlineItem("text", ("".join(self.raw),), "".join(self.text), self.spellings, wrappers=tuple(wrappers))


def read_text(raw: str, syntax: TextSyntax, wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Returns a text that is written `raw` as an item of a paragraph."""
    run = SpelledRun(syntax.escape)
    position = 0
    for match in syntax.escapes.finditer(raw):
        run.add(raw[position : match.start()], raw[position : match.start()])
        run.add(syntax.decode(match[0]), match[0])
        position = match.end()
    run.add(raw[position:], raw[position:])
    return run.make_item(wrappers)
