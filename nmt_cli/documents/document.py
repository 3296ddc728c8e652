"""The base of all document formats. A document consists of units, each with texts and a function that writes it back.

Plain text is the simplest: each line is a unit with one text; blank lines stay blank.
"""

from __future__ import annotations

import re
import textwrap
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from sys import maxsize
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from nmt_cli.documents.config import DocumentOptions
from nmt_cli.errors import DataError, MissingExtraError, explain_install
from nmt_cli.formats import TEXT, FileFormat, name_place
from nmt_cli.text.aligned import MarkedText
from nmt_cli.text.characters import CLOSING, COLONS, END_MARKS, FINAL_MARKS, OPENING, OPENING_QUOTES, PAUSES
from nmt_cli.text.streams import FIRST_BLOCK, FileLines, are_plain, decode_lines

if TYPE_CHECKING:
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import CheckKind, Translation


# The base of all document formats. A document consists of units, each with texts and a function that writes it back.
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
    """The place of a unit in a document: its chapter, page or sheet, and its verse or line."""

    chapter: str = ""
    name: str = ""  # of the unit, if it has one: a verse, or the number of its line
    kind: str = ""  # what such a number counts: lines or rows

    def __str__(self) -> str:
        return f"{self.kind} {self.name or self.chapter}".lstrip()


class Content(NamedTuple):
    """The content of a unit: its texts, and the markup that no translation changes."""

    texts: tuple[str, ...]
    marks: str = ""
    spelled: str = ""  # its texts as they are written, in which a brace may be a sign of the format or of the text


class TornText(NamedTuple):
    """A text left as it is, which needs review: its translation could not be read back, or already existed."""

    number: int  # among the texts of the document, from 1; or of its row
    source: str
    problem: str
    was_flagged: bool = False  # whether its translation failed a check
    location: Location = Location()
    check: CheckKind = "kept"  # which it fails
    kept: str = ""  # the translation that was there


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
    context: str | None = None  # what tells its texts from equal ones of other units; None: the format says nothing

    def name_context(self) -> TranslationUnit:
        """Returns the unit, attaching its context to its texts if it has one."""
        if self.context is None:
            return self
        return self._replace(texts=tuple(MarkedText.in_context(text, self.context) for text in self.texts))


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
    is_complete: bool = False  # whether what is written is a file by itself, whose last line may lack its end
    is_among_others: bool = False  # whether the options are those of several files, of which it may lack a column
    reads_back: bool = False  # whether it is a translation, of which every value is read, whatever it says

    def decode_lines(self, *, ends: bool = False) -> Iterator[str]:
        """Yields the lines as text, with their ends if `ends`. Raises DataError for invalid UTF-8."""
        way_on = ", name its encoding with --encoding, or use --errors replace"
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
                    f"{self.name} is larger than {maximum:,} MiB, but must fit into memory as a whole",
                    hint="split it, and translate the parts one by one",
                )
            yield part

    def refuse(self, line: int, problem: str, hint: str = "") -> NoReturn:
        """Raises DataError, naming the line (or the row of a table) by number, counted from 1."""
        raise DataError(f"{name_place(self.name, line, self.config.format)}: {problem}", hint=hint)


