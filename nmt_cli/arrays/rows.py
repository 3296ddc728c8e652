"""Rows of ids of unequal length: one flat array with offsets on disk, one padded array for a network, in batches.

The rows `[5, 6]` and `[7]` are `ids [5, 6, 7]` with `offsets [0, 2, 3]`, and `[[5, 6], [7, 0]]` when padded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nmt_cli.arrays.types import PAD, IntArray

# Sequences of ids of unequal length as one flat array with offsets, stored as two .npy files that memory-map.
#
# Letters: N sequences, T ids of all of them together.


@dataclass(frozen=True)
class Ragged:
    """N sequences of ids; sequence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: IntArray  # (T,)
    offsets: NDArray[np.int64]  # (N + 1,)

    @classmethod
    def from_sequences(cls, sequences: Iterable[Iterable[Iterable[int]]], *, vocabulary_size: int) -> Self:
        """Builds the arrays from chunks of sequences; only one chunk at a time is held as Python objects.

        Ids take two bytes if the vocabulary has at most 65,536 tokens, else four.
        """
        dtype = np.uint16 if vocabulary_size <= 2**16 else np.int32
        ids: list[IntArray] = [np.zeros(0, dtype)]
        lengths: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        for chunk in sequences:
            rows = [list(row) for row in chunk]
            lengths.append(np.fromiter(map(len, rows), np.int64, count=len(rows)))
            ids.append(np.fromiter(chain.from_iterable(rows), dtype))
        return cls(np.concatenate(ids), np.cumsum(np.concatenate(lengths)))

    @classmethod
    def load(cls, stem: Path) -> Self:
        """Memory-maps both files. Raises ValueError or OSError if the files were not written by `save`."""
        ids, offsets = (
            np.asarray(np.load(f"{stem}.{name}.npy", mmap_mode="r", allow_pickle=False)) for name in ("ids", "offsets")
        )
        if ids.ndim != 1 or offsets.ndim != 1 or not len(offsets) or offsets[-1] != len(ids):
            raise ValueError(f"{stem}: ids and offsets do not match")
        return cls(ids, offsets)

    def save(self, stem: Path) -> None:
        """Writes `stem`.ids.npy (uint16 or int32) and `stem`.offsets.npy (int64)."""
        write_array(Path(f"{stem}.ids.npy"), self.ids)
        write_array(Path(f"{stem}.offsets.npy"), self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> IntArray:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self[row] for row in range(len(self)))

    def slice(self, rows: slice) -> Self:
        """Returns the sequences of a block of rows."""
        offsets = self.offsets[rows.start : rows.stop + 1]
        return type(self)(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def truncate(self, limit: int) -> Self:
        """Returns the sequences with at most their first `limit` ids."""
        positions = np.arange(len(self.ids)) - np.repeat(self.offsets[:-1], self.lengths)  # (T,) within the sequence
        return self.keep(positions < limit)

    def keep(self, is_kept: NDArray[np.bool_]) -> Self:
        """Returns the sequences with only those ids that `is_kept` (T,) selects."""
        ends = np.concatenate([[0], np.cumsum(is_kept)])
        return type(self)(self.ids[is_kept], ends[self.offsets])

    def insert_before(self, prefixes: Ragged) -> Self:
        """Returns each sequence preceded by the one with the same number in `prefixes`."""
        lengths = self.lengths + prefixes.lengths
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)  # (T,) within the sequence
        is_prefix = positions < np.repeat(prefixes.lengths, lengths)
        ids = np.empty(offsets[-1], self.ids.dtype)
        ids[is_prefix], ids[~is_prefix] = prefixes.ids, self.ids
        return type(self)(ids, offsets)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of ids (N,) of each sequence."""
        return np.diff(self.offsets)


class RaggedWriter:
    """Writes what `Ragged.save` writes, part by part; ids take two or four bytes, by the size of the vocabulary."""

    def __init__(self, stem: Path, vocabulary_size: int) -> None:
        dtype = Ragged.from_sequences((), vocabulary_size=vocabulary_size).ids.dtype
        self.ids = ArrayWriter(Path(f"{stem}.ids.npy"), dtype)
        self.offsets = ArrayWriter(Path(f"{stem}.offsets.npy"), np.dtype(np.int64))
        self.offsets.append(np.zeros(1, np.int64))

    def append(self, rows: Ragged) -> None:
        self.offsets.append(rows.offsets[1:] + self.ids.size)
        self.ids.append(rows.ids)

    def close(self) -> None:
        self.ids.close()
        self.offsets.close()


class ArrayWriter:
    """Writes the file of a one-dimensional array part by part; its header is completed at the end."""

    def __init__(self, path: Path, dtype: np.dtype[np.integer]) -> None:
        self.dtype, self.size = dtype, 0
        self.file = path.open("wb")
        self.write_header()

    def write_header(self) -> None:
        """Writes the header, whose length does not depend on that of the array."""
        header = np.lib.format.header_data_from_array_1_0(np.zeros(0, self.dtype))
        np.lib.format.write_array_header_1_0(self.file, header | {"shape": (self.size,)})

    def append(self, values: IntArray) -> None:
        self.file.write(np.ascontiguousarray(values, self.dtype).data)
        self.size += len(values)

    def close(self) -> None:
        with self.file:
            self.file.seek(0)
            self.write_header()


def write_array(path: Path, array: IntArray) -> None:
    """Writes an array like `np.save`, but raises an error that has its `errno` if the disk is full."""
    header = np.lib.format.header_data_from_array_1_0(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(array).data)


# The padded array of a batch of rows of unequal length.
#
# Must stay light: every start of `nmt translate` imports it. Letters: B rows of a batch, S width of a batch.


def pad_rows(rows: Sequence[Any], *, fill: float = PAD, dtype: DTypeLike = np.int32) -> NDArray[Any]:
    """Returns rows of unequal length as one array (B, S, ...), filled with `fill` after the end of each.

    S is the length of the longest row. A row is a sequence of ids, or an array whose first axis has its length.
    """
    width = max(map(len, rows), default=0)
    padded = np.full((len(rows), width, *(np.shape(rows[0])[1:] if rows else ())), fill, dtype=dtype)
    for target, row in zip(padded, rows, strict=True):
        target[: len(row)] = row
    return padded


def pad_ragged(
    ragged: Ragged, rows: IntArray, *, start: int | None = None, end: int | None = None
) -> NDArray[np.int32]:
    """Returns the sequences `rows` (B,) as one array (B, S), padded with 0 after the end of each.

    Each sequence is preceded by `start` and followed by `end`, if given. S is the length of the longest, including
    these. Does the same as `pad_rows` without a Python loop over the rows, because every training batch needs it once
    per side.
    """
    rows = np.asarray(rows)
    lengths = ragged.lengths[rows]  # (B,)
    first = 0 if start is None else 1
    width = int(lengths.max(initial=0)) + first + (0 if end is None else 1)
    padded = np.full((len(rows), width), PAD, dtype=np.int32)  # (B, S)
    position = np.arange(width) - first  # (S,) position in the sequence
    is_token = (position >= 0) & (position < lengths[:, None])  # (B, S)
    padded[is_token] = ragged.ids[(ragged.offsets[rows][:, None] + position)[is_token]]
    if start is not None:
        padded[:, 0] = start
    if end is not None:
        padded[np.arange(len(rows)), lengths + first] = end
    return padded


# Groups rows into batches.
#
# Knows only arrays: nothing of text, files or networks. Letters: N rows.


@dataclass(frozen=True, kw_only=True)
class BatchSize:
    """The largest size of a batch. A row with more than `cells` forms a batch of its own."""

    rows: int | None = None
    cells: int | None = None  # rows times the width of the wider side, including padding and the end of the sentence


@dataclass(frozen=True)
class PoolShape:
    """The number of batches regrouped together when the lengths of their rows have changed."""

    batches_of_group: int = 8
    groups_of_pool: int = 8


Pool = list[list[NDArray[np.int64]]]  # groups of batches of row numbers
RunItem = TypeVar("RunItem")


def pool_batches(
    source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize, shape: PoolShape, seed: int, epoch: int
) -> list[Pool]:
    """Returns the row numbers of the batches of an epoch, by pool and group.

    Every row occurs once, in a batch of rows of similar length. The batches of a group are adjacent in length, shortest
    first; the groups come in random order. The result depends only on lengths, seed and epoch; the number of batches is
    the same in every epoch. Raises ValueError if the two sides have different numbers of lengths.
    """
    rows = len(source_lengths)
    if len(target_lengths) != rows:
        raise ValueError(f"{rows} source lengths, {len(target_lengths)} target lengths")
    generator = np.random.default_rng([seed, epoch])
    # 1. Sort the rows by length; rows of equal lengths come in random order.
    order = order_by_length(source_lengths, target_lengths, generator)
    # 2. Cut the sorted rows into batches, each as large as it may be. An end of sentence is added to each row.
    widths = np.maximum(source_lengths, target_lengths).astype(np.int64)[order] + 1
    batches = [order[start:end] for start, end in pairwise(find_batch_edges(widths, size))]
    # 3. Join neighbouring batches into groups, so that a group may be cut anew when its rows have changed in length.
    groups = list(split_into_runs(batches, shape.batches_of_group))
    # 4. Shuffle the groups and join them into pools: batches of all lengths follow each other in training.
    shuffled = [groups[index] for index in generator.permutation(len(groups))]
    return list(split_into_runs(shuffled, shape.groups_of_pool))


def split_into_runs(items: list[RunItem], length: int) -> Iterator[list[RunItem]]:
    """Yields runs of `length` consecutive items; the last one may be shorter."""
    return (items[start : start + length] for start in range(0, len(items), length))


def order_by_length(
    source_lengths: IntArray, target_lengths: IntArray, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Returns all row numbers (N,), shortest first: neighbours are similar on both sides, ties in random order."""
    longer = np.maximum(source_lengths, target_lengths).astype(np.int64)
    difference = target_lengths.astype(np.int64) - source_lengths
    # The difference rises for even values of `longer` and falls for odd ones. So a batch that spans two values of
    # `longer` has rows with similar differences.
    winding = np.where(longer % 2 == 0, difference, -difference) + generator.random(len(longer))
    return np.lexsort((winding, longer)).astype(np.int64)


def count_batches(source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize) -> int:
    """Counts the batches that `pool_batches` makes, in a fraction of its time."""
    widths = np.sort(np.maximum(source_lengths, target_lengths).astype(np.int32), kind="stable") + 1
    return len(find_batch_edges(widths, size)) - 1


def find_batch_edges(widths: IntArray, size: BatchSize) -> list[int]:
    """Returns the index of the first row of each batch, and N at the end.

    `widths` (N,) are in ascending order; each batch is as large as `size` allows.
    """
    edges = [0] if len(widths) else []
    while edges and edges[-1] < len(widths):
        start = edges[-1]
        # 1. A batch has no more than `size.rows` rows.
        limit = len(widths) - start if size.rows is None else size.rows
        if size.cells is not None:
            # 2. Its first row is its narrowest: no more rows of that width fit into `size.cells`.
            limit = min(limit, max(1, size.cells // int(widths[start])))
            # 3. Of these candidates keep those with which the batch, as wide as its last row, still fits.
            cells = np.arange(1, len(widths[start : start + limit]) + 1) * widths[start : start + limit]
            limit = max(1, int(np.searchsorted(cells, size.cells, side="right")))
        edges.append(min(start + limit, len(widths)))
    return edges or [0]
