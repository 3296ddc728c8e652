"""Looks up a text in a translation memory: the same text, one with other numbers, or one that is nearly the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest
from itertools import islice
from math import log
from typing import NamedTuple, Protocol, TypeVar

from nmt_cli.carrying.numbers import NUMBER, make_number_key
from nmt_cli.carrying.spans import PLACEHOLDER_PATTERN
from nmt_cli.carrying.syntax import IN_WORD, move_to_word
from nmt_cli.languages.rules import find_rules
from nmt_cli.runtime.onnx_engine import OnnxEngine, open_vector_engine
from nmt_cli.search.mixing import StoredTokens
from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value
from nmt_cli.text.words import has_letters, split_words
from nmt_cli.translation.memory.marks import (
    SIGNS_OF_MARKS,
    fit_marks,
    make_bare_key,
    make_memory_key,
    make_menu_key,
    move_marks,
    name_codes,
    pair_marked,
    put_codes,
)
from nmt_cli.translation.result import MarkedPair, Origin, Rival

# Finds the texts of a translation memory that are nearly the same: that share at least 80 % of their words, in order.
#
# The share is that of difflib: the words in common, counted on both sides, of the words of both. Knows only text.


LEAST_SHARE = 0.8
LEAST_ALIKE = 1 / 3  # weight of the words of a text that an entry like it has too
LONGEST = 100  # words of a text: to compare longer ones takes the square of their length, if their words recur
MOST_COMPARED = 500  # texts; in a large memory, thousands may share a common word

# What makes a part of a text no word of a language: signs of addresses and codes, among them a dot within, and digits.
NO_LANGUAGE = re.compile(r"//|[\\@{}<>=|^`$#]|\w\.\w|\d")


class NearTexts:
    """Texts indexed by their words, ignoring case and punctuation."""

    def __init__(self) -> None:
        self.texts_by_word: dict[str, list[str]] = defaultdict(list)
        self.count = 0

    def add(self, text: str) -> None:
        words = split_words(text)
        self.count += 1
        for word in set(words) if len(words) <= LONGEST else ():
            self.texts_by_word[word].append(text)

    def find(self, text: str) -> list[str]:
        """Returns the texts that are nearly the same, nearest first; none for a long text."""
        words = split_words(text)
        if len(words) > LONGEST:
            return []
        shares = {other: compare_words(words, split_words(other)) for other in self.list_candidates(words)}
        near = [other for other, share in shares.items() if share >= LEAST_SHARE]
        return sorted(near, key=lambda other: -shares[other])

    def find_alike(self, text: str, most: int, seen: TextProfile | None) -> list[str]:
        """Returns at most `most` other texts that share at least a third of a text's words, the most similar first.

        Rarer words count for more: the weight of a word is log((texts + 1) / texts that have it), counting the texts of
        the memory and those that the model has `seen` in training. Addresses, codes and numbers do not count: two texts
        are not alike because both have "https".
        """
        count = self.count + 1 + (seen.texts if seen else 0)
        left, of_words, weights = MOST_COMPARED, dict[str, float](), defaultdict[str, float](float)
        for word in sorted(list_language_words(text), key=self.count_texts):
            texts = self.texts_by_word.get(word, [])
            of_words[word] = log(count / min(count, max(1, len(texts) + (seen.count_word(word) if seen else 0))))
            for other in islice(reversed(texts), left):
                weights[other] += of_words[word]
            left = max(0, left - len(texts))
        least = LEAST_ALIKE * sum(of_words.values())
        alike = [
            other
            for other, weight in weights.items()
            if weight >= least and sum(of_words.get(word, 0.0) for word in list_language_words(other)) >= least
        ]
        return nlargest(most, alike, key=weights.__getitem__)

    def count_texts(self, word: str) -> int:
        """Returns how many texts have a word."""
        return len(self.texts_by_word.get(word, ()))

    def list_candidates(self, words: list[str]) -> list[str]:
        """Returns the texts that have any of the rarest third of these words, as every nearly identical text must."""
        rarest = sorted(set(words), key=self.count_texts)
        some = rarest[: len(words) // 3 + 1]
        sharing = dict.fromkeys(other for word in some for other in reversed(self.texts_by_word.get(word, [])))
        return list(sharing)[:MOST_COMPARED]


def list_language_words(text: str) -> list[str]:
    """Returns the distinct words of a text, in order, except those in addresses, codes and numbers."""
    parts = PLACEHOLDER_PATTERN.sub(" ", text).split()
    return list(dict.fromkeys(split_words(" ".join(part for part in parts if not NO_LANGUAGE.search(part)))))


def compare_words(words: list[str], others: list[str]) -> float:
    """Returns the share of words in common, 0 to 1."""
    return SequenceMatcher(None, words, others, autojunk=False).ratio()


# Puts the numbers of one text into the translation of another that differs only in its numbers.
#
# Nothing is guessed: each number must occur once in both texts, with the same value, and the new number must require
# the same form of the words beside it. Knows only text.


MARK = re.compile(r"[^\d]")


def replace_numbers(
    old_source: str, old_target: str, new_source: str, language: str, convert: Callable[[str], str] = str
) -> str | None:
    """Returns the translation `old_target` of `old_source` with the numbers of `new_source`; None if that is unsafe.

    Both sources are equal except for their numbers. `convert` writes a number in the target's notation; it is called if
    the old numbers do not show that notation.
    """
    old, new = NUMBER.findall(old_source), NUMBER.findall(new_source)
    written = {make_number_key(number): number for number in NUMBER.findall(old_target)}
    keys = [make_number_key(number) for number in old]
    # 1. Each number stands once in the source, and once in the target, which has no other.
    if len(set(keys)) < len(keys) or sorted(keys) != sorted(map(make_number_key, NUMBER.findall(old_target))):
        return None
    # 2. The words beside it keep their form.
    if any(find_form(before, language) != find_form(after, language) for before, after in zip(old, new, strict=True)):
        return None
    # 3. Write each new number in the notation of the target.
    replacements = {
        key: copy_notation(before, written[key], after, convert)
        for key, before, after in zip(keys, old, new, strict=True)
    }
    return NUMBER.sub(lambda match: replacements[make_number_key(match[0])], old_target)


def copy_notation(old_source: str, old_target: str, new: str, convert: Callable[[str], str]) -> str:
    """Writes a number with the old translation's separators if both sources have the same ones; else converts it."""
    marks, old_marks, target_marks = MARK.findall(new), MARK.findall(old_source), MARK.findall(old_target)
    if not marks:
        return new
    if marks == old_marks and len(target_marks) == len(marks):
        replacing = iter(target_marks)
        return MARK.sub(lambda _: next(replacing), new)
    return convert(new)


