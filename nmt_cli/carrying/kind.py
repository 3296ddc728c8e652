"""What a kind of span is: how it is found, how the network meets it, and how it is written in a translation."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

from nmt_cli.carrying.spans import Span, SpanKind, cover_spans


class TermFinder(Protocol):
    """What a glossary is to a kind."""

    def find_terms(self, text: str, spans: Sequence[Span]) -> Iterator[Span]: ...


class ScriptReader(Protocol):
    """What `rewriting` knows of the letters of a model."""

    def find_foreign_words(self, text: str) -> list[tuple[int, int]]: ...


class NumberWriter(Protocol):
    """How the target writes numbers."""

    def convert(self, text: str, following: str = "") -> str: ...


class Context(NamedTuple):
    """What kinds may know beside a text."""

    languages: tuple[str, str] = ("", "")  # codes of the text and of its translation
    carries: bool = True  # whether the network has learned to carry placeholders over
    in_choice: bool = False  # whether the text is one of those to choose from, in which `#` is a number
    glossary: TermFinder | None = None
    scripts: ScriptReader | None = None
    names: Callable[[str], Iterable[Span]] | None = None  # finds names and codes, with the profiles of both sides
    notation: NumberWriter | None = None  # None: numbers stay as they are


class Attempt(NamedTuple):
    """A sentence, and what a network made of it."""

    text: str  # as it stands in the source
    spans: Sequence[Span]  # of it, that are carried
    read: str  # as the network read it
    target: str  # as the network wrote it, with placeholders
    finds_place: Callable[[Span], bool]  # whether attention finds the place of a span that was taken out

    @property
    def covered(self) -> str:
        """The sentence with covers for what is carried."""
        return cover_spans(self.text, self.spans)


NO_CONTEXT = Context()
NOT_IN_SPANS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # no span contains these: control characters and line ends


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of span. `patterns` are all it looks like, unless it has a `find` of its own."""

    name: SpanKind
    form: Literal["placeholder", "taken out"] = "placeholder"  # how the network meets it
    patterns: tuple[str, ...] = ()
    signs: str = ""  # every text with such a span has one of these characters (the inside of a class of a pattern),
    cues: str = ""  # or something that this pattern finds; both are empty where there is no fast guard

    def find(self, text: str, spans: Sequence[Span], context: Context) -> Iterator[Span]:
        """Yields the spans of this kind in a text in which `spans`, of earlier kinds, are covered."""
        yield from map(self.read_match, self.pattern.finditer(text))

    def write(self, span: Span, text: str, context: Context) -> str:
        """Returns a span of a text as it is to stand in the translation."""
        return span.text

    def read_match(self, match: re.Match[str]) -> Span:
        """Returns the span that a match of one of the patterns is."""
        return self.make_span(match.start(), match[0])

    def make_span(self, start: int, text: str) -> Span:
        """Returns a span of this kind."""
        return Span(start, start + len(text), text, self.name, self.form == "taken out")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Its patterns as one, compiled at first use: compiling takes longer than translating a sentence."""
        return re.compile("|".join(self.patterns))

    @cached_property
    def guard(self) -> re.Pattern[str]:
        """Finds something in every text that has such a span."""
        return compile_guard((self,))


@dataclass(frozen=True, eq=False)
class LostKind(Kind, ABC):
    """A kind that the network writes itself, and that is carried only if the network lost it."""

    fault: Literal["numbers", "dates", "brackets"] = "numbers"  # of a translation that lost it
    remedy: str = ""  # what helps

    @abstractmethod
    def find_lost(self, attempt: Attempt, context: Context) -> list[Span]:
        """Returns the spans to carry in a second search; none if nothing was lost."""


def compile_guard(kinds: Sequence[Kind]) -> re.Pattern[str]:
    """Returns a pattern that finds something in every text that has a span of one of the kinds."""
    signs = "".join(kind.signs for kind in kinds)
    cues = [kind.cues for kind in kinds if kind.cues]
    return re.compile("|".join([f"[{signs}]"] * bool(signs) + cues))
