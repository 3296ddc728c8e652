"""The items of a paragraph: text, tags, points, code and breaks; and the spelling of its characters.

`A <b>big</b> dog` has the items `A `, an opening tag, `big`, a closing tag, ` dog`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, count, groupby, pairwise
from typing import Literal, NamedTuple, Protocol

from nmt_cli.carrying.kinds import is_amount
from nmt_cli.carrying.spans import find_partners
from nmt_cli.text.aligned import AlignedText, Edit, MarkedPart, MarkedText, find_usual_form
from nmt_cli.text.characters import STRAY_SIGNS
from nmt_cli.text.words import has_letters
from nmt_cli.translation.placement.marks import Mark, MarkForm
from nmt_cli.translation.result import Translation

# The items of a paragraph: text, opening and closing tags, points, code, and breaks between segments.
#
# Only values. Must not know any format, nor where marks go in a translation.


ItemKind = Literal["text", "open", "close", "point", "code", "cut", "break"]
FORMS: Mapping[ItemKind, MarkForm] = {
    "open": "open",
    "close": "close",
    "point": "point",
    "break": "point",
    "code": "word",
    "cut": "cut",
}

MAXIMUM_ITEMS = 3_000  # of a text: one run per letter of half a page; more would take long, and no text has as many
CODE_NAME = re.compile(r"\{[0-9]+\}")
NO_TEXT = AlignedText("", ())


class TranslatedPart(Protocol):
    """A paragraph inside an item, which is translated as well."""

    @property
    def raw(self) -> str: ...
    @property
    def texts(self) -> tuple[str, ...]: ...
    def write(self, translations: Iterator[Translation], notes: Counter[str]) -> str: ...


@dataclass(frozen=True, eq=False)
class Wrapper:
    """An element that must enclose text and can be repeated, such as a run in a word processor."""

    before: str
    after: str
    spaced_before: str = ""  # instead of `before`, where the text begins or ends with a blank; if there is such a form
    text: str = ""  # that it has in the source
    form: str = ""  # how `before` looks to a reader, if parts of it are not seen
    escape: Callable[[str], str] | None = None  # of text in it, if not that of the paragraph


@dataclass(frozen=True, eq=False)
class InlineItem:
    """A part of a paragraph. `template` is its spelling: strings, and nested paragraphs to translate."""

    kind: ItemKind
    template: tuple[str | TranslatedPart, ...]
    spelled: AlignedText = NO_TEXT  # what a text spells, aligned to how it is written
    name: str = ""  # by which an opening and a closing tag are a pair
    wrappers: tuple[Wrapper, ...] = ()  # around it, outermost first
    keeps_order: bool = False  # of a point: whether it stays behind those before it that keep their order

    @property
    def raw(self) -> str:
        """The item as spelled in the source."""
        return "".join(part if isinstance(part, str) else part.raw for part in self.template)

    @property
    def text(self) -> str:
        return self.spelled.text

    @property
    def form(self) -> str:
        """How the item's run looks; empty outside runs."""
        return self.wrappers[0].form or self.wrappers[0].before if self.wrappers else ""

    def list_spellings(self) -> list[str]:
        """Returns the spelling of each character of the text."""
        raw = self.raw
        bounds = [0, *self.spelled.origins[1:], len(raw)]
        return [raw[start:end] for start, end in pairwise(bounds)] if self.text else []


