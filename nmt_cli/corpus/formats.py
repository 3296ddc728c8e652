"""Tab-separated text, read a line at a time, with errors that name file and line.

Knows nothing of what is done with the columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from nmt_cli.errors import DataError
from nmt_cli.files import require_file

COMPRESSED = {
    b"\x1f\x8b": "gzip -dk",
    b"\xfd7zXZ": "xz -dk",
    b"BZh": "bzip2 -dk",
    b"PK\x03\x04": "unzip",
    b"\x28\xb5\x2f\xfd": "zstd -d",
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """Two columns of a line, as they stand there; `line` counts from 1. A blank line has two empty columns."""

    line: int
    source: str
    target: str
    has_more_columns: bool


class PairReader:
    """Iterates over the rows of a tab-separated UTF-8 file, once, from the first to the last.

    Raises NotFoundError for a missing file or a directory, DataError for anything that is no such text.
    `bytes_read` grows while it is read; `sha256` is that of the bytes read so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = require_file(path)
        self.size = path.stat().st_size  # bytes; 0 for a pipe
        self.bytes_read = 0
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[Row]:
        line = 0
        with self.path.open("rb") as file:
            for line, data in enumerate(file, start=1):
                self.bytes_read += len(data)
                self._digest.update(data)
                yield self.row(line, data)
        if line == 0:
            raise DataError(f"{self.path} is empty", hint="it should hold a sentence pair a line, separated by a tab")

    def row(self, line: int, data: bytes) -> Row:
        """The row in the bytes of one line."""
        if line == 1:
            data = data.removeprefix(BYTE_ORDER_MARK)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse_encoding(line, data, error)
        if "\0" in text:
            raise DataError(
                f"{self.path}, line {line}: a NUL byte at column {text.index(chr(0)) + 1}",
                hint="text is needed; if it is UTF-16, convert it: iconv -f UTF-16 -t UTF-8",
            )
        columns = text.rstrip("\r\n").split("\t", 2)
        if len(columns) > 1:
            return Row(line, columns[0], columns[1], len(columns) > 2)
        if not text.isspace() and text:
            self.refuse_single_column(line)
        return Row(line, "", "", False)

    def refuse_encoding(self, line: int, data: bytes, error: UnicodeDecodeError) -> NoReturn:
        """Raises the DataError that says what the bytes are, as far as that can be told."""
        unpack = next((tool for magic, tool in COMPRESSED.items() if line == 1 and data.startswith(magic)), None)
        if unpack:
            raise DataError(f"{self.path} is compressed; text is needed", hint=f"unpack it first: {unpack} {self.path}")
        utf16 = line == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff"))
        encoding = "UTF-16" if utf16 else "ISO-8859-1"
        raise DataError(
            f"{self.path}, line {line}: not UTF-8 (byte 0x{data[error.start]:02x} at position {error.start + 1})",
            hint=f"if it is {encoding}, convert it: iconv -f {encoding} -t UTF-8",
        ) from error

    def refuse_single_column(self, line: int) -> NoReturn:
        raise DataError(
            f"{self.path}, line {line}: one column; two, separated by a tab, are needed",
            hint="join two files of sentences with: paste source.txt target.txt > corpus.tsv",
        )
