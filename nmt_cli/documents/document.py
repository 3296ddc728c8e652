"""Shared by all formats: a document is read as units, each with texts and a function that writes it back.

Plain text is the simplest: each line is a unit with one text; blank lines stay blank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from nmt_cli.documents.config import DocumentOptions
from nmt_cli.errors import DataError, MissingExtraError, explain_install
from nmt_cli.formats import TEXT, FileFormat
from nmt_cli.text.streams import FileLines, are_plain, decode_lines

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import Translation


# Shared by all formats: a document is read as units, each with texts and a function that writes it back.
#
# From a document to its translation:
#
# 1. `open_document` (in `documents/__init__.py`) picks the subclass of `Document` for the format.
# 2. `Document.read_units` splits the source into units, in order. Text that is kept byte for byte makes a unit without
#    texts (`make_verbatim_unit`); all other text is separated from its markup (`documents.marks`).
# 3. `jobs.pipeline` has the texts translated and calls each unit's `write` with their translations.
# 4. `write` puts the markup back into the translations, escapes them for the format and returns the text of the unit.
# 5. The concatenated texts of all units are the translated document. If every translation equals its text, the document
#    is unchanged.
#
# Must not know any format. A format is a subclass in a neighbouring file, and a line in `documents/__init__.py`.


StringOrBytes = TypeVar("StringOrBytes", str, bytes)


class Location(NamedTuple):
    """The place of a unit in a document with chapters: a book's, the pages of an e-book, the sheets of a workbook."""

    chapter: str
    name: str = ""  # of the unit, if it has one: a verse


class Content(NamedTuple):
    """What a unit has: its texts, and the signs of the marks that no translation changes."""

    texts: tuple[str, ...]
    marks: str = ""
    spelled: str = ""  # its texts as they are written, in which a brace may be a sign of the format or of the text


class TornText(NamedTuple):
    """A text that is written as in the source, because its translation could not be read back completely."""

    number: int  # among the texts of the document, from 1
    source: str
    problem: str
    was_flagged: bool  # whether its translation failed a check


class TranslationUnit(NamedTuple):
    """A part of a document. `write` takes the translations of `texts`, in order, and returns its text with line ends.

    Units are written in order, each exactly once. A format other than UTF-8 text (an archive, a page in another
    encoding) returns bytes.
    """

    texts: Sequence[str]
    write: Callable[[Sequence[Translation]], str | bytes]
    domain: str = ""  # of the texts, as a tag that a model may know
    location: Location | None = None
    is_prose: bool = False  # whether its texts follow those of the unit before as sentences do
    begins_text: bool = False  # whether it is the first of its document or chapter
    raw: str | bytes | None = None  # how it is written in the source; None: it is not read back
    content: Content | None = None  # what its translation must hold


class DocumentSource(NamedTuple):
    """The origin of a document, and how to read it."""

    lines: Iterable[bytes]
    name: str  # in messages
    config: DocumentOptions
    target_language: str
    split_sentences: bool = True  # False: a cue or message is one text, as it stands
    source_language: str = ""  # of the model; empty if it is not known
    memory: TranslationMemory | None = None  # what it knows as a whole is not split
    kept_tags: frozenset[str] = frozenset()  # of HTML: names of elements that stay as they are, and stand for a word
    part_size: int = 0  # the lines of a text file that are one unit, which workers can read; 0: each line is one
    first: int = 1  # the number of the first line
    is_file: bool = False  # whether all lines are there, so that the first may be looked at together
    reads_back: bool = False  # whether it is a translation, of which every value is read, whatever it says

    def decode_lines(self, *, ends: bool = False) -> Iterator[str]:
        """Yields the lines as text, with their ends if `ends`. Raises DataError for invalid UTF-8."""
        way_on = ", name its encoding with --encoding, or go on with --errors replace"
        return decode_lines(
            self.lines, self.name, errors=self.config.errors, ends=ends, way_on=way_on, first=self.first
        )

    def read_text(self, maximum: int) -> str:
        """Returns the whole text, with its line ends. Raises DataError above `maximum` MiB."""
        return "".join(self.limit_size(self.decode_lines(ends=True), maximum))

    def limit_size(self, parts: Iterable[StringOrBytes], maximum: int) -> Iterator[StringOrBytes]:
        """Yields the parts of the document. Raises DataError once they exceed `maximum` MiB."""
        size = 0
        for part in parts:
            size += len(part)
            if size > maximum << 20:
                raise DataError(
                    f"{self.name} is larger than {maximum:,} MiB, and has to be held in memory as a whole",
                    hint="divide it, and translate the parts one by one",
                )
            yield part

    def refuse(self, line: int, problem: str, hint: str = "") -> NoReturn:
        """Raises DataError, naming the 1-based line."""
        raise DataError(f"{self.name}, line {line:,}: {problem}", hint=hint)


