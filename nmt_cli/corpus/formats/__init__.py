"""Formats of sentence pairs.

To add one: a reader in a file here, an entry below, and "pairs" in its row of `nmt_cli/formats/__init__.py`.
"""

from __future__ import annotations

from pathlib import Path

from nmt_cli.corpus.formats.entries import JsonLinesReader, PoReader
from nmt_cli.corpus.formats.exchange import TmxReader, WmtReader, XliffReader
from nmt_cli.corpus.formats.input_stream import InputStream
from nmt_cli.corpus.formats.inputs import STDIN, CorpusFile, ReadOptions, list_books
from nmt_cli.corpus.formats.keyed import KeyedReader, SgmReader, UsfmReader
from nmt_cli.corpus.formats.reader import ParallelReader, Reader
from nmt_cli.corpus.formats.suggestions import SuggestionsReader
from nmt_cli.corpus.formats.tables import CsvReader, SpreadsheetReader, TsvReader
from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import BY_NAME, TEXT, FileFormat, require_use, select_format
from nmt_cli.text.sniffing import recognise_format

READERS: dict[str, type[Reader]] = {
    "tsv": TsvReader,
    "csv": CsvReader,
    "jsonl": JsonLinesReader,
    "suggestions": SuggestionsReader,
    "xlsx": SpreadsheetReader,
    "ods": SpreadsheetReader,
    "tmx": TmxReader,
    "xliff": XliffReader,
    "po": PoReader,
    "sgm": SgmReader,
    "wmt": WmtReader,
    "usfm": UsfmReader,
}
KEYED = {name: kind for name, kind in READERS.items() if issubclass(kind, KeyedReader)}  # of two files
LINES = (TEXT, BY_NAME["tsv"])  # what one of two parallel files may be


def open_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader of an input: by `--format`, else by its content and its name.

    Raises DataError for files without pairs, OptionError for an unknown `--format`.
    """
    if options.source_column is not None and options.source_column == options.target_column:
        raise OptionError(
            f"--source-column and --target-column are both {options.source_column}", hint="name two columns"
        )
    if file.target is not None:
        refuse_columns(options, file.name)
        return open_two(file, options)
    stream = InputStream(file.path, options.encoding)
    kind = READERS[find_format(file, options, b"" if options.format else stream.read_head())]
    if not kind.has_columns:
        refuse_columns(options, file.name)
    if issubclass(kind, KeyedReader):
        raise DataError(f"{file.name} is one side of {kind.noun}s; two are needed", hint=kind.expects)
    return kind(file, options, (stream,))


def open_two(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader of two files, or folders, one per side."""
    sides = [list_books(path) or [path] for path in file.files]
    streams = [[InputStream(path, options.encoding) for path in paths] for paths in sides]
    names = {options.format}
    if options.format is None:
        formats = [recognise_input(paths[0], side[0].read_head()) for paths, side in zip(sides, streams, strict=True)]
        names = {format.name for format in formats}
        if not (len(names) == 1 and names <= KEYED.keys()):
            for format, side in zip(formats, streams, strict=True):
                require_lines(format, side[0].name)
    kind = KEYED.get(str(*names)) if len(names) == 1 else None
    if kind is None:
        return ParallelReader(file, options, [*streams[0], *streams[1]])
    reader = kind(file, options, [*streams[0], *streams[1]])
    reader.split = len(streams[0])
    return reader


def refuse_columns(options: ReadOptions, name: str) -> None:
    """Raises OptionError for named columns in a format without columns."""
    for option, value in (("--source-column", options.source_column), ("--target-column", options.target_column)):
        if value is not None:
            raise OptionError(f"{option}: {name} has no columns", hint="leave it out")


def find_format(file: CorpusFile, options: ReadOptions, head: bytes = b"") -> str:
    """Returns the name of the format of an input that begins with the bytes `head`. Plain text is tab-separated."""
    if options.format is not None:
        return select_format(options.format, "pairs").name
    format = recognise_input(file.path, head)
    return "tsv" if format is TEXT else require_use(format, "pairs", file.name).name


def recognise_input(path: Path, head: bytes) -> FileFormat:
    return recognise_format(None if path == STDIN else path, head)


def require_lines(format: FileFormat, name: str) -> None:
    """Raises DataError for one of two parallel files that is not one sentence per line."""
    if format not in LINES:
        require_use(format, "pairs", name)
        raise DataError(
            f"{name} is {format.title}, not one sentence per line",
            hint=f"give it alone: nmt prepare {name}",
        )
