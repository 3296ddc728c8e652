"""Texts with extra information: the source of each character, or the characters that markup encloses.

    AlignedText.from_text("ca. 10").replace([Edit(0, 3, "about")])
    text        about 10
    origins     [0, 1, 2, 2, 2, 3, 4, 5]

Thus, after any number of edits, a statement about the edited text (a word linked by attention, a span taken out) also
holds for the text that a person wrote.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self
from unicodedata import is_normalized, normalize


class Edit(NamedTuple):
    """The replacement for the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class AlignedText(NamedTuple):
    """A text with, for each of its characters in order, the index of its source character."""

    text: str
    origins: Sequence[int]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Returns a text that is its own source."""
        return cls(text, range(len(text)))

    @classmethod
    def from_characters(cls, characters: Iterable[tuple[str, int]]) -> Self:
        """Builds a text from characters paired with their origins."""
        pairs = list(characters)
        return cls("".join(character for character, _ in pairs), [origin for _, origin in pairs])

    def replace(self, edits: Iterable[Edit]) -> AlignedText:
        """Applies edits, which are in order and do not overlap.

        The n-th character of a replacement comes from the n-th character that it replaces; surplus characters come from
        the last one, and inserted text comes from the character at its place.
        """
        parts: list[str] = []
        origins: list[int] = []
        position = 0
        for start, end, replacement in edits:
            parts += self.text[position:start], replacement
            origins += self.origins[position:start]
            last = max(start, end - 1)
            origins += (self.find_origin(min(start + number, last)) for number in range(len(replacement)))
            position = end
        if not parts:
            return self
        return AlignedText("".join(parts) + self.text[position:], [*origins, *self.origins[position:]])

    def trace(self, before: AlignedText) -> AlignedText:
        """Returns this text, an edit of `before`, aligned with the source of `before`."""
        return AlignedText(self.text, [before.find_origin(origin) for origin in self.origins])

    def compose(self) -> AlignedText:
        """Returns the text in NFC; a composed character has the origin of its first component."""
        if is_normalized("NFC", self.text):
            return self
        parts: list[tuple[str, int]] = []  # each with all the characters that NFC composes, and where it begins
        for character, origin in zip(self.text, self.origins, strict=True):
            before, start = parts[-1] if parts else ("", origin)
            if before and normalize("NFC", before + character) != normalize("NFC", before) + character:
                parts[-1] = before + character, start
            else:
                parts.append((character, origin))
        return self.from_characters((composed, start) for part, start in parts for composed in normalize("NFC", part))

    def find_origin(self, index: int) -> int:
        """Returns the source index of a character; past the end, the index after the last character's."""
        if index < len(self.origins):
            return self.origins[index]
        return self.origins[-1] + 1 if self.origins else 0

    def find_target(self, start: int, end: int) -> range:
        """Returns the characters that come from the source characters from `start` to `end`."""
        return range(bisect_left(self.origins, start), bisect_left(self.origins, end))


class MarkedPart(NamedTuple):
    """The characters [start, end) of a text that a pair of tags or a run encloses."""

    start: int
    end: int
    kind: str  # how the tags, or the beginning of the run, are spelled
    name: str = ""  # of the tags; empty for a run


def find_usual_form(parts: Iterable[MarkedPart]) -> str:
    """Returns the form whose runs have the most characters."""
    sizes: Counter[str] = Counter()
    for part in parts:
        sizes[part.kind] += 0 if part.name else part.end - part.start
    return max(sizes, key=sizes.__getitem__, default="")


class MarkedText(str):
    """A text that equals any other with the same characters; `enclosed` holds the character ranges between marks.

    `codes` maps the names that stand for code in the text to the code as the document spells it. `parts` holds all
    pairs of tags and all runs, even those that make up most of the text. `context` is what a format says beside a text
    to tell it from equal ones, such as its key; None if it says nothing. A text is a string, so that it goes wherever a
    text goes: to other processes, in parts and in groups.
    """

    enclosed: tuple[range, ...]
    codes: Mapping[str, str]
    parts: tuple[MarkedPart, ...]
    context: str | None

    def __new__(
        cls,
        text: str,
        enclosed: Iterable[range] = (),
        codes: Mapping[str, str] | None = None,
        parts: Iterable[MarkedPart] = (),
    ) -> MarkedText:
        marked = super().__new__(cls, text)
        marked.enclosed, marked.codes, marked.parts = tuple(enclosed), codes or {}, tuple(parts)
        marked.context = None
        return marked

    @classmethod
    def in_context(cls, text: str, context: str) -> MarkedText:
        """Returns a text, with its marks if it has some, in a context."""
        marked = cls(text, text.enclosed, text.codes, text.parts) if isinstance(text, MarkedText) else cls(text)
        marked.context = context
        return marked


def read_context(text: str) -> str | None:
    """Returns the context of a text; None if it has none."""
    return text.context if isinstance(text, MarkedText) else None
