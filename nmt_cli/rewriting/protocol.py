"""The interface of rewrites, which simplify a source text and undo the change in its translation.

`Entities` reads `caf&eacute;` as `café`, and uses the memo `{"é": "&eacute;"}` to restore the entity in the
translation. This module does not depend on any rewrite.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import Link


class ModelText(NamedTuple):
    """A model's knowledge of its training text."""

    source: TextProfile
    target: TextProfile
    languages: tuple[str, str]  # codes of source and target
    lowercase: bool  # whether it reads and writes everything in lower case


class TextContext(NamedTuple):
    """The facts about a text's surroundings that a rewrite may use."""

    begins_sentence: bool = True  # whether its first word begins a sentence
    has_capitals: bool = False  # whether the line that it is a part of has capitals
    offsets: tuple[int, ...] = ()  # where spans were taken out of it
    is_report: bool = False  # whether it says who spoke the quotation before it


class Written(NamedTuple):
    """The facts about a translation that a rewrite may use."""

    spans: Sequence[str] = ()  # the texts in it that must not change
    find_links: Callable[[], Sequence[Link]] = tuple  # from words of the text that was read to its words

    @property
    def span_pattern(self) -> str:
        """The pattern of the texts that must not change, the longest first; empty if there are none."""
        return "|".join(re.escape(text) for text in sorted(set(self.spans), key=len, reverse=True) if text)


class Rewrite(ABC):
    """A change to source text that would mislead the network."""

    scope: ClassVar[Literal["line", "sentence"]] = "sentence"

    @classmethod
    @abstractmethod
    def from_model(cls, model: ModelText) -> Self | None:
        """Returns the rewrite for a model; None if the model needs none."""

    @abstractmethod
    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, Any] | None:
        """Returns the text that the network should read and a memo of the changes; None if nothing changes."""

    def write(self, translation: str, memo: Any, written: Written) -> str:
        """Undoes the changes of the source in its translation; by default, does nothing."""
        return translation

    def keep(self, source: str, translation: str) -> str:
        """Restores features of the source in a translation, even if the rewrite changed nothing; by default, none."""
        return translation
