"""The items of a paragraph: text, opening and closing tags, points, code, and breaks between segments.

Values alone, and which of them belong together. Must not know any format, nor where marks go in a translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from nmt_cli.text.words import has_letters

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

ItemKind = Literal["text", "open", "close", "point", "code", "cut", "break"]


class TranslatedPart(Protocol):
    """What stands inside an item and is translated too: a paragraph."""

    @property
    def raw(self) -> str: ...
    @property
    def texts(self) -> tuple[str, ...]: ...
    def write(self, translations: Iterator[Translation], notes: Counter[str]) -> str: ...


@dataclass(frozen=True, eq=False)
class Wrapper:
    """An element in which text must stand, and which may be repeated: a run of a word processor."""

    before: str
    after: str
    spaced_before: str = ""  # instead of `before`, where the text begins or ends with a blank; if there is such a form
    text: str = ""  # that it has in the source
    escape: Callable[[str], str] | None = None  # of text in it, if not that of the paragraph


@dataclass(frozen=True, eq=False)
class InlineItem:
    """A part of a paragraph. `template` is how it is written: strings, and paragraphs that are translated too."""

    kind: ItemKind
    template: tuple[str | TranslatedPart, ...]
    text: str = ""  # of a text, what it spells
    spellings: Mapping[int, str] = field(default_factory=dict)  # of its characters that are not written as themselves
    name: str = ""  # by which an opening and a closing tag are a pair
    wrappers: tuple[Wrapper, ...] = ()  # around it, outermost first
    keeps_order: bool = False  # of a point: whether it stays behind those before it that keep their order

    @property
    def raw(self) -> str:
        """The item as it stands in the source."""
        return "".join(part if isinstance(part, str) else part.raw for part in self.template)


@dataclass(frozen=True, eq=False)
class InlineNode:
    """A point, code, or a pair of tags with what it encloses, over the characters [start, end) of a segment."""

    first: int  # index of its item, or of the opening tag
    last: int  # index of the closing tag; `first` if there is none
    start: int
    end: int
    inside: list[InlineNode] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class ParagraphSegment:
    """The items between two breaks; their text is translated as a whole."""

    items: Sequence[InlineItem]

    @cached_property
    def code_names(self) -> dict[int, str]:
        """What stands in the text for each item of code, by its index: `{1}`, `{2}` ..., or others if these occur."""
        plain = "".join(item.text for item in self.items)
        candidates = (f"{{{number}}}" for number in range(1, 1_000_000))
        available = (name for name in candidates if name not in plain)
        return {index: next(available) for index, item in enumerate(self.items) if item.kind == "code"}

    @cached_property
    def starts(self) -> list[int]:
        """The character at which each item begins, and the length of the text."""
        positions = [0]
        for index, item in enumerate(self.items):
            positions.append(positions[-1] + len(self.code_names.get(index, item.text)))
        return positions

    @cached_property
    def text(self) -> str:
        return "".join(self.code_names.get(index, item.text) for index, item in enumerate(self.items))

    @property
    def spellings(self) -> dict[int, str]:
        """How characters of the text are written, if not as themselves."""
        pairs = zip(self.starts, self.items, strict=False)
        return {start + offset: raw for start, item in pairs for offset, raw in item.spellings.items()}

    @cached_property
    def is_translated(self) -> bool:
        """Whether there is anything to translate outside code."""
        return any(has_letters(item.text) for item in self.items)

    def list_texts(self) -> Iterator[str]:
        """Yields the text of the segment, if it is translated, and those of the paragraphs inside its items."""
        if self.is_translated:
            yield self.text.strip()
        for item in self.items:
            yield from list_template_texts(item.template)

    def pair_tags(self) -> list[InlineNode]:
        """Returns the points, code and pairs of tags as a forest; a tag without a partner is a point."""
        roots: list[InlineNode] = []
        levels = [roots]
        open_tags: list[int] = []
        partners = find_partners(self.items)
        for index, item in enumerate(self.items):
            start, end = self.starts[index], self.starts[index + 1]
            if index in partners and item.kind == "open":
                last = partners[index]
                node = InlineNode(index, last, start, self.starts[last])
                levels[-1].append(node)
                levels.append(node.inside)
                open_tags.append(index)
            elif index in partners:
                levels.pop()
                open_tags.pop()
            elif item.kind != "text":
                levels[-1].append(InlineNode(index, index, start, end))
        return roots


def find_partners(items: Sequence[InlineItem]) -> dict[int, int]:
    """Returns the index of the partner of each opening and closing tag that has one; pairs are properly nested."""
    partners: dict[int, int] = {}
    open_tags: list[int] = []
    waiting: Counter[str] = Counter()
    for index, item in enumerate(items):
        if item.kind == "open":
            open_tags.append(index)
            waiting[item.name] += 1
        elif item.kind == "close" and waiting[item.name]:
            while items[open_tags[-1]].name != item.name:
                waiting[items[open_tags.pop()].name] -= 1
            opening = open_tags.pop()
            waiting[item.name] -= 1
            partners |= {opening: index, index: opening}
    return partners


def list_template_texts(template: Sequence[str | TranslatedPart]) -> Iterator[str]:
    for part in template:
        if not isinstance(part, str):
            yield from part.texts