@dataclass(frozen=True, eq=False)
class ParagraphSegment:
    """The items between two breaks, whose text is translated as a whole."""

    items: Sequence[InlineItem]

    @cached_property
    def code_names(self) -> dict[int, str]:
        """The placeholder for each code item, by index: `{1}`, `{2}` ..., skipping those that the text contains."""
        used = set(CODE_NAME.findall("".join(item.text for item in self.items)))
        available = (name for number in count(1) if (name := f"{{{number}}}") not in used)
        return {index: next(available) for index, item in enumerate(self.items) if item.kind == "code"}

    @cached_property
    def starts(self) -> list[int]:
        """The position at which each item begins, and the length of the text."""
        lengths = (len(self.code_names.get(index, item.text)) for index, item in enumerate(self.items))
        return list(accumulate(lengths, initial=0))

    @cached_property
    def text(self) -> str:
        return "".join(self.code_names.get(index, item.text) for index, item in enumerate(self.items))

    @cached_property
    def spellings(self) -> list[str]:
        """The spelling of each character of the text; placeholders for code spell themselves."""
        parts = (self.code_names.get(index) or item.list_spellings() for index, item in enumerate(self.items))
        return [written for part in parts for written in part]

    @cached_property
    def is_translated(self) -> bool:
        """Whether there is anything to translate: a letter outside code, or nothing but an amount."""
        return any(has_letters(item.text) for item in self.items) or is_amount(self.text)

    @cached_property
    def is_overfull(self) -> bool:
        """Whether the segment has text but is left untranslated because it has too many marks, runs or lines."""
        room = MAXIMUM_ITEMS - len(self.items)
        return self.is_translated and (room < 0 or (len(self.text) > room and self.count_signs() > room))

    def count_signs(self) -> int:
        """Counts signs that could be marks, and spaces and signs that are spelled differently, such as line ends."""
        characters = zip(self.text, self.spellings, strict=True)
        return sum(not sign.isalnum() and (sign in STRAY_SIGNS or sign != written) for sign, written in characters)

    def list_texts(self) -> Iterator[str]:
        """Yields the text of the segment, if translated, and the texts of the paragraphs inside its items.

        A segment that is kept has an empty text.
        """
        if self.is_overfull:
            yield ""
        elif self.is_translated:
            lead = len(self.text) - len(self.text.lstrip())
            enclosed = (range(start - lead, end - lead) for start, end in self.enclosed)
            codes = {name: self.items[index].raw for index, name in self.code_names.items()}
            parts = (part._replace(start=part.start - lead, end=part.end - lead) for part in self.list_parts())
            yield MarkedText(self.text.strip(), enclosed, codes, parts)
        for part in chain.from_iterable(item.template for item in self.items):
            yield from () if isinstance(part, str) else part.texts

    @cached_property
    def runs(self) -> list[MarkedPart]:
        """The stretches of text in the same form, in order."""
        texts = [index for index, item in enumerate(self.items) if item.text]
        groups = [(form, list(group)) for form, group in groupby(texts, lambda index: self.items[index].form)]
        return [MarkedPart(self.starts[group[0]], self.starts[group[-1] + 1], form) for form, group in groups]

    @cached_property
    def unusual_runs(self) -> list[tuple[int, int]]:
        """The characters of runs whose form differs from that of most of the text."""
        usual = find_usual_form(self.runs)
        return [(run.start, run.end) for run in self.runs if run.kind != usual]

    @property
    def tagged(self) -> list[MarkedPart]:
        """The characters between each pair of marks."""
        marks, items = self.marks, [self.items[index] for index in self.marked]
        pairs = ((first, last) for first, last in find_partners([mark.pair for mark in marks]).items() if first < last)
        return [
            MarkedPart(marks[a].start, marks[b].start, items[a].raw + items[b].raw, items[a].name) for a, b in pairs
        ]

    def list_parts(self) -> list[MarkedPart]:
        """Returns the characters between each pair of marks, and all runs."""
        return [*self.tagged, *(run for run in self.runs if run.kind)]

    @property
    def enclosed(self) -> list[tuple[int, int]]:
        """The characters between each pair of marks, and those of unusual runs."""
        return [*((part.start, part.end) for part in self.tagged), *self.unusual_runs]

    @cached_property
    def marked(self) -> list[int]:
        """The indices of the items that are marks of the text."""
        return [index for index, item in enumerate(self.items) if item.kind != "text"]

    @property
    def marks(self) -> list[Mark]:
        """The marks of the text, in order."""
        ranges = list(pairwise(self.starts))
        items = ((self.items[index], ranges[index]) for index in self.marked)
        return [Mark(FORMS[item.kind], start, end, item.name, item.keeps_order) for item, (start, end) in items]


# The spelling of text in a document: each escape, reference and run of blanks, and what it represents.
#
# Must not know any format: `TextSyntax` describes how a format escapes its text.


class TextSyntax(NamedTuple):
    """How a format escapes text."""

    escapes: re.Pattern[str]  # finds all that is not written as itself, and runs of blanks
    decode: Callable[[str], str]  # what one of these spells
    escape: Callable[[str], str]


def read_spelled_text(raw: str, syntax: TextSyntax, wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Reads text spelled as `raw` into an item of a paragraph."""
    edits = (Edit(*match.span(), syntax.decode(match[0])) for match in syntax.escapes.finditer(raw))
    return make_text(raw, edits, wrappers)


def make_text(raw: str, edits: Iterable[Edit], wrappers: Sequence[Wrapper] = ()) -> InlineItem:
    """Returns text as an item of a paragraph; `edits` turn its spelling `raw` into its characters."""
    return InlineItem("text", (raw,), AlignedText.from_text(raw).replace(edits), wrappers=tuple(wrappers))
