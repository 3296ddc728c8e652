"""What every reader of a format is: an iterable of rows, with what has been read of which files.

Knows no format. A format is a subclass in a file beside this one and a line in `formats/__init__.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, NamedTuple, NoReturn

from nmt_cli.corpus.formats.decompress import InputStream
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions
from nmt_cli.errors import DataError
from nmt_cli.text.columns import find_column


class Row(NamedTuple):
    """A pair as it stands in its file; `line`, counted from 1, is where it begins. A blank line has empty sides."""

    line: int
    source: str
    target: str
    has_more_columns: bool = False
    is_unfinished: bool = False  # its file says that the translation is fuzzy, new, or not yet done


class Reader(ABC):
    """Iterates over the rows of an input, once. Raises NotFoundError, DataError or OptionError, naming the line."""

    expects: ClassVar[str]  # what the file should hold, for the hint of errors
    languages: tuple[str, str] | None = None  # as the file itself says, once it is read

    def __init__(self, file: CorpusFile, options: ReadOptions) -> None:
        self.given = file
        self.options = options
        self.streams = [InputStream(path, options.encoding) for path in file.files]

    @property
    def stream(self) -> InputStream:
        return self.streams[0]

    @property
    def size(self) -> int:
        return sum(stream.size for stream in self.streams)

    @property
    def bytes_read(self) -> int:
        return sum(stream.bytes_read for stream in self.streams)

    @abstractmethod
    def read_rows(self) -> Iterator[Row]:
        """The rows in the order of the file."""

    def __iter__(self) -> Iterator[Row]:
        row = None
        try:
            for row in self.read_rows():
                yield row
        finally:
            for stream in self.streams:
                stream.close()
        if row is None:
            raise DataError(f"{self.given.name} is empty", hint=f"it should hold {self.expects}")

    def refuse(self, line: int, problem: str, hint: str = "") -> NoReturn:
        raise DataError(f"{self.given.name}, line {line}: {problem}", hint=hint or f"it should hold {self.expects}")


def column_numbers(options: ReadOptions, header: list[str] | None, where: str) -> tuple[int, int]:
    """The columns of source and target, counted from 0: those that are asked for, else the first two.

    Raises DataError for a name that the header has not, and for one column twice.
    """
    source = find_column(options.source_column, header, 0, where)
    target = find_column(options.target_column, header, 1, where)
    if source == target:
        raise DataError(
            f"{where}: source and target are both column {source + 1}",
            hint="name both, with --source-column and --target-column",
        )
    return source, target