def find_form(number: str, language: str) -> tuple[bool, ...]:
    """Returns a key shared by numbers that need the same form of a noun; in doubt, the keys differ."""
    plural = find_rules(language).plural
    if plural in ("one", "below two"):  # where 1.5 and 0 may go with the singular
        return (number == "1", plural == "below two" and number[0] in "01" and not number[1:2].isdecimal())
    if not number.isdecimal():
        return ()
    value = int(Decimal(number))  # `int` refuses thousands of digits
    tens, ones = value % 100, value % 10
    is_teen = 11 <= tens <= 19
    form = (value == 0, value == 1, ones == 0, ones == 1, 2 <= ones <= 4, is_teen, tens < 20)
    return form if plural != "dual" else (*form, value == 2, tens == 2, tens in (3, 4), 3 <= tens <= 10)


# Remembers what the network made of entries of a translation memory, so that it reads each but once.


MOST_STORED = 50_000  # that are remembered: 25 MB with vectors of 256 numbers

MemoryEntry = tuple[str, str, "TagSet"]  # a source, its translation, and the tags behind which the network reads them


class StoredEntries:
    """The stored tokens of the most recently used entries, and the engine that reads them."""

    def __init__(self, engine: OnnxEngine) -> None:
        self.engine = open_vector_engine(engine)
        self.parts: dict[MemoryEntry, list[StoredTokens]] = {}  # the oldest first
        self.size = 0

    def find(self, entry: MemoryEntry) -> list[StoredTokens] | None:
        """Returns the stored tokens of an entry, and marks it as just used; None if it is not stored."""
        parts = self.parts.pop(entry, None)
        if parts is not None:
            self.parts[entry] = parts
        return parts

    def add(self, entry: MemoryEntry, parts: list[StoredTokens]) -> None:
        """Stores an entry, and drops the oldest entries if there is no room."""
        self.parts[entry] = parts
        self.size += count_tokens(parts)
        while self.size > MOST_STORED and self.parts:
            self.size -= count_tokens(self.parts.pop(next(iter(self.parts)), []))


