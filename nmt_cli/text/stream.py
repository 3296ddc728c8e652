"""Lines, or what is made of them, as they arrive: what is already there is batched, and never waits for more.

Knows bytes and lines, nothing of translation.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from nmt_cli.errors import DataError

StreamItem = TypeVar("StreamItem")

COMPRESSORS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}  # by the first bytes of their files


def decode_lines(
    lines: Iterable[bytes], name: str, *, errors: str = "strict", keep_ends: bool = False, alternative: str = ""
) -> Iterator[str]:
    """Yields the UTF-8 text of each line, without its end (LF or CR LF) unless `keep_ends`.

    Invalid UTF-8 becomes U+FFFD if `errors` is "replace"; otherwise it raises DataError with `name`, the line's number
    from 1, and a hint: to convert the text, to which `alternative` adds another way, or to decompress it.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield (line if keep_ends else line.removesuffix(b"\n").removesuffix(b"\r")).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            magic = next((magic for magic in COMPRESSORS if number == 1 and line.startswith(magic)), None)
            raise DataError(
                f"{name}, line {number:,}: byte 0x{line[error.start]:02x} is not valid UTF-8",
                hint=f"it is compressed; decompress it first, with {COMPRESSORS[magic]} -dc"
                if magic
                else f"convert it to UTF-8 first, for instance with iconv{alternative}",
            ) from error


def batch_blocks(items: Iterable[StreamItem], limit: int) -> Iterator[list[StreamItem]]:
    """Yields the items in lists of `limit`; the last list may be shorter.

    An exception of `items` is raised here after the items before it have been yielded.
    """
    block: list[StreamItem] = []
    try:
        for item in items:
            block.append(item)
            if len(block) == limit:
                yield block
                block = []
    except Exception:
        if block:
            yield block
        raise
    if block:
        yield block


class StreamEnd(NamedTuple):
    """Follows the last item of a stream, with the error that ended the stream, if any."""

    error: BaseException | None = None


def batch_arriving(items: Iterable[StreamItem], limit: int) -> Iterator[list[StreamItem]]:
    """Yields batches of the items that have arrived, in order: at least 1 and at most `limit`.

    A thread reads up to two batches ahead, so that reading overlaps with the work on a batch. An exception of `items`
    is raised here after the items before it have been yielded.
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
    """Waits for one item, then takes all others that are there; stops at `limit` and at the end."""
    batch: list[StreamItem] = []
    item = ready.get()
    while not isinstance(item, StreamEnd):
        batch.append(item)
        if len(batch) == limit or ready.empty():
            return batch, None
        item = ready.get()
    return batch, item
