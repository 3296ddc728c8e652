"""Finds the rows with equal keys among any number of rows, and those that equal keys connect. Knows no texts.

Keys are hashes of 64 bits, so that those with equal first bits are about equally many. The rows are put into partitions
by these bits, and each partition is sorted by itself. Letters: N rows, R those whose keys another row has, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import ROW, Scratch, iterate_blocks, judge_blocks, place_in_partitions
from nmt_cli.arrays.types import BoolArray, IntArray

Keys = NDArray[np.uint64]
AnyKeys = NDArray[np.unsignedinteger]
PARTITION = 1 << 17  # rows that are sorted at a time, about
MOST_BITS = 16  # by which rows are put into partitions
MIXER = np.uint64(0x9E3779B97F4A7C15)
FOLD = np.uint64(29)  # bits


class EqualRows(NamedTuple):
    """Rows whose keys repeat, sorted by key; those of equal keys stand together, in ascending order."""

    rows: IntArray  # (R,)
    is_first: BoolArray  # (R,) whether a row is the first with its key

    @property
    def starts(self) -> IntArray:
        """The indices of the rows that are the first with their key."""
        return np.flatnonzero(self.is_first)


def find_equal_rows(keys: Sequence[AnyKeys], is_chosen: BoolArray, scratch: Scratch) -> Iterator[EqualRows]:
    """Yields the rows, of those that `is_chosen` (N,) selects, whose `keys` (N,) all equal those of another such row.

    They come in parts, sorted by key; a part has all rows of a key.
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
    """Yields the chosen rows and their keys, joined to one, partition by partition, each in ascending order."""
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
    """Yields the chosen rows of each block, and their keys joined to one."""
    for block in iterate_blocks(len(is_chosen)):
        chosen = np.flatnonzero(is_chosen[block])
        yield (chosen + block.start).astype(ROW), join_keys([key[block][chosen] for key in keys])


def number_partitions(keys: Keys, bits: int) -> NDArray[np.uint16]:
    return (keys >> np.uint64(64 - bits)).astype(np.uint16)


def join_keys(keys: Sequence[AnyKeys]) -> Keys:
    """Returns (N,) hashes of several keys together; a single key remains."""
    joined = keys[0].astype(np.uint64, copy=False)
    for key in keys[1:]:
        joined = joined * MIXER  # the order of the keys matters
        joined = ((joined ^ joined >> FOLD) ^ key) * MIXER
        joined ^= joined >> FOLD
    return joined


def mark_repeated(keys: Sequence[AnyKeys], is_chosen: BoolArray, scratch: Scratch) -> BoolArray:
    """Returns (N,) the chosen rows whose `keys` all equal those of an earlier chosen row."""
    is_repeated = np.zeros(len(is_chosen), np.bool_)
    for part in find_equal_rows(keys, is_chosen, scratch):
        is_repeated[part.rows[~part.is_first]] = True
    return is_repeated


def connect_rows(count: int, parts: Sequence[EqualRows], scratch: Scratch) -> IntArray:
    """Returns (N,) for each of `count` rows the smallest one that is connected with it, directly or through others.

    Rows of equal keys in a part are connected. Labels spread over all of them at once, round by round, and to the row
    that had the label before: as by Shiloach and Vishkin (1982), "An O(log n) parallel connectivity algorithm".
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
    """Returns the chosen rows with equal keys, in scratch arrays; 0 is the key of none."""
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
    """Gives all rows of a key the smallest of their labels; returns whether any had another."""
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
    """Replaces each label by that of its row, until nothing changes."""
    for block in iterate_blocks(len(labels)):
        while True:
            shorter = labels[labels[block]]
            if (shorter == labels[block]).all():
                break
            labels[block] = shorter