class Document(ABC):
    """A document that can be read once. `notes` counts shortcomings by message."""

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
        self.noted: list[TornText] = []  # texts that are written, with a shortcoming that the notes count
        self.texts_written = 0

    @abstractmethod
    def read_units(self) -> Iterator[TranslationUnit]:
        """Yields the units in document order. Raises DataError, naming the invalid line."""

    def read_with_domain(self) -> Iterator[TranslationUnit]:
        """Yields the units, with the document's domain if they have none; the first of each chapter is marked."""
        begins, chapter = True, ""
        for unit in self.read_checked():
            if unit.location is not None and unit.location.chapter != chapter:
                begins, chapter = True, unit.location.chapter
            domain = unit.domain or self.domain
            is_prose = unit.is_prose or (self.is_prose and not domain)
            if (domain, is_prose) != (unit.domain, unit.is_prose) or begins:  # most units are as they should be
                unit = unit._replace(domain=domain, is_prose=is_prose, begins_text=begins or unit.begins_text)
            yield unit if self.source.memory is None else unit.name_context()
            begins = False

    def read_checked(self) -> Iterator[TranslationUnit]:
        """Yields the units; what they write is read back before the document is complete."""
        units = self.locate(self.read_units())
        return units if self.guard is None else self.guard(self, self.reopen, units)

    def locate(self, units: Iterator[TranslationUnit]) -> Iterator[TranslationUnit]:
        """Yields the units with their line or row numbers, as long as the source of all earlier units is known."""
        number, is_known = 1, True
        for unit in units:
            is_known &= not unit.texts or unit.raw is not None
            # The format of standard input is known since its first unit.
            if unit.texts and is_known and unit.location is None and not self.format.is_binary:
                yield unit._replace(location=Location(name=f"{number:,}", kind=self.format.line_name))
            else:
                yield unit
            if unit.raw is not None:
                lines = unit.raw.count("\n") if isinstance(unit.raw, str) else unit.raw.count(b"\n")
                number += 1 if self.format.line_name == "row" else lines

    def reopen(self, data: bytes) -> Iterator[TranslationUnit]:
        """Yields the units of the written document `data`. Raises DataError if it cannot be read."""
        return type(self)(self.source._replace(lines=[data], reads_back=True)).read_units()

    def is_marked(self, written: bytes) -> bool:
        """Whether a written unit is marked so that programs ignore its translation."""
        return False

    def complete(self, written: str | bytes) -> str | bytes:
        """Returns the final form of the document once all its units are written; for a table, that of a single row."""
        return written

    def report_to(self, outer: Document) -> None:
        """Shares the notes of the document that contains this one."""
        self.notes, self.torn, self.noted = outer.notes, outer.torn, outer.noted


Reopen = Callable[[bytes], Iterator[TranslationUnit]]  # reads the units of a document, or of a part, as it is written
WatchUnits = Callable[[Document, Reopen, Iterator[TranslationUnit]], Iterator[TranslationUnit]]


def make_verbatim_unit(text: str | bytes) -> TranslationUnit:
    """Returns a unit in which nothing is translated."""
    return TranslationUnit((), lambda _: text, raw=text)


def weave(
    text: str, units: Iterable[tuple[int, int, TranslationUnit]], encode: Callable[[str], str | bytes] = str
) -> Iterator[TranslationUnit]:
    """Yields each unit in place of the characters [start, end), and all other text as is; skips overlapping units."""
    position = 0
    for start, end, unit in units:
        if start >= position:
            yield make_verbatim_unit(encode(text[position:start]))
            yield unit
            position = end
    yield make_verbatim_unit(encode(text[position:]))


