"""Bytes of a file or of standard input: counted, hashed, unpacked, brought to UTF-8, and cut into lines.

Whatever it is given, it holds a bounded piece of it at a time. Knows nothing of the formats.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import zstandard

from nmt_cli.corpus.formats.inputs import STDIN
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import require_file

PIECE = 1 << 18  # bytes
LONGEST_LINE = 1 << 20  # bytes; more is no sentence, and memory has an end
SLICE = 1 << 12  # bytes of a zstd frame, of which at most 128 MB can come
UNPACKING_MEMORY = 1 << 28  # bytes; what `xz -9` and `zstd --long=27` need, and no more
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UNPACKING_ERRORS = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zstandard.ZstdError)


class CountingReader(io.RawIOBase):
    """A raw file that counts and hashes what is read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.count = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        self.digest.update(data)
        return len(data)


class ConvertingReader(io.RawIOBase):
    """Pieces of bytes, as an iterator makes them, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.left:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.left = memoryview(piece)
        size = min(len(buffer), len(self.left))
        buffer[:size], self.left = self.left[:size], self.left[size:]
        return size


class InputStream:
    """A file as bytes of UTF-8 text, once, from its first line to its last.

    Raises NotFoundError for a missing file or a directory, DataError for what is no text.
    `bytes_read` of `size` grows while it is read; both are of the file as it lies on the disk.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path if path == STDIN else require_file(path)
        self.name = "standard input" if path == STDIN else str(path)
        self.encoding = check_encoding(encoding)
        self.size = 0 if path == STDIN else path.stat().st_size  # 0: not known
        self._counted: CountingReader | None = None
        self._raw: BinaryIO | None = None
        self.lines_seen = 0

    @property
    def bytes_read(self) -> int:
        return self._counted.count if self._counted else 0

    @property
    def sha256(self) -> str:
        return (self._counted.digest if self._counted else hashlib.sha256()).hexdigest()

    @contextmanager
    def open(self, *, as_written: bool = False) -> Iterator[BinaryIO]:
        """The unpacked bytes, as UTF-8 without byte order mark; or `as_written`, for formats that name their encoding.

        What is left unread in the file is read at the end, so that the checksum is that of the whole file.
        """
        with open(0 if self.path == STDIN else self.path, "rb", buffering=0, closefd=self.path != STDIN) as raw:
            self._raw, self._counted = raw, CountingReader(raw)
            packed = io.BufferedReader(self._counted, PIECE)
            try:
                unpacked = io.BufferedReader(self.unpack(packed), PIECE)
                yield unpacked if as_written else self.as_utf8(unpacked)
                while packed.read(PIECE):
                    pass
            except UNPACKING_ERRORS as error:
                raise DataError(
                    f"{self.name} is damaged: {str(error) or 'its compressed data ends early'}",
                    hint="fetch or pack it again",
                ) from error

    def close(self) -> None:
        """Closes the file, if it is open: an error may leave behind readers that were never finished."""
        if self._raw is not None:
            self._raw.close()

    def unpack(self, packed: Any) -> Any:
        """The stream itself, or what is packed in it."""
        start = packed.peek(6)[:6]
        if start.startswith(b"PK\x03\x04"):
            raise DataError(f"{self.name} is a zip archive; text is needed", hint=f"unpack it first: unzip {self.name}")
        if start.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=packed)
        if start.startswith(b"\xfd7zXZ"):
            return ConvertingReader(
                decompress_streams(packed, lambda: lzma.LZMADecompressor(memlimit=UNPACKING_MEMORY))
            )
        if start.startswith(b"BZh"):
            return ConvertingReader(decompress_streams(packed, bz2.BZ2Decompressor))
        if start.startswith(b"\x28\xb5\x2f\xfd"):
            return ConvertingReader(decompress_streams(packed, ZstandardFrame))
        return packed

    def as_utf8(self, unpacked: io.BufferedReader) -> BinaryIO:
        start = unpacked.peek(PIECE)[:64]
        if self.encoding is None:
            refuse_utf16(self.name, start)
        elif self.encoding != "utf-8":
            return io.BufferedReader(ConvertingReader(self.decode_pieces(unpacked, self.encoding)), PIECE)
        if start.startswith(BYTE_ORDER_MARK):
            unpacked.read(len(BYTE_ORDER_MARK))
        return unpacked

    def decode_pieces(self, file: BinaryIO, encoding: str) -> Iterator[bytes]:
        """The pieces of `file`, which is in `encoding`, in UTF-8."""
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            while piece := file.read(PIECE):
                yield decoder.decode(piece).removeprefix("\ufeff").encode("utf-8", "surrogatepass")
            yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
        except UnicodeError as error:
            raise DataError(
                f"{self.name}, after line {self.lines_seen:,}: not {encoding} ({error.__class__.__name__}: {error})",
                hint="give the encoding that it has with --encoding",
            ) from error

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """The number of each line, counted from 1, and its text with what ends it. Only a line feed ends a line."""
        with self.open() as file:
            while data := file.readline(LONGEST_LINE + 1):
                self.lines_seen += 1
                if len(data) > LONGEST_LINE:
                    self.refuse_long_line()
                if self.lines_seen == 1 and b"\r" in data.rstrip(b"\r\n") and not data.endswith(b"\n"):
                    self.refuse_carriage_returns()
                yield self.lines_seen, self.decode_line(data)

    def decode_line(self, data: bytes) -> str:
        """The text of the bytes of the line that was just read."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse_encoding(data, error)
        if "\0" in text:
            raise DataError(
                f"{self.name}, line {self.lines_seen}: a NUL byte at column {text.index(chr(0)) + 1}",
                hint="text is needed; if it is UTF-16, say so: --encoding utf-16-le",
            )
        return text

    def refuse_encoding(self, data: bytes, error: UnicodeDecodeError) -> NoReturn:
        """Raises the DataError that says what the bytes may be."""
        likely = "cp1252" if is_decodable(data, "cp1252") else "iso-8859-1"
        hint = f"if it is {likely}, say so: --encoding {likely}"
        if self.encoding is not None:
            hint = "give the encoding that it has with --encoding"
        raise DataError(
            f"{self.name}, line {self.lines_seen}: not UTF-8 "
            f"(byte 0x{data[error.start]:02x} at position {error.start + 1})",
            hint=hint,
        ) from error

    def refuse_carriage_returns(self) -> NoReturn:
        raise DataError(
            f"{self.name} has carriage returns and no line feed: it is one long line",
            hint="if they end its lines, convert it: tr '\\r' '\\n'",
        )

    def refuse_long_line(self) -> NoReturn:
        raise DataError(
            f"{self.name}, line {self.lines_seen}: longer than {LONGEST_LINE:,} bytes",
            hint="a sentence pair a line is needed; is it text, and does a line feed end its lines?",
        )


def check_encoding(encoding: str | None) -> str | None:
    """Python's name of the encoding. Raises OptionError for one that there is not."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)  # LookupError for what is no encoding of text, like zlib
        codecs.getincrementaldecoder(encoding)()
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError) as error:
        raise OptionError(
            f"--encoding: there is no encoding {encoding!r}", hint="common ones are utf-8, utf-16, cp1252, shift_jis"
        ) from error


