"""Arrays as long as a corpus, in files that the system may take out of memory, and work on them block by block.

Letters: N rows.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.errors import DamagedError

BLOCK = 1 << 17  # rows that are worked on at a time
SMALL = 1 << 19  # bytes of an array that stays in memory
ROW = np.int32  # the type of the numbers of rows
NO_RESERVATION = (errno.EOPNOTSUPP, errno.EINVAL)


class Scratch:
    """Makes arrays for the time of some work: the large ones in files of a folder, if there is one, else in memory."""

    def __init__(self, folder: Path | None = None, sizes: Mapping[str, int] = MappingProxyType({})) -> None:
        self.folder = folder
        self.sizes = sizes  # of the columns of an earlier run, which remain
        self.columns: dict[str, Column] = {}

    def make_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Returns an array (N,) of zeros. Its file has no name, and vanishes with it. Raises OSError on a full disk."""
        size = count * np.dtype(dtype).itemsize
        if self.folder is None or size <= SMALL:
            return np.zeros(count, dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            reserve_space(file.fileno(), size)
            return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))

    def make_column(self, name: str, dtype: DTypeLike) -> Column:
        """Returns a column whose file, if there is a folder, has that name. Raises DamagedError if it is too short."""
        path = None if self.folder is None else self.folder / name
        self.columns[name] = Column(dtype, path, self.sizes.get(name, 0))
        return self.columns[name]

    def flush_columns(self) -> dict[str, int]:
        """Hands the columns to the system, so that they outlive this process, and returns their sizes by name."""
        for column in self.columns.values():
            column.flush()
        return {name: len(column) for name, column in self.columns.items()}

    def drop_column(self, name: str) -> None:
        """Removes a column and its file."""
        column = self.columns.pop(name)
        column.close()
        if column.path is not None:
            column.path.unlink()

    def close(self) -> None:
        """Closes the files of the columns."""
        for column in self.columns.values():
            column.close()

    def count_up(self, count: int) -> IntArray:
        """Returns (N,) the numbers from 0."""
        numbers = self.make_array(count, ROW)
        for block in iterate_blocks(count):
            numbers[block] = np.arange(block.start, block.stop)
        return numbers

    def draw_order(self, count: int, generator: np.random.Generator) -> IntArray:
        """Returns (N,) the numbers from 0 in random order, that of `generator.permutation`."""
        numbers = self.count_up(count)
        generator.shuffle(numbers)
        return numbers

    def find_rows(self, is_chosen: BoolArray) -> IntArray:
        """Returns the numbers of the rows that `is_chosen` (N,) selects."""
        return self.collect(
            int(np.count_nonzero(is_chosen)),
            ROW,
            (np.flatnonzero(is_chosen[block]) + block.start for block in iterate_blocks(len(is_chosen))),
        )

    def collect(self, count: int, dtype: DTypeLike, parts: Iterator[NDArray[Any]]) -> NDArray[Any]:
        """Returns (N,) the values of all parts, which are `count` in all."""
        values, start = self.make_array(count, dtype), 0
        for part in parts:
            values[start : start + len(part)] = part
            start += len(part)
        return values

    def take(self, values: NDArray[Any], places: IntArray) -> NDArray[Any]:
        """Returns (N,) the values at these places (N,)."""
        return self.collect(len(places), values.dtype, (values[places[block]] for block in iterate_blocks(len(places))))


class Column:
    """An array that grows at its end, in memory or in a file."""

    def __init__(self, dtype: DTypeLike, path: Path | None = None, size: int = 0) -> None:
        self.dtype, self.path, self.size = np.dtype(dtype), path, size
        self.parts: list[NDArray[Any]] = []  # of the array; of a file, the view of all of it, if it was read
        self.file = None
        if path is not None:
            end = size * self.dtype.itemsize
            if size and path.stat().st_size < end:
                raise DamagedError(f"{path} is shorter than it was", hint="start over, without --resume")
            self.file = path.open("r+b" if size else "wb")
            self.file.truncate(end)
            self.file.seek(end)

    def __len__(self) -> int:
        return self.size

    def append(self, values: NDArray[Any]) -> None:
        values = np.ascontiguousarray(values, self.dtype)
        self.size += len(values)
        if self.file is None:
            self.parts.append(values)
        else:
            self.parts = []
            self.file.write(values.data)

    def flush(self) -> None:
        """Hands all that was appended to the system, so that it outlives this process."""
        if self.file is not None and not self.file.closed:
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def read(self) -> NDArray[Any]:
        """Returns all values (N,). What is changed in them is not changed in the file."""
        if self.path is not None and self.size and not self.parts:
            self.flush()
            self.parts = [np.asarray(np.memmap(self.path, self.dtype, "c", shape=(self.size,)))]
        if len(self.parts) != 1:
            self.parts = [np.concatenate([np.zeros(0, self.dtype), *self.parts])]
        return self.parts[0]


def reserve_space(file: int, size: int) -> None:
    """Gives an open file this size, with space on the disk: a full one is an error now, and would kill us later.

    Where the system cannot reserve space, as on macOS and some network drives, the file only has its size.
    """
    try:
        os.posix_fallocate(file, 0, size)
    except AttributeError:
        os.truncate(file, size)
    except OSError as error:
        if error.errno not in NO_RESERVATION:
            raise
        os.truncate(file, size)


def iterate_blocks(count: int, size: int | None = None) -> Iterator[slice]:
    """Yields slices that together cover `count` rows in order."""
    size = size or BLOCK
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def place_in_partitions(numbers: IntArray, heads: NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """Returns n rows in the order of their partitions, whose `numbers` (n,) are given, and the place of each.

    `heads` (P,) are the next free place of each partition, and are moved on.
    """
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=len(heads))
    places = np.repeat(heads - (np.cumsum(counts) - counts), counts) + np.arange(len(order))
    heads += counts
    return order, places


def judge_blocks(count: int, judge: Callable[[slice], BoolArray]) -> BoolArray:
    """Returns (N,) what `judge` returns for each block of rows."""
    result = np.zeros(count, np.bool_)
    for block in iterate_blocks(count):
        result[block] = judge(block)
    return result


def find_first(is_chosen: BoolArray, count: int) -> list[int]:
    """Returns the numbers of the first `count` rows that `is_chosen` (N,) selects, or of all if they are fewer."""
    rows: list[int] = []
    for block in iterate_blocks(len(is_chosen)):
        if len(rows) >= count:
            break
        rows += (np.flatnonzero(is_chosen[block])[: count - len(rows)] + block.start).tolist()
    return rows


def count_numbers(numbers: IntArray, size: int, is_chosen: BoolArray | None = None) -> NDArray[np.int64]:
    """Returns (size,) how often each number from 0 occurs among the chosen ones of N, by default all."""
    counts = np.zeros(size, np.int64)
    for block in iterate_blocks(len(numbers)):
        part = numbers[block] if is_chosen is None else numbers[block][is_chosen[block]]
        counts += np.bincount(part, minlength=size)
    return counts


def find_members(keys: NDArray[Any], chosen: NDArray[Any]) -> BoolArray:
    """Returns (N,) whether each key is one of `chosen`; 0 stands for none, and never is."""
    known = np.unique(chosen)
    known = known[known != 0]
    if not len(known):
        return np.zeros(len(keys), np.bool_)
    return judge_blocks(len(keys), lambda block: np.isin(keys[block], known))
