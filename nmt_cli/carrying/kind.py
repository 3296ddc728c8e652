"""The interface of a kind of span: how it is found, presented to the network, and written in a translation."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from nmt_cli.carrying.spans import Pair, Span, SpanKind, cover_spans

WordTest = Callable[[str], bool]  # whether training had a word


class Context(NamedTuple):
    """The facts beyond the text that kinds may use; without a function, kinds find nothing that only it knows."""

    languages: tuple[str, str] = ("", "")  # codes of the text and of its translation
    carries: bool = True  # whether the network has learned to carry placeholders over
    in_choice: bool = False  # whether the text is one of those to choose from, in which `#` is a number
    is_word: WordTest | None = None
    find_names: Callable[[str], Iterable[Span]] | None = None  # and codes, with the profiles of both sides
    find_terms: Callable[[str], Iterable[Span]] | None = None  # of a glossary
    find_foreign_words: Callable[[str], Iterable[tuple[int, int]]] | None = None  # by the letters of the model
    find_missing_names: Callable[[str, str], Iterable[re.Match[str]]] | None = None  # of a text and its translation
    write_number: Callable[..., str] | None = None  # in the target's notation, given a number and what follows it


class Attempt(NamedTuple):
    """A sentence and the network's attempt to translate it."""

    text: str  # as it stands in the source
    spans: Sequence[Span]  # of it, that are carried
    read: str  # as the network read it
    target: str  # as the network wrote it, with placeholders
    finds_place: Callable[[Span], bool]  # whether attention finds the place of a span that was taken out

    @property
    def covered(self) -> str:
        """The sentence with carried spans covered."""
        return cover_spans(self.text, self.spans)


NO_CONTEXT = Context()
NOT_IN_SPANS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # no span contains these: control characters and line ends


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of span. Its `patterns` describe it fully, unless it overrides `find`."""

    name: SpanKind
    form: Literal["placeholder", "taken out"] = "placeholder"  # how the network meets it
    patterns: tuple[str, ...] = ()
    signs: str = ""  # every text with such a span has one of these characters (the inside of a class of a pattern),
    cues: str = ""  # or something that this pattern finds; both are empty where there is no fast guard

    def find(self, text: str, context: Context) -> Iterator[Span]:
        """Yields the spans of this kind in a text, in which those of earlier kinds are covered."""
        yield from map(self.read_match, self.pattern.finditer(text))

    def may_be_in(self, text: str, context: Context) -> bool:
        """Whether a text may have such a span: fast, since most have none."""
        return self.guard.search(text) is not None

    def write(self, span: Span, text: str, context: Context) -> str:
        """Returns the text of a span in the translation."""
        return span.text

    def read_match(self, match: re.Match[str]) -> Span:
        """Returns the span for a match of one of the patterns."""
        return self.make_span(match.start(), match[0])

    def make_span(self, start: int, text: str) -> Span:
        """Returns a span of this kind."""
        return Span(start, start + len(text), text, self.name, self.form == "taken out")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The patterns joined into one, compiled on first use: compiling takes longer than translating a sentence."""
        return re.compile("|".join(self.patterns))

    @cached_property
    def guard(self) -> re.Pattern[str]:
        """A pattern that matches in every text that has such a span."""
        return compile_guard((self,))


@dataclass(frozen=True, eq=False)
class LostKind(Kind, ABC):
    """A kind that the network writes itself, carried only if the network lost it."""

    fault: Literal["numbers", "dates", "untranslated", "brackets"] = "numbers"  # of a translation that lost it
    remedy: str = ""  # what helps

    @abstractmethod
    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        """Returns the spans to carry in a second search; empty if nothing was lost."""


class DoubtfulKind(Kind, ABC):
    """A kind that may mislead the network: it also reads the sentence without, and the likelier translation is kept."""

    @abstractmethod
    def find_doubtful(self, attempt: Attempt) -> list[Span]:
        """Returns the spans to take out in a second reading."""

    def make_pair(self, start: int, opening: str, end: int, closing: str) -> tuple[Span, Span]:
        """Returns the spans of an opening and a closing mark of this kind."""
        first, last = self.make_span(start, opening), self.make_span(end, closing)
        return first._replace(pair=Pair(closing, closes=False)), last._replace(pair=Pair(closing, closes=True))


def compile_guard(kinds: Sequence[Kind]) -> re.Pattern[str]:
    """Returns a pattern that matches in every text with a span of one of the kinds."""
    signs = "".join(kind.signs for kind in kinds)
    cues = [kind.cues for kind in kinds if kind.cues]
    return re.compile("|".join([f"[{signs}]"] * bool(signs) + cues))
