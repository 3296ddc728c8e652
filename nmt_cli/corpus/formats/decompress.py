"""Decompresses what is packed with gzip, xz, bzip2 or zstd, chunk by chunk, within bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import zstandard

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


def decompress_head(data: bytes) -> bytes:
    """Decompresses the first bytes of a file as far as possible; unchanged if they are not compressed."""
    decompressors: dict[bytes, Callable[[], bytes]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(31).decompress(data, PEEKED),
        b"\xfd7zXZ": lambda: lzma.LZMADecompressor(memlimit=MAXIMUM_MEMORY).decompress(data, PEEKED),
        b"BZh": lambda: bz2.BZ2Decompressor().decompress(data, PEEKED),
        b"\x28\xb5\x2f\xfd": lambda: zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read(PEEKED),
    }
    decompress = next((decompressors[magic] for magic in decompressors if data.startswith(magic)), None)
    try:
        return data if decompress is None else decompress()
    except (*DECOMPRESSION_ERRORS, OSError):  # reported when the file is read
        return b""


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
