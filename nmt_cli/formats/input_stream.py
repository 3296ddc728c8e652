r"""Reads a file or standard input: counts, hashes and decompresses its bytes, and splits them into lines of UTF-8.

    train.tsv.gz, in UTF-16     unpacked and converted: (1, "Hello.\tHallo.\n"), (2, "Yes.\tJa.\n"), ...

Holds only a bounded part of any input in memory. Does not depend on formats of pairs."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import zstandard

from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.formats.inputs import STDIN
from nmt_cli.formats.sniffing import check_encoding, find_wide_encoding, is_cp1252, is_western
from nmt_cli.text.streams import MAXIMUM_LINE, LinePart, PartReader, are_plain

# Decompresses what is packed with gzip, xz, bzip2 or zstd, chunk by chunk, within bounded memory.


CHUNK = 1 << 18  # bytes
ZSTD_SLICE = 1 << 12  # compressed bytes, which decompress to at most 128 MB
MAXIMUM_MEMORY = 1 << 28  # bytes for decompression; what `xz -9` and `zstd --long=27` need
PEEKED = 1 << 16  # bytes
DECOMPRESSION_ERRORS = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zstandard.ZstdError)


class ChunkReader(io.RawIOBase):
    """A raw file whose bytes come in chunks from an iterator."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.chunks = pieces
        self.remaining = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.remaining:
            chunk = next(self.chunks, None)
            if chunk is None:
                return 0
            self.remaining = memoryview(chunk)
        size = min(len(buffer), len(self.remaining))
        buffer[:size], self.remaining = self.remaining[:size], self.remaining[size:]
        return size


