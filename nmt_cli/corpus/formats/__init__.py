"""Formats of sentence pairs.

To add one: a reader in a file here, an entry below, and "pairs" in its row of `nmt_cli/formats.py`.
"""

from __future__ import annotations

from pathlib import Path

from nmt_cli.corpus.formats.csv import CsvReader
from nmt_cli.corpus.formats.decompress import InputStream
from nmt_cli.corpus.formats.inputs import STDIN, CorpusFile, ReadOptions
from nmt_cli.corpus.formats.jsonl import JsonLinesReader
from nmt_cli.corpus.formats.parallel import ParallelReader
from nmt_cli.corpus.formats.po import PoReader
from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.corpus.formats.tmx import TmxReader
from nmt_cli.corpus.formats.tsv import TsvReader
from nmt_cli.corpus.formats.xliff import XliffReader
from nmt_cli.errors import DataError
from nmt_cli.formats import BY_NAME, TEXT, FileFormat, require_use, select_format
from nmt_cli.text.sniffing import recognise_format

READERS: dict[str, type[Reader]] = {
    "tsv": TsvReader,
    "csv": CsvReader,
    "jsonl": JsonLinesReader,
    "tmx": TmxReader,
    "po": PoReader,
    "xliff": XliffReader,
}
LINES = (TEXT, BY_NAME["tsv"])  # what one of two parallel files may be


def open_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader of an input: by `--format`, otherwise by its content and its name.

    Raises DataError for files that hold no pairs, OptionError for a `--format` that does not exist.
    """
    if file.target is not None:
        reader = ParallelReader(file, options)
        if options.format is None:
            for path, stream in zip(file.files, reader.streams, strict=True):
                require_lines(recognise_input(path, stream.read_head()), stream.name)
        return reader
    if options.format is not None:
        return READERS[find_format(file, options)](file, options)
    stream = InputStream(file.path, options.encoding)
    return READERS[find_format(file, options, stream.read_head())](file, options, (stream,))


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
