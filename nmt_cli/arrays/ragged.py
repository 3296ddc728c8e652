"""Sequences of ids of unequal length as one flat array with offsets, stored as two .npy files that memory-map.

Letters: N sequences, T ids of all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray


@dataclass(frozen=True)
class Ragged:
    """N sequences of ids; sequence i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: IntArray  # (T,)
    offsets: NDArray[np.int64]  # (N + 1,)

    @classmethod
    def from_sequences(cls, sequences: Iterable[Iterable[Iterable[int]]], *, vocabulary_size: int) -> Self:
        """Builds it from chunks of sequences; only one chunk at a time is held as Python objects.

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
            raise ValueError(f"{stem}: ids and offsets do not belong together")
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
        """Returns the sequences with only those of all ids that `is_kept` (T,) selects."""
        ends = np.concatenate([[0], np.cumsum(is_kept)])
        return type(self)(self.ids[is_kept], ends[self.offsets])

    def insert_before(self, prefixes: Ragged) -> Self:
        """Returns each sequence preceded by that of `prefixes` with the same number."""
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
    """Writes the file of an array of one dimension part by part; its header is completed at the end."""

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
    """Writes an array like `np.save`, but on a full disk raises an error that has its `errno`."""
    header = np.lib.format.header_data_from_array_1_0(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(array).data)