def decompress_streams(file: io.BufferedReader, make_decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """Yields the content of one or several concatenated streams of xz, bzip2 or zstd, chunk by chunk.

    Raises EOFError, LZMAError or ZstdError for a truncated or damaged one.
    """
    data = file.read(CHUNK)
    while data:
        decompressor = make_decompressor()
        while not decompressor.eof:
            if decompressor.needs_input and not data and not (data := file.read(CHUNK)):
                raise EOFError("its compressed data ends early")
            try:
                chunk = decompressor.decompress(data, CHUNK)
            except OSError as error:  # bz2 raises it for damaged data; it is no full disk and no missing file
                raise EOFError(str(error)) from error
            yield chunk
            data = b""
        data = decompressor.unused_data or file.read(CHUNK)


class ZstandardFrame:
    """Decompresses a frame with the interface of `bz2` and `lzma`. zstandard's own reader ignores a truncated frame."""

    def __init__(self) -> None:
        self.frame = zstandard.ZstdDecompressor(max_window_size=MAXIMUM_MEMORY).decompressobj()
        self.pending = memoryview(b"")

    @property
    def needs_input(self) -> bool:
        return not self.pending

    @property
    def eof(self) -> bool:
        return self.frame.eof

    @property
    def unused_data(self) -> bytes:
        return self.frame.unused_data + bytes(self.pending)

    def decompress(self, data: bytes, size: int) -> bytes:
        """Returns the content of the next ZSTD_SLICE bytes. It may exceed `size`, but fits into memory."""
        self.pending = self.pending or memoryview(data)
        piece, self.pending = self.pending[:ZSTD_SLICE], self.pending[ZSTD_SLICE:]
        return self.frame.decompress(piece)


def unpack(file: Any) -> Any:
    """Returns the file itself or, if its first bytes show that it is compressed, a file of its content."""
    start = file.peek(6)[:6]
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    decompressors: dict[bytes, Callable[[], Any]] = {
        b"\xfd7zXZ": lambda: lzma.LZMADecompressor(memlimit=MAXIMUM_MEMORY),
        b"BZh": bz2.BZ2Decompressor,
        b"\x28\xb5\x2f\xfd": ZstandardFrame,
    }
    make = next((make for magic, make in decompressors.items() if start.startswith(magic)), None)
    return file if make is None else io.BufferedReader(ChunkReader(decompress_streams(file, make)), CHUNK)


def decompress_head(data: bytes) -> bytes:
    """Decompresses the first bytes of a file as far as possible; unchanged if they are not compressed."""
    content, head = unpack(io.BufferedReader(io.BytesIO(data))), bytearray()
    with suppress(*DECOMPRESSION_ERRORS, OSError):  # reported when the file is read
        while len(head) < PEEKED and (part := content.read1(PEEKED)):
            head += part
    return bytes(head[:PEEKED])


MAXIMUM_EXPANSION = 200  # times; text is compressed to a tenth, rarely to a fiftieth
LARGE = 1 << 26  # bytes up to which no expansion is refused
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class CountingReader(io.RawIOBase):
    """A raw file that counts and hashes the bytes read from it, after the `peeked` ones."""

    def __init__(self, file: BinaryIO, peeked: bytes = b"") -> None:
        self.file = file
        self.peeked = memoryview(peeked)
        self.count = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = bytes(self.peeked[: len(buffer)]) or self.file.read(len(buffer))
        self.peeked = self.peeked[len(data) :]
        buffer[: len(data)] = data
        self.count += len(data)
        self.digest.update(data)
        return len(data)


class InputStream:
    """A file or standard input as UTF-8 text that can be read once, from the first line to the last.

    Raises NotFoundError for a missing file or a directory, and DataError for anything but text. `bytes_read` grows up
    to `size` while the file is read; both count the bytes on disk, before decompression.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path if path == STDIN else require_file(path)
        self.name = "standard input" if path == STDIN else str(path)
        self.encoding = None if encoding is None else check_encoding(encoding)
        self.size = 0 if path == STDIN else path.stat().st_size  # 0 if unknown
        self._counter: CountingReader | None = None
        self._raw: BinaryIO | None = None
        self._peeked = b""  # what was read of a pipe to look at it
        self.lines_seen = 0
        self.guesses_encoding = False  # whether lines that are not UTF-8 may be read as cp1252, as of spreadsheets
        self.guessed_encoding: str | None = None
        self.has_utf8 = False  # whether a line was UTF-8 and no ASCII
        self._beginning: LinePart | None = None  # where the text begins, if it is in the file as it is read
        self._lines = PartReader(io.BytesIO())  # of `read_lines`

    @property
    def bytes_read(self) -> int:
        return self._counter.count if self._counter else 0

    @property
    def sha256(self) -> str:
        return (self._counter.digest if self._counter else hashlib.sha256()).hexdigest()

    @contextmanager
    def open(self, *, keep_encoding: bool = False) -> Iterator[BinaryIO]:
        """Yields the decompressed bytes as a file, in UTF-8 without a byte order mark.

        `keep_encoding` leaves them unchanged, for formats that declare their encoding. Afterwards the rest of the file
        is read, so that the checksum covers the whole file.
        """
        with self._raw or self.open_raw() as raw:
            self._raw, self._counter = raw, CountingReader(raw, self._peeked)
            file = io.BufferedReader(self._counter, CHUNK)
            try:
                if file.peek(6).startswith(b"PK\x03\x04"):
                    hint = f"extract it first: unzip {self.name}"
                    raise DataError(f"{self.name} is a zip archive, not text", hint=hint)
                unpacked = unpack(file)
                self._beginning = LinePart.begin(self.path) if unpacked is file and self.path != STDIN else None
                content = io.BufferedReader(self.guard_expansion(unpacked, file), CHUNK)
                yield content if keep_encoding else self.convert_to_utf8(content)
                while file.read(CHUNK):
                    pass
            except DECOMPRESSION_ERRORS as error:
                raise DataError(
                    f"{self.name} is damaged: {str(error) or 'its compressed data ends early'}",
                    hint="download or compress it again",
                ) from error

    @contextmanager
    def open_binary(self) -> Iterator[BinaryIO]:
        """Yields the unchanged bytes of the file."""
        with self._raw or self.open_raw() as raw:
            self._raw, self._counter = raw, CountingReader(raw, self._peeked)
            yield io.BufferedReader(self._counter, CHUNK)

    def open_raw(self) -> BinaryIO:
        return open(0 if self.path == STDIN else self.path, "rb", buffering=0, closefd=self.path != STDIN)

    def read_head(self) -> bytes:
        """Returns the first bytes of the content, decompressed as far as possible, without consuming them."""
        if self.path != STDIN and self.path.is_file():
            with self.open_raw() as raw:
                return decompress_head(raw.read(PEEKED))
        self._raw = self._raw or self.open_raw()
        self._peeked = self._peeked or self._raw.read(PEEKED)
        return decompress_head(self._peeked)

    def close(self) -> None:
        """Closes the file if it is open: after an error, a reader may never have reached its end."""
        if self._raw is not None:
            self._raw.close()

    def guard_expansion(self, content: Any, file: Any) -> Any:
        """Wraps the decompressed content in a file that refuses to become far larger than text ever is."""
        if content is file:
            return file

        def read_chunks() -> Iterator[bytes]:
            size = 0
            while chunk := content.read(CHUNK):
                size += len(chunk)
                if size > MAXIMUM_EXPANSION * max(self.bytes_read, LARGE // MAXIMUM_EXPANSION):
                    raise DataError(
                        f"{self.name} grows to more than {MAXIMUM_EXPANSION} times its size when it is decompressed",
                        hint="ordinary text does not; if you trust the file, decompress it first",
                    )
                yield chunk

        return ChunkReader(read_chunks())

    def convert_to_utf8(self, content: io.BufferedReader) -> BinaryIO:
        """Returns a file of the content in UTF-8, without a byte order mark; recognises UTF-16."""
        start = content.peek(CHUNK)[:64]
        encoding = self.encoding
        if encoding is None:
            encoding = "utf-16" if start.startswith(UTF_16_MARKS) else find_wide_encoding(start)
        if encoding not in (None, "utf-8"):
            self._beginning = None
            return io.BufferedReader(ChunkReader(self.transcode_chunks(content, encoding)), CHUNK)
        if start.startswith(BYTE_ORDER_MARK):
            mark = content.read(len(BYTE_ORDER_MARK))
            self._beginning = self._beginning and self._beginning._replace(start=len(mark))
        return content

    def transcode_chunks(self, file: BinaryIO, encoding: str) -> Iterator[bytes]:
        """Yields the content of `file` recoded from `encoding` to UTF-8, chunk by chunk."""
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            while chunk := file.read(CHUNK):
                yield decoder.decode(chunk).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
            yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
        except UnicodeError as error:
            raise DataError(
                f"{self.name}, after line {self.lines_seen:,}: not {encoding} ({error.__class__.__name__}: {error})",
                hint="give the right encoding with --encoding",
            ) from error

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """Yields the number of each line, from 1, and its text with the line end. Only a line feed ends a line."""
        with self.open() as file:
            self._lines = PartReader(file, self._beginning)
            while data := self._lines.read():
                self.lines_seen += 1
                if len(data) > MAXIMUM_LINE:
                    self.refuse_long_line()
                if self.lines_seen == 1 and b"\r" in data.rstrip(b"\r\n") and not data.endswith(b"\n"):
                    self.refuse_carriage_returns()
                yield self.lines_seen, self.decode_line(data)
        self._lines = PartReader(io.BytesIO())

    def look_ahead(self, count: int) -> list[bytes]:
        """Returns the next lines, at most `count`, if they can be read as a part of the file; empty if not.

        They must be plain UTF-8, because what is guessed or refused depends on earlier lines.
        """
        if self._lines.ahead is None or self.guessed_encoding is not None:
            return []
        lines = self._lines.look_ahead(count)
        return lines if are_plain(lines) else []

    def take_parts(self, lines: list[bytes]) -> Iterator[LinePart]:
        """Takes the lines that `look_ahead` has returned, and yields them as a part of the file."""
        self.lines_seen += len(lines)
        self.has_utf8 = self.has_utf8 or not all(map(bytes.isascii, lines))
        yield from self._lines.take_parts(lines)

    def decode_line(self, data: bytes) -> str:
        """Decodes the line that was just read."""
        try:
            text = data.decode(self.guessed_encoding or "utf-8")
        except UnicodeDecodeError as error:
            text = self.guess_line(data, error)
        else:
            self.has_utf8 = self.has_utf8 or not text.isascii()
            if self.guessed_encoding is not None and not is_western(data):
                self.refuse_guess()
        if "\0" in text:
            raise DataError(
                f"{self.name}, line {self.lines_seen}: a NUL byte at column {text.index(chr(0)) + 1}",
                hint="nmt reads only text; if the input is UTF-16, use --encoding utf-16-le",
            )
        return text

    def guess_line(self, data: bytes, error: UnicodeDecodeError) -> str:
        """Decodes the first line that is not UTF-8, and all after it, as cp1252 where guessing is allowed.

        Raises DataError if guessing is not allowed, if earlier lines are UTF-8, or if the bytes suit no Western
        language.
        """
        if not self.guesses_encoding or self.encoding is not None or self.has_utf8 or not is_western(data):
            self.refuse_encoding(data, error)
        self.guessed_encoding = "cp1252"
        return data.decode(self.guessed_encoding)

    def refuse_guess(self) -> NoReturn:
        raise DataError(
            f"{self.name}, line {self.lines_seen}: neither UTF-8 nor {self.guessed_encoding}",
            hint="name its encoding, such as --encoding cp1251",
        )

    def refuse_encoding(self, data: bytes, error: UnicodeDecodeError) -> NoReturn:
        """Raises a DataError that names the likely encoding."""
        likely = "cp1252" if is_cp1252(data) else "iso-8859-1"
        hint = f"if it is {likely}, use --encoding {likely}"
        if self.guesses_encoding and not is_western(data):
            hint = "name its encoding, such as --encoding cp1251"
        if self.encoding is not None:
            hint = "give the right encoding with --encoding"
        raise DataError(
            f"{self.name}, line {self.lines_seen}: invalid UTF-8 "
            f"(byte 0x{data[error.start]:02x} at position {error.start + 1})",
            hint=hint,
        ) from error

    def refuse_carriage_returns(self) -> NoReturn:
        raise DataError(
            f"{self.name} has carriage returns but no line feeds: it is a single long line",
            hint="if they end its lines, convert them: tr '\\r' '\\n'",
        )

    def refuse_long_line(self) -> NoReturn:
        raise DataError(
            f"{self.name}, line {self.lines_seen}: longer than {MAXIMUM_LINE:,} bytes",
            hint="the file must contain one sentence pair per line; is it a text file with line feeds?",
        )
