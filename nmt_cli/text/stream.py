"""Batches lines, or items made from them, as they arrive, without waiting for more.

Knows bytes and lines, nothing of translation.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

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
                hint=f"it is compressed; decompress it first, with {COMPRESSORS[magic]} -dc"
                if magic
                else f"convert it to UTF-8 first, for instance with iconv{way_on}",
            ) from error


def batch_blocks(
    items: Iterable[StreamItem], limit: int, measure: Callable[[StreamItem], int] = lambda _: 1
) -> Iterator[list[StreamItem]]:
    """Yields the items in lists of `limit`, as `measure` counts them; the last may be shorter.

    Raises an exception of `items` after yielding the items before it.
    """
    block: list[StreamItem] = []
    size = 0
    try:
        for item in items:
            block.append(item)
            size += measure(item)
            if size >= limit:
                yield block
                block, size = [], 0
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
