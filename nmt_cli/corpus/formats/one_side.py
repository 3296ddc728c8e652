"""Text of one language: a sentence per line, the only column of a table, or one side of pairs.

Each text is on both sides of its row, except in files of pairs, from which the caller takes the side it wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from nmt_cli.corpus.formats import READERS, recognise_input
from nmt_cli.corpus.formats.input_stream import InputStream
from nmt_cli.corpus.formats.inputs import CorpusFile, ReadOptions, list_books, parse_input
from nmt_cli.corpus.formats.reader import Reader, Row
from nmt_cli.formats import BY_NAME, TEXT, require_use
from nmt_cli.text.sniffing import decode_head

TABLE_SHARE = 0.5  # of the lines with a tab, above which they are pairs: in running text, tabs are rare


class PlainTextReader(Reader):
    """Reads plain text with a sentence per line."""

    guesses_encoding = True
    expects = "one sentence per line"

    has_parts = True

    def read_rows(self) -> Iterator[Row]:
        return self.parse_lines(self.stream.read_lines())

    def parse_lines(self, *sides: Iterable[tuple[int, str]]) -> Iterator[Row]:
        for line, text in chain(*sides):
            sentence = text.rstrip("\r\n")
            yield Row(line, sentence, sentence)


def list_text_files(names: Sequence[str]) -> list[CorpusFile]:
    """Returns the files of text of one language; a folder with a Bible in USFM is expanded to its books.

    As of pairs, tags may follow a name: `more.nld=to:nld`.
    """
    inputs = [parse_input(name) for name in names]
    return [replace(text, path=file) for text in inputs for file in list_books(text.path) or [text.path]]


def open_text_reader(file: CorpusFile, options: ReadOptions) -> Reader:
    """Returns the reader of text of one language, by its content and its name.

    `--format` describes the corpus, as do the columns, unless this is a table, too. Raises DataError for files without
    text or pairs.
    """
    stream = InputStream(file.path, options.encoding)
    head = stream.read_head()
    format = recognise_input(file.path, head)
    if format in (TEXT, BY_NAME["tsv"]):
        kind: type[Reader] = READERS["tsv"] if has_columns(head) else PlainTextReader
    else:
        kind = READERS[require_use(format, "pairs", file.name).name]
    return kind(file, replace(options, format=None, one_side=True), (stream,))


def has_columns(head: bytes) -> bool:
    """Whether most of the first lines of a file are tab-separated cells."""
    lines = [line for line in (decode_head(head) or "").splitlines() if line.strip()]
    return sum("\t" in line.strip() for line in lines) > TABLE_SHARE * len(lines)