def count_tokens(parts: Sequence[StoredTokens]) -> int:
    return sum(len(part.tokens) for part in parts)


# Finds the translation of a text in a translation memory: of the same text, one with other numbers, or near ones.
#
# Texts are the same if their normal forms are (Unicode, blanks, invisible marks); case and marks count. The last of
# several translations wins, so that a correction at the end of a file overrules earlier lines.


MOST_CORRECTIONS = 50  # pairs of a file, each of which is meant for a text; in a larger one, most match none
NUMBER_SIGN = "\0"  # stands for a number; no text has it


class RecalledTranslation(NamedTuple):
    """A translation from a memory; `origin` says whether its numbers had to be changed."""

    source: str  # of its pair
    text: str
    origin: Origin
    marked: tuple[MarkedPair, ...] = ()  # the words between marks that a document sets aside, as its pair has them
    rivals: tuple[Rival, ...] = ()  # other translations of its source


class SourceIndex(Protocol):
    """An index of a memory's sources; built on first use."""

    def add(self, text: str, /) -> None: ...


Index = TypeVar("Index", bound=SourceIndex)


class TranslationMemory:
    """Translations of texts into one language. `links_words` says whether the words of both sides must be linked."""

    def __init__(self, target_language: str = "", *, links_words: bool = True) -> None:
        self.target_language = target_language
        self.links_words = links_words
        self.targets: dict[str, str] = {}  # by the normal form of their sources
        self.by_context: dict[str, dict[str, str]] = {}  # of sources whose files name contexts, by these
        self.marked: dict[tuple[str, str], tuple[MarkedPair, ...]] = {}  # marks that documents set aside, of both sides
        self.overruled: dict[str, dict[str, None]] = {}  # other translations in earlier files
        self.corrections: dict[str, None] = {}  # the sources in small files, each of which is meant for a text
        self.indexes: list[SourceIndex] = []  # that were asked for, and learn of each new source
        self.by_register: dict[str, TranslationMemory] = {}  # with the pairs of that register besides all of this one

    def __len__(self) -> int:
        return len(self.targets)

    def __bool__(self) -> bool:
        """Whether the memory has any pairs, even if all of them belong to a register."""
        return bool(self.targets or any(self.by_register.values()))

    def choose_register(self, tags: TagSet) -> TranslationMemory:
        """Returns the memory for requests with these tags: that of their register if it has pairs, else this one."""
        return self.by_register.get(find_tag_value(tags, TagPurpose.REGISTER) or "", self)

    def add(self, source: str, target: str, register: str | None = None, context: str | None = None) -> None:
        """Adds a pair, which overrules an earlier one with the same source; ignores a pair with an empty side.

        A pair of a register answers only requests for that register. A pair with a context overrules one in the same.
        """
        if register is not None:
            self.open_register(register).add(source, target, context=context)
            return
        for memory in self.by_register.values():
            memory.add(source, target, context=context)
        key, target = make_memory_key(source), target if isinstance(target, MarkedText) else target.strip()
        if not (key and target.strip()):
            return
        new = {key: target}
        for sign in IN_WORD:
            if sign in key:  # as catalogues that declare their sign have their menus translated
                moved = move_to_word(key, sign, ())
                new.setdefault(moved, self.targets.get(moved, target))
        added = [source for source in new if source not in self.targets]
        self.targets |= new
        for new_key in new if context is not None or self.by_context else ():
            self.add_context(new_key, context)
        if isinstance(source, MarkedText) and (marked := pair_marked(source, target)):
            self.marked[key, str(target)] = marked
        for index in self.indexes:
            for source in added:  # whenever an index is built, it has the same sources in the same order
                index.add(source)

    def add_context(self, source: str, context: str | None) -> None:
        """Remembers the context in which a source has its translation; without one, it has it in all."""
        if context is None:
            self.by_context.pop(source, None)
            return
        target, contexts = self.targets[source], self.by_context.setdefault(source, {})
        self.remember_others(source, {contexts.get(context, target)} - {target})
        contexts[context] = target

    def update(self, other: TranslationMemory) -> None:
        """Adds all pairs of another memory, which overrule earlier ones."""
        for register in {*self.by_register, *other.by_register}:
            self.open_register(register).overrule(other.by_register.get(register, other))
        self.overrule(other)

    def overrule(self, other: TranslationMemory) -> None:
        """Adds the pairs of another memory that are of no register, and remembers other translations than those."""
        keyed, shared = self.by_context.keys() | other.by_context.keys(), self.targets.keys() & other.targets.keys()
        for source in (key for key in shared if key in keyed or self.targets[key] != other.targets[key]):
            before = self.by_context.get(source, {None: self.targets[source]})
            after = other.by_context.get(source, {None: other.targets[source]})
            same = {name: text for name, text in before.items() if name in after or None in (name, *after)}
            self.remember_others(source, (text for text in same.values() if text not in after.values()))
            if None in after:
                self.by_context.pop(source, None)
        for source, contexts in other.by_context.items():
            self.by_context[source] = self.by_context.get(source, {}) | contexts
        for source, texts in other.overruled.items():
            self.remember_others(source, texts)
        self.marked |= other.marked
        self.targets |= other.targets
        self.corrections |= dict.fromkeys(other.targets) if len(other) <= MOST_CORRECTIONS else other.corrections

    def remember_others(self, source: str, others: Iterable[str]) -> None:
        """Remembers translations of a source that another one overrules."""
        if texts := dict.fromkeys(others):
            self.overruled[source] = self.overruled.get(source, {}) | texts

    def choose_target(self, source: str, context: str | None) -> str:
        """Returns the translation of a source in this context; the last of all, if none has it."""
        contexts = {} if context is None else self.by_context.get(source, {})
        return contexts.get(context or "", self.targets[source])

    def list_rivals(self, source: str, context: str | None) -> Iterator[Rival]:
        """Yields the other translations that a source has in earlier files and, if none has its context, in others."""
        contexts, target = self.by_context.get(source, {}), self.choose_target(source, context)
        others = self.overruled.get(source, {}) | dict.fromkeys(() if context in contexts else contexts.values())
        yield from (Rival(source, text, target) for text in others if text != target)

    def open_register(self, register: str) -> TranslationMemory:
        """Returns the memory of a register, which begins with all pairs of this one."""
        if register not in self.by_register:
            memory = TranslationMemory(self.target_language, links_words=self.links_words)
            memory.overrule(self)
            self.by_register[register] = memory
        return self.by_register[register]

    def find(
        self,
        text: str,
        convert: Callable[[str], str] = str,
        codes: Mapping[str, str] | None = None,
        context: str | None = None,
    ) -> RecalledTranslation | None:
        """Returns the translation of a text, preferably that in its context, or None.

        `convert` writes a number in the target's notation if the memory does not show that notation. `codes` maps the
        names in the text to the codes that they stand for.
        """
        recalled = self.search(text, convert, codes or {}, context)
        return recalled and recalled._replace(rivals=tuple(self.list_rivals(recalled.source, context)))

    def search(
        self, text: str, convert: Callable[[str], str], codes: Mapping[str, str], context: str | None
    ) -> RecalledTranslation | None:
        key = make_memory_key(text)
        if key in self.targets:
            target = self.choose_target(key, context)
            coded = self.bare_sources.sources.get(key)  # the same pair with its codes
            is_same = coded is not None and fit_marks(coded, self.targets[coded], text) == target
            marked = pair_marked(coded, self.targets[coded]) if coded is not None and is_same else None
            marked = self.marked.get((key, target), ()) if marked is None else marked
            return RecalledTranslation(key, fit_breaks(target, text), "memory", marked)
        other = self.find_other_marks(text, codes, context)
        if other is not None:
            return other
        template = make_template(key) if key else None
        source = None if template is None else self.templates.sources.get(template)
        if source is None:
            return None
        target = self.choose_target(source, context)
        adapted = replace_numbers(source, target, key, self.target_language, convert)
        if adapted is None:
            return None
        marked = move_marks(self.marked.get((source, target), ()), (source, key), (target, adapted))
        return RecalledTranslation(source, fit_breaks(adapted, text), "memory_numbers", marked)

    def find_other_marks(self, text: str, codes: Mapping[str, str], context: str | None) -> RecalledTranslation | None:
        """Returns the translation of a text that is in the memory with different markup, or None."""
        keys = map(make_bare_key, dict.fromkeys((put_codes(text, codes), text)))
        for source in (source for key in keys for source in (self.bare_sources.sources.get(key), key)):
            if source not in self.targets:
                continue
            stored = self.choose_target(source, context)
            before, target = name_codes(source, text, codes), name_codes(stored, text, codes)
            fitted = None if before is None or target is None else fit_marks(before, target, text)
            if before is not None and target is not None and fitted is not None:
                return RecalledTranslation(source, fit_breaks(fitted, text), "memory", pair_marked(before, target))
        return None

    def list_others(self, recalled: Iterable[str]) -> list[str]:
        """Returns the corrections that are not `recalled`, of those that differ in their marks alone the last."""
        known = set(map(make_menu_key, recalled))
        return list({key: text for text in self.corrections if (key := make_menu_key(text)) not in known}.values())

    def has_text(self, text: str) -> bool:
        """Whether the memory has a translation of a text."""
        return self.find(text) is not None

    def find_near(self, text: str, most: int) -> list[str]:
        """Returns the translations of at most `most` other texts that are nearly the same, nearest first."""
        key = make_memory_key(text)
        sources = [source for source in self.near_texts.find(key) if source != key]
        return [fit_breaks(self.targets[source], text) for source in sources[:most]]

    def find_alike(self, text: str, most: int, seen: TextProfile | None) -> list[str]:
        """Returns at most `most` sources like a text, the most similar first; `seen` tells which words are rare."""
        return self.near_texts.find_alike(make_memory_key(text), most, seen)

    @cached_property
    def templates(self) -> KeyedSources:
        return self.build_index(KeyedSources(make_template))

    @cached_property
    def bare_sources(self) -> KeyedSources:
        return self.build_index(
            KeyedSources(lambda source: make_bare_key(source) if SIGNS_OF_MARKS.search(source) else None)
        )

    @cached_property
    def near_texts(self) -> NearTexts:
        return self.build_index(NearTexts())

    def build_index(self, index: Index) -> Index:
        """Adds all sources to an index, which from now on also learns every new one."""
        self.indexes.append(index)
        for source in list(self.targets):  # to which another thread may add
            index.add(source)
        return index


class KeyedSources:
    """The last source for each key that `make_key` returns; sources without a key are left out."""

    def __init__(self, make_key: Callable[[str], str | None]) -> None:
        self.make_key = make_key
        self.sources: dict[str, str] = {}

    def add(self, source: str) -> None:
        if (key := self.make_key(source)) is not None:
            self.sources[key] = source


def make_template(key: str) -> str | None:
    """Returns a text with its numbers replaced by a sign; None if it has no numbers or nothing else."""
    template = NUMBER.sub(NUMBER_SIGN, key)
    return template if template != key and has_letters(template) else None


def fit_breaks(target: str, text: str) -> str:
    """Returns a translation without its line breaks, unless the text to translate has some too."""
    return target if "\n" in text.strip() else " ".join(target.split())
