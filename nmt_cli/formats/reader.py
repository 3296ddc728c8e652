r"""The base class of all readers: an iterable of rows that counts the bytes read.

    Hello.\tHallo.\n          Row(line=1, source="Hello.", target="Hallo.")
    \n                        Row(line=2, source="", target=""), for which the next line keeps its number

Does not depend on formats. Each format is a subclass in a neighbouring file, named in its row of `formats/__init__.py`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence, Sized
from copy import copy
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import ClassVar, NamedTuple, NoReturn, Self

from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import name_line, name_place
from nmt_cli.formats.input_stream import InputStream
from nmt_cli.formats.inputs import STDIN, CorpusFile, ReadOptions
from nmt_cli.formats.sniffing import find_column
from nmt_cli.languages.codes import CODE, UNNAMED, find_codes, fold_name
from nmt_cli.text.streams import LinePart
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, parse_tag_list
from nmt_cli.text.wrapping import format_count, join_first, shorten_text

OTHER_ENCODING = "if letters are wrong, name its encoding: --encoding cp1250"
LONGEST_CELL = 30  # characters that an error shows
MAXIMUM_EMPTY = 100_000  # lines one after the other, of which each would be kept as a pair that was dropped


class Row(NamedTuple):
    """A pair as it is in its file. It begins on `line`, counted from 1. A blank line is a row with empty sides."""

    line: int
    source: str
    target: str
    has_more_columns: bool = False
    is_unfinished: bool = False  # marked in its file as fuzzy, new or untranslated
    group: str = ""  # the value of the group column, such as a page; pairs of one value stay in one split
    tags: TagSet = ()  # from the column of tags
    context: str | None = None  # what tells it from pairs with an equal source; None: the format says nothing


class Reader(ABC):
    """Iterates over the rows of an input, once. Raises NotFoundError, DataError or OptionError, naming the line."""

    has_columns: ClassVar[bool] = False  # which options name
    guesses_encoding: ClassVar[bool] = False  # whether text that is not UTF-8 may be cp1252, as of spreadsheets
    expects: ClassVar[str]  # what the file should contain, for hints of errors
    languages: tuple[str, str] | None = None  # declared in the file itself; known once it has been read
    usual: Sequence[str] = ()  # the languages of the first file, in whose order a table with both is read

    def __init__(self, file: CorpusFile, options: ReadOptions, streams: Sequence[InputStream] = ()) -> None:
        self.file = file
        self.options = options
        self.notes: list[str] = []  # what a person should know about how the file was read
        self.headings: Sequence[str] = ()  # the names of its columns
        self.language_names: Sequence[str] = ()  # in both headings, if nmt knows one of the languages
        self.group_columns: Sequence[str] = ()  # those of `--group-column` that it has
        self.has_tag_column = self.has_language_column = False
        self.line = 0  # the last that was read
        self.empty = 0  # rows up to there, one after the other
        self.streams = streams or [InputStream(path, options.encoding) for path in file.files]
        for stream in self.streams:
            stream.guesses_encoding = self.guesses_encoding

    @property
    def stream(self) -> InputStream:
        return self.streams[0]

    @property
    def size(self) -> int:
        return sum(stream.size for stream in self.streams)

    @property
    def bytes_read(self) -> int:
        return sum(stream.bytes_read for stream in self.streams)

    def read_rows(self) -> Iterator[Row]:
        """Yields the rows in the order of the file: by default, each line is one."""
        return self.parse_lines(self.stream.read_lines())

    @property
    def has_parts(self) -> bool:
        """Whether `parse_lines` can turn each remaining line into a row, independently of all other lines."""
        return False

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        """Yields the rows made from consecutive numbered lines of each stream."""
        raise NotImplementedError

    def measure_lines(self, *sides: Sequence[Sized]) -> None:
        """Receives those lines of each stream that are taken as parts."""
        return None

    def take_parts(self, count: int) -> tuple[LinePart, ...]:
        """Takes the lines of the next `count` rows as a part of each file; empty if only iteration can read them.

        A part that is entirely blank is left to iteration, which refuses too many empty rows.
        """
        if not self.has_parts or any(stream.lines_seen != self.line for stream in self.streams):
            return ()
        lines = [stream.look_ahead(count) for stream in self.streams]
        blank = min(map(count_blank, lines))
        if len(set(map(len, lines))) > 1 or blank == len(lines[0]):
            return ()
        self.empty, self.line = blank, self.line + len(lines[0])
        self.measure_lines(*lines)
        return tuple(part for stream, some in zip(self.streams, lines, strict=True) for part in stream.take_parts(some))

    def detach(self) -> Self:
        """Returns a copy that parses lines and can be pickled, but has nothing to read."""
        detached = copy(self)
        detached.streams = ()
        return detached

    def __iter__(self) -> Iterator[Row]:
        row = None
        try:
            for row in self.read_rows():
                self.line = row.line
                self.empty = 0 if row.source or row.target else self.empty + 1
                if self.empty > MAXIMUM_EMPTY:
                    self.refuse(
                        row.line,
                        f"{MAXIMUM_EMPTY:,} empty {name_line(self.file.name, self.options.format)}s in succession",
                        "remove them",
                    )
                yield row
        finally:
            for stream in self.streams:
                stream.close()
                if stream.guessed_encoding is not None:
                    self.add_note(f"read as {stream.guessed_encoding}, because it is not UTF-8; {OTHER_ENCODING}")
        if row is None:
            raise DataError(f"{self.file.name} is empty", hint=f"the file must contain {self.expects}")

    @property
    def sides(self) -> Sequence[str]:
        """Both languages, by code, or by name if they are in no list; empty unless both are known."""
        pairs = zip(self.languages or (), self.language_names or self.languages or (), strict=True)
        sides = [fold_name(name) if code in UNNAMED else code for code, name in pairs]
        return sides if all(sides) else ()

    def add_note(self, note: str, *, is_warning: bool = False) -> None:
        """Records a note for the user about how the file was read; a warning begins with an exclamation mark."""
        name = " + ".join(path.name if path != STDIN else "standard input" for path in self.file.files)
        self.notes.append(f"{'! ' * is_warning}{name}: {note}")

    def refuse(self, line: int, problem: str, hint: str = "") -> NoReturn:
        """Raises DataError with the file and the line; by default the hint describes the expected content."""
        where = name_place(self.file.name, line, self.options.format)
        raise DataError(f"{where}: {problem}", hint=hint or f"the file must contain {self.expects}")

    def read_tags(self, line: int, cell: str) -> TagSet:
        """Returns the tags in a cell. Raises DataError, naming the line, for anything that is not a tag."""
        try:
            return parse_tag_list(cell)
        except OptionError as error:
            self.refuse(line, f"--tag-column: {error.message}", error.hint or "")

    def read_language(self, line: int, cell: str) -> TagSet:
        """Returns the tag for the language in a cell, or none if it is empty. Raises DataError for any other word."""
        if not cell.strip():
            return ()
        code = find_cell_language(cell)
        if code is None:
            self.refuse(
                line,
                f"{shorten_text(cell.strip(), LONGEST_CELL)!r} is not a language that nmt knows (language column)",
                "write its ISO 639-3 code, or ignore the column: --target-language-column none",
            )
        return (Tag(TagPurpose.TARGET, code),)

    def refuse_missing_column(self, line: int, columns: int, needed: int) -> NoReturn:
        """Raises DataError for a line with only `columns` columns, which lacks the column `needed`, counted from 1."""
        self.refuse(line, f"{columns} column{'' if columns == 1 else 's'}, but nmt needs column {needed}")


@lru_cache(4096)
def find_cell_language(cell: str) -> str | None:
    """Returns the code of the language that a cell names by code or name; None if it names none or several."""
    name = cell.strip()
    if CODE.fullmatch(name):
        return name
    codes = find_codes(name)
    return codes[0] if len(codes) == 1 else None


def count_blank(lines: Sequence[bytes]) -> int:
    """Returns the number of blank lines at the end."""
    return next((number for number, line in enumerate(reversed(lines)) if line.strip()), len(lines))


def find_known_columns(columns: Sequence[str], header: Sequence[str], width: int) -> dict[str, int]:
    """Returns the 0-based positions of the named or numbered columns that a table has, in the order given."""
    names = [name.strip() for name in header]
    numbers = list(map(str, range(1, width + 1)))
    places = {column: names if column in names else numbers for column in columns}
    return {column: known.index(column) for column, known in places.items() if column in known}


def find_columns(options: ReadOptions, header: list[str] | None, where: str) -> tuple[int, int]:
    """Returns the 0-based columns of source and target: those of the options, by default the first two.

    Raises DataError for a name missing from the header, and for the same column twice.
    """
    source = find_column(options.source_column, header, 0, where)
    target = find_column(options.target_column, header, 1, where)
    if source == target:
        raise DataError(
            f"{where}: source and target are both column {source + 1}",
            hint="name two columns, with --source-column and --target-column",
        )
    return source, target


# Parallel files: one per language; lines with the same number are translations of each other.


class ParallelReader(Reader):
    guesses_encoding = True
    expects = "one sentence per line"
    has_parts = True

    @cached_property
    def lengths(self) -> tuple[array[int], array[int]]:
        """The lengths of the lines so far, which show where the files diverge."""
        return array("i"), array("i")

    def measure_lines(self, *sides: Sequence[Sized]) -> None:
        for lengths, lines in zip(self.lengths, sides, strict=True):
            lengths.extend(map(len, lines))

    def read_rows(self) -> Iterator[Row]:
        sides = [stream.read_lines() for stream in self.streams]
        for source, target in zip_longest(*sides):
            if source is None or target is None:
                self.refuse_unequal(sides)
            self.measure_lines([source[1]], [target[1]])
            yield from self.parse_lines([source], [target])

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for (line, source), (_, target) in zip(*sides, strict=True):
            yield Row(line, source.rstrip("\r\n"), target.rstrip("\r\n"))

    def refuse_unequal(self, sides: list[Iterator[tuple[int, str]]]) -> NoReturn:
        """Raises a DataError that says how many lines each file has, and where they diverge."""
        from nmt_cli.arrays.shifts import find_shifts  # numpy, which reading does not need

        for lines in sides:
            for _ in lines:
                pass
        first, second = self.streams
        shifts = find_shifts(*self.lengths)
        where = f"the lines seem to be shifted from about line {shifts[0].first + 1:,} on" if shifts else ""
        raise DataError(
            f"{first.name} has {format_count(first.lines_seen, 'line')}, {second.name} has {second.lines_seen:,}",
            hint=where or "the files must match line by line; one of them is truncated or has extra lines",
        )


# Two files, or folders of files, whose texts have keys: a segment number, a Bible verse.
#
# Texts with the same key are a pair, whatever their order; keys on only one side are counted.


MAXIMUM_SIDE = 1 << 28  # characters of the texts of one side, which are held in memory
RANGE_OF_ONE = re.compile(r"\b(\d+)-\1$")  # of verses
REPEATED_SHOWN = 3  # texts with a key that another has, which a note names


class KeyedText(NamedTuple):
    """A text, its key, and its first line number."""

    line: int
    key: str
    text: str
    goes_on: bool = False  # whether the key begins before: of verse 3b


class KeyedReader(Reader):
    """The base class of readers that match two sides by key."""

    noun: ClassVar[str]  # what a text is called
    split = 1  # how many of the streams are the source's

    @abstractmethod
    def read_texts(self, stream: InputStream, side: int) -> Iterator[KeyedText]:
        """Yields the texts of one file on the source side (0) or the target side (1)."""

    def read_rows(self) -> Iterator[Row]:
        if self.options.one_side:
            texts = self.collect_side(self.streams, 0).values()
            yield from (Row(text.line, text.text, text.text) for text in texts)
            return
        streams = self.streams[: self.split], self.streams[self.split :]
        sides = [self.collect_side(of_side, side) for side, of_side in enumerate(streams)]
        source, target = self.align(*sides)
        for key, text in source.items():
            if key in target:
                yield Row(text.line, text.text, target[key].text)
        lonely = len(source.keys() ^ target.keys())
        if lonely and lonely == len(source) + len(target):
            raise DataError(f"{self.file.name}: the two sides have no {self.noun} in common", hint=self.expects)
        if lonely:
            self.add_note(f"{format_count(lonely, self.noun)} only on one side, left out")

    def collect_side(self, streams: Sequence[InputStream], side: int) -> dict[str, KeyedText]:
        """Returns the texts of one side by key, joining continued ones; of several with the same key, the first."""
        texts: dict[str, KeyedText] = {}
        repeated: list[str] = []
        size = 0
        for stream in streams:
            for text in self.read_texts(stream, side):
                first = texts.setdefault(text.key, text)
                if text.goes_on and first is not text:
                    texts[text.key] = first._replace(text=f"{first.text} {text.text}".strip())
                elif first is not text:
                    name = RANGE_OF_ONE.sub(r"\1", text.key)
                    repeated.append(f"{name} in line {text.line:,}")
                size += len(text.text)
                if size > MAXIMUM_SIDE:
                    message = f"{stream.name}: more than {MAXIMUM_SIDE:,} characters"
                    raise DataError(message, hint="split it into several files")
        if repeated:
            count = format_count(len(repeated), f"{self.noun} has", f"{self.noun}s have")
            self.add_note(f"{count} a repeated number (left out): {join_first(repeated, REPEATED_SHOWN)}")
        return texts

    def align(
        self, source: dict[str, KeyedText], target: dict[str, KeyedText]
    ) -> tuple[dict[str, KeyedText], dict[str, KeyedText]]:
        """Returns both sides with comparable keys."""
        return source, target
