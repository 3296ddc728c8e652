"""The spelling of text in a document: each escape, reference and run of blanks, and what it represents.

Must not know any format: `TextSyntax` describes how a format escapes its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from nmt_cli.documents.marks.items import InlineItem, Wrapper
from nmt_cli.text.aligned import AlignedText, Edit


class TextSyntax(NamedTuple):
    """How a format escapes text."""

    escapes: re.Pattern[str]  # finds all that is not written as itself, and runs of blanks
    decode: Callable[[str], str]  # what one of these spells
    escape: Callable[[str], str]


def read_spelled_text(raw: str, syntax: TextSyntax, wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Reads a text spelled `raw` as an item of a paragraph."""
    edits = (Edit(*match.span(), syntax.decode(match[0])) for match in syntax.escapes.finditer(raw))
    return make_text(raw, edits, wrappers)


def make_text(raw: str, edits: Iterable[Edit], wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Returns a text as an item of a paragraph; `edits` turn its spelling `raw` into its characters."""
    return InlineItem("text", (raw,), AlignedText.from_text(raw).replace(edits), wrappers=tuple(wrappers))
