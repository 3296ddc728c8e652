"""Arrays as long as a corpus, in files outside memory, and functions that count and find things in them."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.errors import DamagedError

# Arrays as long as a corpus, in files that the system may take out of memory, and work on them block by block.
#
# Letters: N rows.


BLOCK = 1 << 17  # rows that are worked on at a time
SMALL = 1 << 19  # bytes of an array that stays in memory
ROW = np.int32  # the type of the numbers of rows
NO_RESERVATION = (errno.EOPNOTSUPP, errno.EINVAL)


class Scratch:
    """Makes temporary arrays: large ones in files in a folder, if there is one, the others in memory."""

    def __init__(self, folder: Path | None = None, sizes: Mapping[str, int] = MappingProxyType({})) -> None:
        self.folder = folder
        self.sizes = sizes  # of the columns of an earlier run, which remain
        self.columns: dict[str, Column] = {}

    def make_array(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Returns an array (N,) of zeros. Its nameless file is deleted with it. Raises OSError on a full disk."""
        size = count * np.dtype(dtype).itemsize
        if self.folder is None or size <= SMALL:
            return np.zeros(count, dtype)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            reserve_space(file.fileno(), size)
            return np.asarray(np.memmap(file, dtype, "r+", shape=(count,)))

    def make_column(self, name: str, dtype: DTypeLike) -> Column:
        """Returns a column, in a file of this name if there is a folder. Raises DamagedError if that is too short."""
        path = None if self.folder is None else self.folder / name
        self.columns[name] = Column(dtype, path, self.sizes.get(name, 0))
        return self.columns[name]

    def flush_columns(self) -> dict[str, int]:
        """Flushes the columns to the system, so that they outlive this process, and returns their sizes by name."""
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
        """Returns (N,): the numbers from 0."""
        numbers = self.make_array(count, ROW)
        for block in iterate_blocks(count):
            numbers[block] = np.arange(block.start, block.stop)
        return numbers

    def draw_order(self, count: int, generator: np.random.Generator) -> IntArray:
        """Returns (N,): the numbers from 0 in random order, the same as from `generator.permutation`."""
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
        """Returns (N,): the values of all parts, `count` in all."""
        values, start = self.make_array(count, dtype), 0
        for part in parts:
            values[start : start + len(part)] = part
            start += len(part)
        return values

    def take(self, values: NDArray[Any], places: IntArray) -> NDArray[Any]:
        """Returns (N,): the values at these places (N,)."""
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
        """Flushes everything appended so far to the system, so that it outlives this process."""
        if self.file is not None and not self.file.closed:
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def read(self) -> NDArray[Any]:
        """Returns all values (N,). Changes to them do not change the file."""
        if self.path is not None and self.size and not self.parts:
            self.flush()
            self.parts = [np.asarray(np.memmap(self.path, self.dtype, "c", shape=(self.size,)))]
        if len(self.parts) != 1:
            self.parts = [np.concatenate([np.zeros(0, self.dtype), *self.parts])]
        return self.parts[0]


