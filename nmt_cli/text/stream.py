"""Lines, or what is made of them, as they arrive: what is there is taken together, and nothing there waits for more.

Knows bytes and lines, nothing of translation.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from nmt_cli.errors import DataError

StreamItem = TypeVar("StreamItem")

PACKERS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}  # by how what they pack begins


def decode_lines(
    lines: Iterable[bytes], name: str, *, errors: str = "strict", ends: bool = False, way_on: str = ""
) -> Iterator[str]:
    """Text of each line without its end (LF or CR LF) unless `ends`, read as UTF-8; `name` names the source in errors.

    Bytes that are not UTF-8 become U+FFFD where `errors` is "replace"; else they raise DataError with the line's
    number, from 1, and what else than converting it could be done (`way_on`, behind a comma); or how to unpack it.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield (line if ends else line.removesuffix(b"\n").removesuffix(b"\r")).decode("utf-8", errors)
        except UnicodeDecodeError as error:
            packer = next((packer for mark, packer in PACKERS.items() if number == 1 and line.startswith(mark)), None)
            unpacking = f"it is packed; unpack it first, with {packer} -dc"
            raise DataError(
                f"{name}, line {number:,}: byte 0x{line[error.start]:02x} is not valid UTF-8",
                hint=unpacking if packer else f"convert it to UTF-8 first, for instance with iconv{way_on}",
            ) from error


def batch_blocks(items: Iterable[StreamItem], limit: int) -> Iterator[list[StreamItem]]:
    """The items in lists of `limit`, the last of which may be shorter.

    An exception of `items` is raised here after the items before it were given out.
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


def batch_arriving(lines: Iterable[StreamItem], limit: int) -> Iterator[list[StreamItem]]:
    """Batches of the items that are there at the moment, at least 1 and at most `limit`, in order.

    A thread reads ahead, at most two batches, so that reading and what is done with a batch overlap. An exception of
    `lines` is raised here after the lines before it were given out.
    """
    ready: queue.Queue[StreamItem | End] = queue.Queue(maxsize=2 * limit)

    def read() -> None:
        try:
            for line in lines:
                ready.put(line)
            ready.put(End())
        except BaseException as error:  # whatever it is, it belongs to the reader of the batches
            ready.put(End(error))

    threading.Thread(target=read, daemon=True).start()
    while True:
        batch, end = take(ready, limit)
        if batch:
            yield batch
        if end is not None:
            if end.error is not None:
                raise end.error
            return


class End(NamedTuple):
    """Stands behind the last line, with what ended the lines if it was an error."""

    error: BaseException | None = None


def take(ready: queue.Queue[StreamItem | End], limit: int) -> tuple[list[StreamItem], End | None]:
    """Waits for a first item, then takes what else is there; stops at the end."""
    batch: list[StreamItem] = []
    item = ready.get()
    while not isinstance(item, End):
        batch.append(item)
        if len(batch) == limit or ready.empty():
            return batch, None
        item = ready.get()
    return batch, item
