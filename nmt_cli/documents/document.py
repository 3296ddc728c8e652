"""What every format is: an iterator of units, each with the texts in it and how it reads once they are translated.

Knows no format. A format is a subclass in a file beside this one and a line in `documents/__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from nmt_cli.documents.config import DocumentConfig
from nmt_cli.errors import DataError, MissingExtraError
from nmt_cli.text.stream import decode_lines

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation


class TranslationUnit(NamedTuple):
    """A part of a document. `written` gives it with the translations of `texts` in their order, ends of lines included.

    The units of a document are written one after the other, in order, and each once.
    """

    texts: tuple[str, ...]
    written: Callable[[Sequence[Translation]], str]


class DocumentSource(NamedTuple):
    """Where a document comes from: its lines as bytes, what messages call it, and how it is to be read."""

    lines: Iterable[bytes]
    name: str
    config: DocumentConfig
    target_language: str
    split_sentences: bool = True  # of running text; else a paragraph, cue or message is a text

    def decode_lines(self, *, ends: bool = False) -> Iterator[str]:
        """The lines as text, with their ends if `ends`. Raises DataError for what is not UTF-8."""
        way_on = ", or go on with --errors replace"
        return decode_lines(self.lines, self.name, errors=self.config.errors, ends=ends, way_on=way_on)

    def refuse(self, line: int, problem: str, hint: str = "") -> NoReturn:
        """Raises DataError that names the line, counted from 1."""
        raise DataError(f"{self.name}, line {line:,}: {problem}", hint=hint)


class Document(ABC):
    """A document to be read once. `notes` counts what could not be done as it should, by what is told of it."""

    def __init__(self, source: DocumentSource) -> None:
        self.source = source
        self.notes: Counter[str] = Counter()

    @abstractmethod
    def read_units(self) -> Iterator[TranslationUnit]:
        """The units in the order in which they are written. Raises DataError naming the line that will not do."""


def keep_verbatim(text: str) -> TranslationUnit:
    """A unit in which nothing is translated."""
    return TranslationUnit((), lambda _: text)


def import_library(module: str, package: str, needed_for: str) -> Any:
    """A module of the extra `formats`. Raises MissingExtraError that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{needed_for} need the package {package}, which is not installed",
            hint='install it with: pip install "nmt-cli[formats]"',
        ) from error
