"""Reads lines in batches as they arrive, and cuts files into parts that workers read by themselves.

For the lines `a`, `b`, `c` and a limit of 2, `batch_blocks` yields `[a, b]` and `[c]`; `batch_arriving` yields at once
whatever has arrived. `cut_file` yields the positions of both batches in the file, so that another process that sees the
file can read them.
"""

from __future__ import annotations

import io
import os
import queue
import stat
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from nmt_cli.errors import DataError

StreamItem = TypeVar("StreamItem")

COMPRESSORS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}  # by the first bytes of their files


def decode_lines(
    lines: Iterable[bytes], name: str, *, errors: str = "strict", ends: bool = False, way_on: str = "", first: int = 1
) -> Iterator[str]:
    """Yields the UTF-8 text of each line, without its end (LF or CR LF) unless `ends`.

    Invalid UTF-8 becomes U+FFFD if `errors` is "replace"; otherwise it raises DataError with `name` and the 1-based
    line number, from `first`. The hint suggests converting or decompressing the text; `way_on` adds another way.
    """
    for number, line in enumerate(lines, start=first):
        try:
            yield (line if ends else line.removesuffix(b"\n").removesuffix(b"\r")).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            magic = next((magic for magic in COMPRESSORS if number == 1 and line.startswith(magic)), None)
            raise DataError(
                f"{name}, line {number:,}: byte 0x{line[error.start]:02x} is not valid UTF-8",
                hint=f"the file is compressed; decompress it first, with {COMPRESSORS[magic]} -dc"
                if magic
                else f"convert it to UTF-8 first, for instance with iconv{way_on}",
            ) from error


FIRST_BLOCK = 128  # of a file: each block is saved as a whole, and an early interruption must not lose minutes


def batch_blocks(
    items: Iterable[StreamItem],
    limit: int,
    measure: Callable[[StreamItem], int] = lambda _: 1,
    *,
    first: int | None = None,
) -> Iterator[list[StreamItem]]:
    """Yields the items in lists of `limit`, as `measure` counts them; the last may be shorter.

    With `first`, the first list has that size, and each further list has twice the size of the last, up to `limit`.
    Raises an exception of `items` after yielding the items before it.
    """
    block: list[StreamItem] = []
    size, most = 0, min(first or limit, limit)
    try:
        for item in items:
            block.append(item)
            size += measure(item)
            if size >= most:
                yield block
                block, size, most = [], 0, min(2 * most, limit)
    except Exception:
        if block:
            yield block
        raise
    if block:
        yield block


class StreamEnd(NamedTuple):
    """Marks the end of a stream, with the error that ended it, if any."""

    error: BaseException | None = None


def batch_arriving(items: Iterable[StreamItem], limit: int) -> Iterator[list[StreamItem]]:
    """Yields batches of at least 1 and at most `limit` items, in order of arrival.

    A thread reads up to two batches ahead, so that reading overlaps with work on a batch. Raises an exception of
    `items` after yielding the items before it.
    """
    ready: queue.Queue[StreamItem | StreamEnd] = queue.Queue(maxsize=2 * limit)

    def read() -> None:
        try:
            for item in items:
                ready.put(item)
            ready.put(StreamEnd())
        except BaseException as error:  # of any kind: it belongs to the reader of the batches
            ready.put(StreamEnd(error))

    threading.Thread(target=read, daemon=True).start()
    while True:
        batch, end = take_batch(ready, limit)
        if batch:
            yield batch
        if end is not None:
            if end.error is not None:
                raise end.error
            return


def take_batch(ready: queue.Queue[StreamItem | StreamEnd], limit: int) -> tuple[list[StreamItem], StreamEnd | None]:
    """Waits for one item, then takes all others available, up to `limit` or the end."""
    batch: list[StreamItem] = []
    item = ready.get()
    while not isinstance(item, StreamEnd):
        batch.append(item)
        if len(batch) == limit or ready.empty():
            return batch, None
        item = ready.get()
    return batch, item


MAXIMUM_LINE = 1 << 20  # bytes; no sentence is longer, and memory is finite


class MissingPartError(DataError):
    """The file is missing, or is not the one that was named."""


