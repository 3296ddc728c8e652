"""What a rewrite is: it reads a text in another form, and undoes that in the translation. Knows no rewrite."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

from nmt_cli.text.aligned import AlignedText
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import Link


class ModelText(NamedTuple):
    """What a model knows of the text it was trained on."""

    source: TextProfile
    target: TextProfile
    languages: tuple[str, str]  # codes of source and target
    lowercase: bool  # whether it reads and writes everything in lower case


class TextContext(NamedTuple):
    """What a rewrite may know of the place of a text."""

    begins_sentence: bool = True  # whether its first word begins a sentence
    has_capitals: bool = False  # whether the line that it is a part of has capitals
    offsets: tuple[int, ...] = ()  # where spans were taken out of it


class Written(NamedTuple):
    """What a rewrite may know of a translation."""

    spans: Sequence[str] = ()  # the texts in it that must not change
    find_links: Callable[[], Sequence[Link]] = tuple  # from words of the text that was read to its words


class Rewrite(ABC):
    """Something that a network should not see as it stands."""

    scope: ClassVar[Literal["line", "sentence"]] = "sentence"

    @classmethod
    @abstractmethod
    def from_model(cls, model: ModelText) -> Self | None:
        """Returns the rewrite for a model; None for one that needs none."""

    @abstractmethod
    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, Any] | None:
        """Returns a text as the network is to read it, and a memo of what was changed; None for no change."""

    def write(self, translation: str, memo: Any, written: Written) -> str:
        """Returns the translation with what was changed in its source put back; by default, nothing is."""
        return translation
