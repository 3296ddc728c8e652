"""Where sentences end inside a text of several, so that each is translated by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nmt_cli.inference.documents.markup import Mark, MarkedText

# A mark of the end, perhaps quotes and brackets, a blank; or a mark of scripts that put no blank after it.
END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*")
# Before a point that ends no sentence: a single letter, or a short form.
SHORT = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|[Mm]rs?|[Dd]r|[Pp]rof|[Ss]t|vs|etc|[Nn]o|[Ff]ig|e\.g|i\.e|z\.B|d\.h|bzw|ca|Nr)$"
)


def sentence_starts(text: str) -> list[int]:
    """The places at which the sentences of `text` begin; the first is 0. A sentence does not begin in lower case."""
    starts = [0]
    for found in END.finditer(text):
        following = text[found.end() : found.end() + 1]
        if following and not following.islower() and not (found[0][0] == "." and SHORT.search(text[: found.start()])):
            starts.append(found.end())
    return starts


def has_letters(text: str) -> bool:
    """Whether there is anything to translate."""
    return any(map(str.isalpha, text))


def sentences(whole: MarkedText) -> list[MarkedText]:
    """The sentences of a text with their marks; none ends inside a mark."""
    text = whole.text.rstrip()
    inside = [range(mark.start + 1, mark.end) for mark in whole.marks]
    starts = [start for start in sentence_starts(text) if not any(start in one for one in inside)]
    ends = [*starts[1:], len(text) + 1]
    found = []
    for start, end in zip(starts, ends, strict=True):
        marks = [mark for mark in whole.marks if start <= min(mark.start, len(text)) < end]
        found.append(part(text[start:end].rstrip(), start, marks))
    return found


def part(text: str, start: int, marks: Sequence[Mark]) -> MarkedText:
    """A sentence that began at `start`, with its marks counted from there and without blanks before it."""
    blanks = len(text) - len(text.lstrip())

    def place(position: int) -> int:
        return min(max(position - start - blanks, 0), len(text) - blanks)

    def moved(mark: Mark) -> Mark:
        fixed = mark.fixed
        if mark.is_point and fixed is not None:  # the blanks between it and the words were cut off
            fixed = " " * (mark.start > start + len(text)) + fixed + " " * (mark.start < start + blanks)
        return replace(mark, start=place(mark.start), end=place(mark.end), fixed=fixed)

    return MarkedText(text[blanks:], tuple(map(moved, marks)))