class Document(ABC):
    """A document, which can be read once. `notes` counts shortcomings by the message about them."""

    guard: WatchUnits | None = None  # reads what is written again, before it is complete
    holds_back = True  # for the guard, until the last unit; False: each unit is read by itself
    is_exact = False  # whether a text that is read back must begin and end where it was written

    format: FileFormat = TEXT
    domain = ""  # of all texts whose units have none of their own
    is_prose = False  # whether the texts without a domain are sentences of one text

    def __init__(self, source: DocumentSource) -> None:
        self.source = source
        self.notes: Counter[str] = Counter()
        self.torn: list[TornText] = []
        self.texts_written = 0

    @abstractmethod
    def read_units(self) -> Iterator[TranslationUnit]:
        """Yields the units in document order. Raises DataError, naming the invalid line."""

    def read_with_domain(self) -> Iterator[TranslationUnit]:
        """Yields the units, those without a domain in that of the document; the first of each chapter is marked."""
        begins, chapter = True, ""
        for unit in self.read_checked():
            if unit.location is not None and unit.location.chapter != chapter:
                begins, chapter = True, unit.location.chapter
            domain = unit.domain or self.domain
            is_prose = unit.is_prose or (self.is_prose and not domain)
            if (domain, is_prose) != (unit.domain, unit.is_prose) or begins:  # most units are as they should be
                unit = unit._replace(domain=domain, is_prose=is_prose, begins_text=begins or unit.begins_text)
            yield unit
            begins = False

    def read_checked(self) -> Iterator[TranslationUnit]:
        """Yields the units; what they write is read back before it is complete."""
        units = self.read_units()
        return units if self.guard is None else self.guard(self, self.reopen, units)

    def reopen(self, data: bytes) -> Iterator[TranslationUnit]:
        """Yields the units of the document as it is written. Raises DataError if it cannot be read."""
        return type(self)(self.source._replace(lines=[data], reads_back=True)).read_units()

    def is_marked(self, written: bytes) -> bool:
        """Whether a unit is marked in such a way that programs ignore its translation."""
        return False

    def report_to(self, outer: Document) -> None:
        """Shares what is noted with a document around this one."""
        self.notes, self.torn = outer.notes, outer.torn


Reopen = Callable[[bytes], Iterator[TranslationUnit]]  # reads the units of a document, or of a part, as it is written
WatchUnits = Callable[[Document, Reopen, Iterator[TranslationUnit]], Iterator[TranslationUnit]]


def make_verbatim_unit(text: str | bytes) -> TranslationUnit:
    """Returns a unit in which nothing is translated."""
    return TranslationUnit((), lambda _: text)


def import_library(module: str, package: str, needed_for: str) -> Any:
    """Imports a module of the extra `formats`. Raises MissingExtraError with the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{needed_for} need the package {package}, which is not installed",
            hint=explain_install("formats"),
        ) from error


# Plain text: each line is one text; blank lines stay blank.


def format_text(translation: Translation) -> str:
    return flatten_breaks(translation.text) + "\n"


def flatten_breaks(text: str) -> str:
    """Replaces every character that some program takes for a line end by a blank."""
    return text if text.isprintable() else " ".join(text.splitlines())


class TextDocument(Document):
    """Reads lines that end in LF or CR LF; `format_line` writes a translation followed by LF."""

    def __init__(self, source: DocumentSource, line: Callable[[Translation], str] = format_text) -> None:
        super().__init__(source)
        self.format_line = line

    def read_units(self) -> Iterator[TranslationUnit]:
        source, size = self.source, self.source.part_size
        if not (isinstance(source.lines, FileLines) and size):
            yield from self.read_lines(source)
            return
        for texts, lines in source.lines.read_parts(size):
            if are_plain(lines):
                yield TranslationUnit(texts, self.write_lines)
            else:
                yield from self.read_lines(source._replace(lines=lines, first=texts.part.first))

    def read_lines(self, source: DocumentSource) -> Iterator[TranslationUnit]:
        """Yields a unit for each line."""
        for text in source.decode_lines():
            yield TranslationUnit((text,), self.write_lines)

    def write_lines(self, translations: Sequence[Translation]) -> str:
        return "".join(map(self.format_line, translations))