def import_library(module: str, package: str, needed_for: str) -> Any:
    """Imports a module of the extra `formats`. Raises MissingExtraError with the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{needed_for} need the package {package}, which is not installed", hint=explain_install("formats")
        ) from error


# Plain text: each line is one text; blank lines stay blank, and so do names and addresses in the signature of a mail.


SIGNATURE_LINE = "-- "  # what is below is a signature, up to a blank line
SIGNATURE_END = b"-- \n"
SHORTEST_OF_PROSE = 4  # letters of a word in lower case: the "of" of titles is shorter, as are parts of names


def has_prose(line: str) -> bool:
    """Whether a line of a signature says more than names, numbers and addresses."""
    words = (word.strip(PAUSES + END_MARKS) for word in line.split())
    long_words = (word for word in words if len(word) >= SHORTEST_OF_PROSE and word.isalpha())
    return line == line.lower() or any(map(str.islower, long_words))


def has_usual_ends(lines: Sequence[bytes]) -> bool:
    """Whether every line ends in LF alone."""
    return lines[-1].endswith(b"\n") and not any(line.endswith(b"\r\n") for line in lines)


def format_text(translation: Translation) -> str:
    return flatten_breaks(translation.text) + "\n"


def flatten_breaks(text: str) -> str:
    """Replaces every character that some programs treat as a line end with a space."""
    return text if text.isprintable() else " ".join(text.splitlines())


class TextDocument(Document):
    """Reads lines that end in LF or CR LF; `format_line` writes a translation followed by LF.

    By default, a translation gets the line end of its source. A last line without one gets LF, unless the output is a
    file by itself.
    """

    def __init__(self, source: DocumentSource, line: Callable[[Translation], str] = format_text) -> None:
        super().__init__(source)
        self.format_line = line
        self.is_signed = False  # whether the line before belongs to a signature

    def read_units(self) -> Iterator[TranslationUnit]:
        source, size = self.source, self.source.part_size
        if not (isinstance(source.lines, FileLines) and size):
            yield from self.read_lines(source)
            return
        for texts, lines in source.lines.read_parts(size, FIRST_BLOCK):
            if are_plain(lines) and has_usual_ends(lines) and not self.is_signed and SIGNATURE_END not in lines:
                yield TranslationUnit(texts, self.write_lines)
            else:
                yield from self.read_lines(source._replace(lines=lines, first=texts.part.first))

    def read_lines(self, source: DocumentSource) -> Iterator[TranslationUnit]:
        """Yields a unit for each line."""
        is_bare = self.format_line is format_text  # which has no more to say of a line
        for line in source.decode_lines(ends=True):
            text = line.removesuffix("\n").removesuffix("\r")
            end = line[len(text) :] if is_bare and (line.endswith("\n") or source.is_complete) else "\n"
            is_kept = text == SIGNATURE_LINE or (self.is_signed and not has_prose(text))
            self.is_signed = text == SIGNATURE_LINE or (self.is_signed and bool(text.strip()))
            write = self.write_lines if end == "\n" else partial(self.write_line, end)
            yield make_verbatim_unit(text + end) if is_kept and is_bare else TranslationUnit((text,), write)

    def write_lines(self, translations: Sequence[Translation]) -> str:
        return "".join(map(self.format_line, translations))

    def write_line(self, end: str, translations: Sequence[Translation]) -> str:
        return self.write_lines(translations).removesuffix("\n") + end


# Text whose paragraphs are wrapped at a width, as mail is: a paragraph is one text, and is wrapped again.
#
#     > Any use of it by other people is not      one text, "Any use of it by other people is not allowed.", whose
#     > allowed.                                  translation gets the same marks and the same width
#
# A paragraph that is one line stays one line if it is longer than the lines of those that are wrapped.
#
# Verses, lists and tables are not joined: a line goes on if it is full, or if the next one begins in lower case. Below
# a signature (`-- `), each line stays by itself.


LINE_MARKS = re.compile(r"(?P<marks>(?:>[ \t]?)*[ \t]*)(?P<item>(?:[-*+•]|\d{1,3}[.)])[ \t]+)?")
LINE_OF_SENTENCE_END = re.compile(rf"[{END_MARKS}{COLONS}][{re.escape(CLOSING)}]*$")
END_WITHIN_LINE = re.compile(rf"[{FINAL_MARKS}][{re.escape(CLOSING)}]* +[{re.escape(OPENING)}]*[A-ZÀ-ÞА-Я]")
PROSE_START = re.compile(rf"[\w({OPENING_QUOTES}]")
WRAP_WIDTHS = range(30, 121)  # in characters
FULL_SHARE = 0.8  # of the width, which a line fills with the first word of the next one
LONG_SHARE = 0.6  # of the width, which a line has at least if a sentence goes on behind it
RUNNING_SHARE, JOINED_SHARE, INNER_SHARE = 0.4, 0.8, 0.08  # shares of the line ends of such a text


def goes_on(line: str, following: str, width: int) -> bool:
    """Whether a sentence continues on the next line: in lower case, and not after final punctuation."""
    return following[:1].islower() and len(line) >= LONG_SHARE * width and LINE_OF_SENTENCE_END.search(line) is None


def fills_line(line: str, following: str, width: int) -> bool:
    """Whether the line was broken because the next line's first word did not fit on it."""
    room = len(line) + 1 + len(following.split(maxsplit=1)[0])
    return len(line) >= LONG_SHARE * width and room > FULL_SHARE * width and PROSE_START.match(following) is not None