def reserve_space(file: int, size: int) -> None:
    """Gives an open file this size and reserves the space: a full disk is an error now, and would kill nmt later.

    Where the system cannot reserve space, as on macOS and some network drives, only the size is set.
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
    """Returns n rows in the order of their partitions, given by `numbers` (n,), and the place of each row.

    `heads` (P,) are the next free places of the partitions, and are updated.
    """
    order = np.argsort(numbers, kind="stable")
    counts = np.bincount(numbers, minlength=len(heads))
    places = np.repeat(heads - (np.cumsum(counts) - counts), counts) + np.arange(len(order))
    heads += counts
    return order, places


def judge_blocks(count: int, judge: Callable[[slice], BoolArray]) -> BoolArray:
    """Returns (N,): the results of `judge` for all blocks of rows."""
    result = np.zeros(count, np.bool_)
    for block in iterate_blocks(count):
        result[block] = judge(block)
    return result


def find_first(is_chosen: BoolArray, count: int) -> list[int]:
    """Returns the numbers of the first `count` rows that `is_chosen` (N,) selects, or of all if there are fewer."""
    rows: list[int] = []
    for block in iterate_blocks(len(is_chosen)):
        if len(rows) >= count:
            break
        rows += (np.flatnonzero(is_chosen[block])[: count - len(rows)] + block.start).tolist()
    return rows


def count_numbers(numbers: IntArray, size: int, is_chosen: BoolArray | None = None) -> NDArray[np.int64]:
    """Returns (size,): how often each number from 0 occurs among the chosen `numbers` (N,), by default all."""
    counts = np.zeros(size, np.int64)
    for block in iterate_blocks(len(numbers)):
        part = numbers[block] if is_chosen is None else numbers[block][is_chosen[block]]
        counts += np.bincount(part, minlength=size)
    return counts


def find_members(keys: NDArray[Any], chosen: NDArray[Any]) -> BoolArray:
    """Returns (N,): whether each key is one of `chosen`; 0 means no key, and is never one of them."""
    known = np.unique(chosen)
    known = known[known != 0]
    if not len(known):
        return np.zeros(len(keys), np.bool_)
    return judge_blocks(len(keys), lambda block: np.isin(keys[block], known))


# Medians and quantiles of any number of values, exact and equal to those of numpy, from counts of the values.
#
# Letters: V distinct values.


HALF = np.uint32(16)  # bits of a float of 32 by which values are counted at a time
SIGN = np.uint32(1 << 31)
FloatParts = Callable[[], Iterable[NDArray[np.float32]]]


class ValueCounts(NamedTuple):
    """How often each of V values occurs."""

    values: NDArray[Any]  # (V,)
    counts: NDArray[np.int64]  # (V,)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def choose(self, is_chosen: NDArray[np.bool_]) -> ValueCounts:
        """Returns the counts of some of the values."""
        return ValueCounts(self.values[is_chosen], self.counts[is_chosen])

    def find_quantiles(self, shares: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the quantiles at these shares, 0 to 1, like `np.quantile` of all occurrences."""
        places = (self.total - 1) * np.asarray(shares, np.float64)
        lower = np.floor(places).astype(np.int64)
        low, high = self.find_ranks(lower), self.find_ranks(np.minimum(lower + 1, self.total - 1))
        pairs = zip(low, high, places - lower, strict=True)
        return np.array([np.quantile(neighbours, between) for *neighbours, between in pairs])

    def find_median(self) -> float:
        """Returns the median, like `np.median` of all occurrences."""
        return float(np.median(self.find_ranks(np.array([(self.total - 1) // 2, self.total // 2]))))

    def find_ranks(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Returns the values that stand at these places, counted from 0, among all occurrences in order."""
        order = np.argsort(self.values, kind="stable")
        return self.values[order][np.searchsorted(np.cumsum(self.counts[order]), ranks, side="right")]


def count_values(parts: Iterable[NDArray[Any]]) -> ValueCounts:
    """Counts the values in all parts; the distinct values are in ascending order."""
    values, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for part in parts:
        more, times = np.unique(part, return_counts=True)
        values, places = np.unique(np.concatenate([values, more]), return_inverse=True)
        old, counts = np.concatenate([counts, times]), np.zeros(len(values), np.int64)
        np.add.at(counts, places, old)
    return ValueCounts(values, counts)


def find_float_median(read_parts: FloatParts) -> np.float32:
    """Returns the median of all values, like `np.median`; `read_parts` is called again for each pass over them."""
    total = sum(len(part) for part in read_parts())
    middle = [select_rank(read_parts, rank) for rank in ((total - 1) // 2, total // 2)]
    return np.float32(np.median(np.array(middle, np.float32)))


def select_rank(read_parts: FloatParts, rank: int) -> np.float32:
    """Returns the value at this rank, from 0, in ascending order; finds the upper half of its bits, then the lower."""
    upper, rank = find_digit((order_bits(part) >> HALF for part in read_parts()), rank)
    ordered = (order_bits(part) for part in read_parts())
    lower, _ = find_digit((bits[bits >> HALF == upper] & np.uint32(0xFFFF) for bits in ordered), rank)
    bits = np.array([upper << 16 | lower], np.uint32)
    return np.float32(np.where(bits & SIGN, bits ^ SIGN, ~bits).view(np.float32)[0])


def order_bits(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Returns unsigned integers that sort in the same order as the values."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def find_digit(parts: Iterable[NDArray[np.uint32]], rank: int) -> tuple[int, int]:
    """Returns the 16-bit number at this rank, and the rank among the numbers equal to it."""
    counts = np.zeros(1 << 16, np.int64)
    for part in parts:
        counts += np.bincount(part, minlength=len(counts))
    ends = np.cumsum(counts)
    digit = int(np.searchsorted(ends, rank, side="right"))
    return digit, rank - int(ends[digit] - counts[digit])


# Finds the rows with equal keys among any number of rows, and those that equal keys connect. Does not depend on texts.
#
# Keys are hashes of 64 bits, so that those with equal first bits are about equally many. The rows are put into
# partitions by these bits, and each partition is sorted by itself. Letters: N rows, R those whose keys another row has,
# too.


Keys = NDArray[np.uint64]
AnyKeys = NDArray[np.unsignedinteger]
PARTITION = 1 << 17  # rows that are sorted at a time, about
MOST_BITS = 16  # by which rows are put into partitions
MIXER = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(29)  # bits


class EqualRows(NamedTuple):
    """Rows whose keys repeat, sorted by key; rows with equal keys are adjacent, in ascending order."""

    rows: IntArray  # (R,)
    is_first: BoolArray  # (R,) whether a row is the first with its key

    @property
    def starts(self) -> IntArray:
        """The indices of the rows that are the first with their key."""
        return np.flatnonzero(self.is_first)


def find_equal_rows(keys: Sequence[AnyKeys], is_chosen: BoolArray, scratch: Scratch) -> Iterator[EqualRows]:
    """Yields the chosen rows (`is_chosen`, (N,)) whose `keys` (N,) all equal those of another chosen row.

    They come in parts, sorted by key; all rows with the same key are in one part.
    """
    for rows, values in partition_rows(keys, is_chosen, scratch):
        order = np.argsort(values)
        ordered = values[order]
        same = np.append(ordered[1:] == ordered[:-1], False)
        is_repeated = same | np.append(False, same[:-1])
        repeated = rows[order[is_repeated]]
        numbers = np.cumsum(~np.append(False, same[:-1]))[is_repeated]  # (R,) equal for equal keys
        repeated = repeated[np.lexsort((repeated, numbers))]
        yield EqualRows(repeated, np.diff(numbers, prepend=0) != 0)


def partition_rows(keys: Sequence[AnyKeys], is_chosen: BoolArray, scratch: Scratch) -> Iterator[tuple[IntArray, Keys]]:
    """Yields the chosen rows and their keys, combined into one, partition by partition, each in ascending order."""
    count = int(np.count_nonzero(is_chosen))
    bits = min(max((count // PARTITION).bit_length(), 0), MOST_BITS)
    if not count:
        return
    if not bits:
        rows = np.flatnonzero(is_chosen).astype(ROW)
        yield rows, join_keys([key[rows] for key in keys])
        return
    # 1. Count the rows of each partition.
    sizes = np.zeros(1 << bits, np.int64)
    for _, values in read_keys(keys, is_chosen):
        sizes += np.bincount(number_partitions(values, bits), minlength=len(sizes))
    # 2. Put each row and its key into its partition.
    rows, joined = scratch.make_array(count, ROW), scratch.make_array(count, np.uint64)
    heads = np.cumsum(sizes) - sizes
    for block_rows, values in read_keys(keys, is_chosen):
        order, places = place_in_partitions(number_partitions(values, bits), heads)
        rows[places], joined[places] = block_rows[order], values[order]
    for start, end in zip((heads - sizes).tolist(), heads.tolist(), strict=True):
        if start < end:
            yield rows[start:end], joined[start:end]


def read_keys(keys: Sequence[AnyKeys], is_chosen: BoolArray) -> Iterator[tuple[IntArray, Keys]]:
    """Yields the chosen rows of each block, and their keys combined into one."""
    for block in iterate_blocks(len(is_chosen)):
        chosen = np.flatnonzero(is_chosen[block])
        yield (chosen + block.start).astype(ROW), join_keys([key[block][chosen] for key in keys])


def number_partitions(keys: Keys, bits: int) -> NDArray[np.uint16]:
    return (keys >> np.uint64(64 - bits)).astype(np.uint16)


def join_keys(keys: Sequence[AnyKeys]) -> Keys:
    """Returns (N,): hashes that combine several keys; a single key stays as it is."""
    joined = keys[0].astype(np.uint64, copy=False)
    for key in keys[1:]:
        joined = joined * MIXER  # the order of the keys matters
        joined = ((joined ^ joined >> FOLD) ^ key) * MIXER
        joined ^= joined >> FOLD
    return joined


def mark_repeated(
    keys: Sequence[AnyKeys],
    is_chosen: BoolArray,
    scratch: Scratch,
    rank: Callable[[IntArray], NDArray[np.floating]] | None = None,
) -> BoolArray:
    """Returns (N,): which chosen rows have all `keys` of another chosen row that is earlier or of higher `rank`."""
    is_repeated = np.zeros(len(is_chosen), np.bool_)
    for part in find_equal_rows(keys, is_chosen, scratch):
        rows = part.rows
        if rank is not None:
            rows = rows[np.lexsort((rows, -rank(rows), np.cumsum(part.is_first)))]
        is_repeated[rows[~part.is_first]] = True
    return is_repeated


def connect_rows(count: int, parts: Sequence[EqualRows], scratch: Scratch) -> IntArray:
    """Returns (N,): for each of `count` rows, the smallest row connected with it, directly or through others.

    Rows with equal keys in a part are connected. Labels spread over all of them at once, round by round, and to the row
    that had the label before, as in Shiloach and Vishkin (1982), "An O(log n) parallel connectivity algorithm".
    """
    labels = scratch.count_up(count)
    has_changed = True
    while has_changed:
        has_changed = False
        for part in parts:
            has_changed |= spread_labels(labels, part)
        shorten_paths(labels)
    return labels


def store_equal_rows(key: Keys, is_chosen: BoolArray, scratch: Scratch) -> list[EqualRows]:
    """Returns the chosen rows with equal keys, in scratch arrays; 0 means no key."""
    has_key = judge_blocks(len(key), lambda block: is_chosen[block] & (key[block] != 0))
    return [store_part(part, scratch) for part in find_equal_rows([key], has_key, scratch)]


def store_edges(edges: NDArray[np.integer], scratch: Scratch) -> EqualRows:
    """Returns pairs of rows (E, 2) in the form of rows with equal keys, in scratch arrays."""
    return store_part(EqualRows(edges.ravel(), np.tile([True, False], len(edges))), scratch)


def store_part(part: EqualRows, scratch: Scratch) -> EqualRows:
    """Returns the same rows in scratch arrays."""
    count = len(part.rows)
    return EqualRows(
        scratch.collect(count, ROW, iter([part.rows])), scratch.collect(count, np.bool_, iter([part.is_first]))
    )


def spread_labels(labels: IntArray, part: EqualRows) -> bool:
    """Gives all rows with the same key the smallest of their labels; returns whether any label changed."""
    if not len(part.rows):
        return False
    starts = part.starts
    old = labels[part.rows]
    smallest = np.repeat(np.minimum.reduceat(old, starts), np.diff(starts, append=len(old)))
    is_larger = old > smallest
    np.minimum.at(labels, old[is_larger], smallest[is_larger])  # the row that had the label, and so all rows with it
    np.minimum.at(labels, part.rows[is_larger], smallest[is_larger])
    return bool(is_larger.any())


def shorten_paths(labels: IntArray) -> None:
    """Replaces each label by the label of the row that it names, until nothing changes."""
    for block in iterate_blocks(len(labels)):
        while True:
            shorter = labels[labels[block]]
            if (shorter == labels[block]).all():
                break
            labels[block] = shorter
