"""Opens files of sentence pairs, or of text in one language.

`--format` decides how they are read; without it, their content and name do.

corpus.tsv                      TsvReader       two columns of a table
train.en,train.de               ParallelReader  two files, line by line
en/ and quy/, folders of USFM   UsfmReader      two sides, by their verses
more.txt, of one language       PlainTextReader the text is on both sides of its row
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from nmt_cli.errors import DataError, OptionError
from nmt_cli.formats import BY_NAME, TEXT, FileFormat, load_class, require_use, select_format
from nmt_cli.formats.input_stream import InputStream
from nmt_cli.formats.inputs import STDIN, CorpusFile, ReadOptions, list_books, parse_input
from nmt_cli.formats.reader import KeyedReader, ParallelReader, Reader, Row
from nmt_cli.formats.sniffing import decode_head, recognise_format

KEYED = ("sgm", "usfm")  # of two files, or folders of files, whose texts have keys
LINES = (TEXT, BY_NAME["tsv"])  # what one of two parallel files may be
TABLE_SHARE = 0.5  # of the lines with a tab, above which they are pairs: in running text, tabs are rare


def open_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader for an input, chosen by `--format` or else by the input's content and name.

    Raises DataError for files without pairs, and OptionError for an unknown `--format`.
    """
    if options.source_column is not None and options.source_column == options.target_column:
        raise OptionError(
            f"--source-column and --target-column are both {options.source_column}", hint="name two columns"
        )
    if file.target is not None:
        refuse_columns(options, file.name)
        return open_two(file, options)
    stream = InputStream(file.path, options.encoding)
    name = find_format(file, options, b"" if options.format else stream.read_head())
    kind: type[Reader] = load_class(BY_NAME[name], "pairs")
    if not kind.has_columns:
        refuse_columns(options, file.name)
    if issubclass(kind, KeyedReader):
        raise DataError(f"{file.name} has only one side of the {kind.noun}s, but nmt needs both", hint=kind.expects)
    return kind(file, options, (stream,))


def open_two(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader for two files or folders, one per side."""
    sides = [list_books(path) or [path] for path in file.files]
    streams = [[InputStream(path, options.encoding) for path in paths] for paths in sides]
    names = {options.format}
    if options.format is None:
        formats = [recognise_input(paths[0], side[0].read_head()) for paths, side in zip(sides, streams, strict=True)]
        names = {format.name for format in formats}
        if not (len(names) == 1 and names <= set(KEYED)):
            for format, side in zip(formats, streams, strict=True):
                require_lines(format, side[0].name)
    name = str(*names) if len(names) == 1 else ""
    if name not in KEYED:
        return ParallelReader(file, options, [*streams[0], *streams[1]])
    kind: type[KeyedReader] = load_class(BY_NAME[name], "pairs")
    reader = kind(file, options, [*streams[0], *streams[1]])
    reader.split = len(streams[0])
    return reader


def refuse_columns(options: ReadOptions, name: str) -> None:
    """Raises OptionError if columns are named for a format without columns."""
    for option, value in (("--source-column", options.source_column), ("--target-column", options.target_column)):
        if value is not None:
            raise OptionError(f"{option}: {name} has no columns", hint=f"leave {option} out")


def find_format(file: CorpusFile, options: ReadOptions, head: bytes = b"") -> str:
    """Returns the format name of an input that begins with the bytes `head`. Plain text counts as tab-separated."""
    if options.format is not None:
        return select_format(options.format, "pairs").name
    format = recognise_input(file.path, head)
    return "tsv" if format is TEXT else require_use(format, "pairs", file.name).name


def recognise_input(path: Path, head: bytes) -> FileFormat:
    return recognise_format(None if path == STDIN else path, head)


def require_lines(format: FileFormat, name: str) -> None:
    """Raises DataError if one of two parallel files does not have one sentence per line."""
    if format not in LINES:
        require_use(format, "pairs", name)
        raise DataError(
            f"{name} is {format.title}, not one sentence per line", hint=f"give the file alone: nmt prepare {name}"
        )


# Text of one language: a sentence per line, the only column of a table, or one side of pairs.
#
# Each text is on both sides of its row, except in files of pairs, from which the caller takes the side it wants.


class PlainTextReader(Reader):
    """Reads plain text with one sentence per line."""

    guesses_encoding = True
    expects = "one sentence per line"

    has_parts = True

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for line, text in chain(*sides):
            sentence = text.rstrip("\r\n")
            yield Row(line, sentence, sentence)


def list_text_files(names: Sequence[str]) -> list[CorpusFile]:
    """Returns the monolingual text files; a folder with a Bible in USFM is expanded to its books.

    As with pairs, tags may follow a name: `more.nld=to:nld`.
    """
    inputs = [parse_input(name) for name in names]
    return [replace(text, path=file) for text in inputs for file in list_books(text.path) or [text.path]]


def open_text_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader for monolingual text, chosen by its content and name.

    `--format` and the column options describe the corpus; the columns apply to this text only if it is a table too.
    Raises DataError for files without text or pairs.
    """
    stream = InputStream(file.path, options.encoding)
    head = stream.read_head()
    format = recognise_input(file.path, head)
    if format in (TEXT, BY_NAME["tsv"]):
        kind = load_class(BY_NAME["tsv"], "pairs") if has_columns(head) else PlainTextReader
    else:
        kind = load_class(require_use(format, "pairs", file.name), "pairs")
    return kind(file, replace(options, format=None, one_side=True), (stream,))


def has_columns(head: bytes) -> bool:
    """Whether most of the first lines of a file consist of tab-separated cells."""
    lines = [line for line in (decode_head(head) or "").splitlines() if line.strip()]
    return sum("\t" in line.strip() for line in lines) > TABLE_SHARE * len(lines)
