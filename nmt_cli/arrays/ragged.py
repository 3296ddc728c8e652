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
        """Memory-maps `stem`.ids.npy. Raises ValueError or OSError if the files were not written by `save`."""
        ids = np.load(f"{stem}.ids.npy", mmap_mode="r", allow_pickle=False)
        offsets = np.load(f"{stem}.offsets.npy", allow_pickle=False)
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


def write_array(path: Path, array: IntArray) -> None:
    """Writes an array like `np.save`, but on a full disk raises an error that has its `errno`."""
    header = np.lib.format.header_data_from_array_1_0(array)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(np.ascontiguousarray(array).data)