def is_wrapped(text: str) -> bool:
    """Whether the lines of a text are parts of paragraphs, rather than sentences, verses or list items."""
    lines = re.split(r"(?m)^-- \r?$", text, maxsplit=1)[0].splitlines()
    bare = [LINE_MARKS.sub("", line.rstrip(), count=1) for line in lines]
    begins = [(match := LINE_MARKS.match(line)) is not None and match["item"] is not None for line in lines]
    pairs = [
        (line, following)
        for line, following, is_item in zip(bare, bare[1:], begins[1:], strict=False)
        if line and following and not is_item
    ]
    width = max((len(line) for pair in pairs for line in pair), default=0)
    if len(pairs) < 2 or width not in WRAP_WIDTHS or "\t" in "".join(bare):
        return False
    running = sum(goes_on(*pair, width) for pair in pairs)
    joined = sum(goes_on(*pair, width) or fills_line(*pair, width) for pair in pairs)
    inner = sum(END_WITHIN_LINE.search(line) is not None for line in bare)
    return (
        running >= RUNNING_SHARE * len(pairs)
        and joined >= JOINED_SHARE * len(pairs)
        and inner >= max(1, INNER_SHARE * len(pairs))
    )


class WrappedDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        lines = list(self.source.decode_lines(ends=True))
        widths = [len(line.rstrip()) for line in lines]
        width = max((width for width in widths if width in WRAP_WIDTHS), default=WRAP_WIDTHS[-1])
        groups: list[list[str]] = []
        signed = 0  # groups before the signature
        for line in lines:
            if groups and not signed and is_one_paragraph(groups[-1], line, width):
                groups[-1].append(line)
            else:
                groups.append([line])
            signed = signed or len(groups) * (line.rstrip("\r\n") == SIGNATURE_LINE)
        wrapped = max((len(line.rstrip()) for group in groups if group[1:] for line in group), default=0)
        for number, group in enumerate(groups):
            is_wrapped = len(group) > 1 or len(group[0].rstrip()) <= wrapped
            yield self.make_unit(group, wrapped if is_wrapped else maxsize, is_signed=0 < signed <= number)

    def make_unit(self, lines: Sequence[str], width: int, *, is_signed: bool) -> TranslationUnit:
        """Returns the unit of a paragraph; a translation that equals its source is written exactly like it."""
        raw = "".join(lines)
        first = LINE_MARKS.match(lines[0])
        before = first[0] if first else ""
        bare = [
            line[len(before) :].strip() if number == 0 else LINE_MARKS.sub("", line, count=1).strip()
            for number, line in enumerate(lines)
        ]
        text = " ".join(bare)
        if not text or lines[0].rstrip("\r\n") == SIGNATURE_LINE or (is_signed and not has_prose(text)):
            return make_verbatim_unit(raw)
        marks = first["marks"] if first else ""
        behind = marks + " " * (len(before) - len(marks))
        end = raw[len(raw.rstrip("\r\n")) :]
        line_end = "\r\n" if "\r\n" in lines[0] else "\n"
        if lines[:-1] and all(line.rstrip("\r\n").endswith(" ") for line in lines[:-1]):
            line_end = f" {line_end}"  # by which mail says that a line goes on (RFC 3676)

        def write_paragraph(translations: Sequence[Translation]) -> str:
            written = flatten_breaks(translations[0].text)
            if written == text:
                return raw
            parts = textwrap.wrap(
                written,
                width,
                initial_indent=before,
                subsequent_indent=behind,
                break_long_words=False,
                break_on_hyphens=False,
            )
            return line_end.join(parts) + end

        return TranslationUnit((text,), write_paragraph)


def is_one_paragraph(lines: Sequence[str], following: str, width: int) -> bool:
    """Whether a line belongs to the same paragraph as the lines before it."""
    first, last, next_line = (LINE_MARKS.match(line) for line in (lines[0], lines[-1], following))
    if first is None or last is None or next_line is None or next_line["item"]:
        return False
    text, more = lines[-1].rstrip()[last.end() :], following.rstrip()[next_line.end() :]
    marks = last["marks"] + " " * len(last["item"] or "")
    if not text or not more or next_line["marks"] not in (marks, last["marks"]):
        return False
    room = width - len(marks)
    return goes_on(text, more, room) or fills_line(text, more, room)
