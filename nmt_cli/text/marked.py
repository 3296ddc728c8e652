"""A text of a document that knows which of its characters stand between marks, or in a run of another form."""

from __future__ import annotations

from collections.abc import Iterable


class MarkedText(str):
    """A text, equal to any other of the same characters; `enclosed` are the ranges between marks, in characters.

    It is a string, so that it goes wherever a text goes: to other processes, in parts and in groups.
    """

    enclosed: tuple[range, ...]

    def __new__(cls, text: str, enclosed: Iterable[range] = ()) -> MarkedText:
        marked = super().__new__(cls, text)
        marked.enclosed = tuple(enclosed)
        return marked