def refuse_utf16(name: str, start: bytes) -> None:
    """Raises DataError if the text that begins with `start` is UTF-16, by its mark or by every other byte being 0."""
    encoding = "utf-16" if start.startswith(UTF_16_MARKS) else None
    half = len(start) // 2
    if half >= 4 and encoding is None:
        for parity, candidate in ((0, "utf-16-be"), (1, "utf-16-le")):
            if start[parity::2].count(0) > 0.7 * half > 0 == start[1 - parity :: 2].count(0):
                encoding = candidate
    if encoding:
        raise DataError(f"{name} is {encoding.upper()}; UTF-8 is needed", hint=f"say so: --encoding {encoding}")


def is_decodable(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def decompress_streams(packed: io.BufferedReader, decompressor: Callable[[], Any]) -> Iterator[bytes]:
    """The content of one or several streams of xz, bzip2 or zstd.

    Raises EOFError, LZMAError or ZstdError for a cut or damaged one.
    """
    rest = packed.read(PIECE)
    while rest:
        unpacker = decompressor()
        while not unpacker.eof:
            if unpacker.needs_input and not rest and not (rest := packed.read(PIECE)):
                raise EOFError("its compressed data ends early")
            try:
                piece = unpacker.decompress(rest, PIECE)
            except OSError as error:  # what bz2 raises for damaged data, and what no full disk or lost file is
                raise EOFError(str(error)) from error
            yield piece
            rest = b""
        rest = unpacker.unused_data or packed.read(PIECE)


class ZstandardFrame:
    """Unpacks a frame as the unpackers of `bz2` and `lzma` do. zstandard's reader does not tell that a frame is cut."""

    def __init__(self) -> None:
        self.frame = zstandard.ZstdDecompressor(max_window_size=UNPACKING_MEMORY).decompressobj()
        self.waiting = memoryview(b"")

    @property
    def needs_input(self) -> bool:
        return not self.waiting

    @property
    def eof(self) -> bool:
        return self.frame.eof

    @property
    def unused_data(self) -> bytes:
        return self.frame.unused_data + bytes(self.waiting)

    def decompress(self, data: bytes, size: int) -> bytes:
        """What the next few of the bytes hold: SLICE of them can hold more than `size`, but memory has room for it."""
        self.waiting = self.waiting or memoryview(data)
        piece, self.waiting = self.waiting[:SLICE], self.waiting[SLICE:]
        return self.frame.decompress(piece)