class LinePart(NamedTuple):
    """Whole lines of a file: its bytes from `start` to `end`; `first` is the number of the first line."""

    path: str
    state: tuple[int, int]  # the size of the file in bytes, and when it changed, in nanoseconds
    first: int = 1
    start: int = 0
    end: int = 0
    content: bytes | None = None  # for a machine that does not see the file

    @classmethod
    def begin(cls, path: Path) -> LinePart | None:
        """Returns the empty part at the beginning of a file; None for a pipe."""
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        return cls(os.path.abspath(path), (status.st_size, status.st_mtime_ns))

    def read(self) -> bytes:
        """Returns the bytes. Raises MissingPartError."""
        if self.content is not None:
            return self.content
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_size, status.st_mtime_ns) != self.state:
                    raise MissingPartError(f"{self.path} changed while it was read", hint="start again")
                file.seek(self.start)
                return file.read(self.end - self.start)
        except OSError as error:
            raise MissingPartError(f"{self.path} disappeared while it was read", hint="start again") from error

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """Yields the number and the text of each line, with its end. Only a line feed ends a line."""
        for number, line in enumerate(io.BytesIO(self.read()), self.first):
            yield number, line.decode()

    def pack(self) -> LinePart:
        """Returns the part with its content."""
        return self._replace(content=self.read())


class PartTexts(Sequence[str]):
    """The lines of a part of a file as texts, without their ends (LF or CR LF).

    When pickled, they contain no text; whoever asks for a text reads it from the file. Raises MissingPartError if the
    file is missing or has changed.
    """

    def __init__(self, part: LinePart, length: int, checksum: int) -> None:
        self.part = part
        self.length = length
        self.checksum = checksum  # of the content

    def __reduce__(self) -> tuple[Any, ...]:
        return PartTexts, (self.part._replace(content=None), self.length, self.checksum)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        return self.texts[index]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        content = self.part.read()
        if zlib.crc32(content) != self.checksum:
            raise MissingPartError(f"{self.part.path} changed while it was read", hint="start again")
        return tuple(line.removesuffix("\r") for line in content.decode().removesuffix("\n").split("\n"))


class FileLines:
    """The lines of a file, one by one or part by part."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from file

    def read_parts(self, size: int, first: int | None = None) -> Iterator[tuple[PartTexts, list[bytes]]]:
        """Yields the texts of `size` lines at a time, and the lines themselves; sizes grow as in `batch_blocks`."""
        part = LinePart.begin(self.path) or LinePart(str(self.path), (0, 0))  # of a pipe, which no other process sees
        with self.path.open("rb") as file:
            for lines in batch_blocks(file, size, first=first):
                content = b"".join(lines)
                part = part._replace(start=part.end, end=part.end + len(content), content=content)
                yield PartTexts(part, len(lines), zlib.crc32(content)), lines
                part = part._replace(first=part.first + len(lines))


class PartReader:
    """The lines of a file, one by one or as parts. `ahead` is the empty part where the text begins, or None.

    The first bytes of a line longer than MAXIMUM_LINE count as a line.
    """

    def __init__(self, file: BinaryIO, ahead: LinePart | None = None) -> None:
        self.file = file
        self.ahead = ahead
        self.coming: deque[bytes] = deque()  # lines that were looked at

    def read(self) -> bytes:
        """Returns the next line; empty at the end."""
        line = self.coming.popleft() if self.coming else self.file.readline(MAXIMUM_LINE + 1)
        self.move([line])
        return line

    def look_ahead(self, count: int) -> list[bytes]:
        """Returns the next lines, at most `count`."""
        missing = max(0, count - len(self.coming))
        self.coming.extend(islice(iter(partial(self.file.readline, MAXIMUM_LINE + 1), b""), missing))
        return list(islice(self.coming, count))

    def take_parts(self, lines: Sequence[bytes]) -> Iterator[LinePart]:
        """Takes the lines that were looked at, and yields them as a part if they come from a file."""
        part = self.ahead
        for _ in lines:
            self.coming.popleft()
        self.move(lines)
        if part is not None and self.ahead is not None:
            yield part._replace(end=self.ahead.start)

    def move(self, lines: Sequence[bytes]) -> None:
        """Moves the position past the lines."""
        if self.ahead is not None:
            first, start = self.ahead.first + len(lines), self.ahead.start + sum(map(len, lines))
            self.ahead = self.ahead._replace(first=first, start=start)


def cut_file(path: Path, count: int) -> Iterator[LinePart]:
    """Yields the parts of a file, of `count` lines each; the last may have fewer."""
    return (texts.part._replace(content=None) for texts, _ in FileLines(path).read_parts(count))


def are_plain(lines: Sequence[bytes]) -> bool:
    """Whether lines are UTF-8 text, and none is too long."""
    content = b"".join(lines)
    if b"\0" in content or max(map(len, lines), default=0) > MAXIMUM_LINE:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
