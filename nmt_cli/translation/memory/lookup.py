"""Finds the translation of a text in a translation memory: of the same text, one with other numbers, or near ones.

Texts are the same if their normal forms are (Unicode, blanks, invisible marks); case and marks count. The last of
several translations wins, so that a correction at the end of a file overrules earlier lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from nmt_cli.carrying.accelerators import IN_WORD, move_to_word
from nmt_cli.carrying.numbers.number_text import NUMBER
from nmt_cli.text.characters import DIRECTION_MARKS
from nmt_cli.text.normalise import normalise
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value
from nmt_cli.text.words import has_letters
from nmt_cli.translation.memory.near import NearTexts
from nmt_cli.translation.memory.numbers import replace_numbers

if TYPE_CHECKING:
    from nmt_cli.text.profile import TextProfile
    from nmt_cli.translation.result import Origin

NUMBER_SIGN = "\0"  # stands for a number; no text has it


class RecalledTranslation(NamedTuple):
    """A translation from a memory; `origin` says whether its numbers had to be changed."""

    text: str
    origin: Origin


class SourceIndex(Protocol):
    """Sources of a memory in another order; built on first use."""

    def add(self, text: str, /) -> None: ...


Index = TypeVar("Index", bound=SourceIndex)


class TranslationMemory:
    """Translations of texts into one language. `links_words` says whether the words of both sides must be linked."""

    def __init__(self, target_language: str = "", *, links_words: bool = True) -> None:
        self.target_language = target_language
        self.links_words = links_words
        self.targets: dict[str, str] = {}  # by the normal form of their sources
        self.indexes: list[SourceIndex] = []  # that were asked for, and learn of each new source
        self.by_register: dict[str, TranslationMemory] = {}  # with the pairs of that register besides all of this one

    def __len__(self) -> int:
        return len(self.targets)

    def __bool__(self) -> bool:
        """Whether it has any pair, though they may all be of a register."""
        return bool(self.targets or any(self.by_register.values()))

    def follow_tags(self, tags: TagSet) -> TranslationMemory:
        """Returns what answers those who ask for these tags: this memory, unless some pairs are of their register."""
        return self.by_register.get(find_tag_value(tags, TagPurpose.REGISTER) or "", self)

    def add(self, source: str, target: str, register: str | None = None) -> None:
        """Adds a pair, overruling an earlier one of the same source; ignores a pair with an empty side.

        A pair of a register answers only those who ask for that.
        """
        if register is not None:
            self.open_register(register).add(source, target)
            return
        for memory in self.by_register.values():
            memory.add(source, target)
        key, target = make_memory_key(source), target.strip()
        if not (key and target):
            return
        new = {key: target}
        for sign in IN_WORD:
            if sign in key:  # as catalogues that declare their sign have their menus translated
                moved = move_to_word(key, sign, ())
                new.setdefault(moved, self.targets.get(moved, target))
        added = [source for source in new if source not in self.targets]
        self.targets |= new
        for index in self.indexes:
            for source in added:  # whenever an index is built, it has the same sources in the same order
                index.add(source)

    def update(self, other: TranslationMemory) -> None:
        """Adds all pairs of another memory, which overrule earlier ones."""
        for register in {*self.by_register, *other.by_register}:
            self.open_register(register).targets.update(other.by_register.get(register, other).targets)
        self.targets.update(other.targets)

    def open_register(self, register: str) -> TranslationMemory:
        """Returns the memory of a register, which begins with all pairs of this one."""
        if register not in self.by_register:
            memory = TranslationMemory(self.target_language, links_words=self.links_words)
            memory.targets.update(self.targets)
            self.by_register[register] = memory
        return self.by_register[register]

    def find(self, text: str, convert: Callable[[str], str] = str) -> RecalledTranslation | None:
        """Returns the translation of a text, or None.

        `convert` writes a number in the target's notation if the memory does not show it.
        """
        key = make_memory_key(text)
        target = self.targets.get(key)
        if target is not None:
            return RecalledTranslation(fit_breaks(target, text), "memory")
        template = make_template(key) if key else None
        source = None if template is None else self.templates.sources.get(template)
        if source is None:
            return None
        adapted = replace_numbers(source, self.targets[source], key, self.target_language, convert)
        return None if adapted is None else RecalledTranslation(fit_breaks(adapted, text), "memory_numbers")

    def has_text(self, text: str) -> bool:
        """Whether the memory has a translation of a text."""
        return self.find(text) is not None

    def find_near(self, text: str, most: int) -> list[str]:
        """Returns the translations of at most `most` other texts that are nearly the same, nearest first."""
        key = make_memory_key(text)
        sources = [source for source in self.near_texts.find(key) if source != key]
        return [fit_breaks(self.targets[source], text) for source in sources[:most]]

    def find_alike(self, text: str, most: int, seen: TextProfile | None) -> list[str]:
        """Returns at most `most` sources that share words with a text, the rarest first by what a model has `seen`."""
        return self.near_texts.find_alike(make_memory_key(text), most, seen)

    @cached_property
    def templates(self) -> NumberTemplates:
        return self.build_index(NumberTemplates())

    @cached_property
    def near_texts(self) -> NearTexts:
        return self.build_index(NearTexts())

    def build_index(self, index: Index) -> Index:
        """Adds all sources to an index, and from now on each new one."""
        self.indexes.append(index)
        for source in list(self.targets):  # to which another thread may add
            index.add(source)
        return index


class NumberTemplates:
    """The last source of each template with numbers."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}

    def add(self, source: str) -> None:
        template = make_template(source)
        if template is not None:
            self.sources[template] = source


def make_memory_key(text: str) -> str:
    """Returns the form in which texts are compared: normalised, and without direction marks."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # most texts, and a memory may have a million
    text = normalise(text)
    return text if text.isascii() else " ".join(re.sub(f"[{DIRECTION_MARKS}]", "", text).split())


def make_template(key: str) -> str | None:
    """Returns a text with its numbers replaced by a sign; None if it has no number, or nothing else."""
    template = NUMBER.sub(NUMBER_SIGN, key)
    return template if template != key and has_letters(template) else None


def fit_breaks(target: str, text: str) -> str:
    """Returns a translation without its line breaks, unless the text to translate has some too."""
    return target if "\n" in text.strip() else " ".join(target.split())
