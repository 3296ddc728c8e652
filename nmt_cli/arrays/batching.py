"""Which rows go together into a batch, and the padded array of a batch.

Knows arrays only: nothing of text, files or networks. Letters: N rows, B rows of a batch, S width of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import PAD
from nmt_cli.arrays.types import IntArray


@dataclass(frozen=True, kw_only=True)
class BatchSize:
    """How large a batch may be. A row that alone has more than `cells` is a batch of its own."""

    rows: int | None = None
    cells: int | None = None  # rows times the width of the wider side, padding and the end of a sentence counted


@dataclass(frozen=True)
class PoolShape:
    """How many batches can be put together anew when their rows have changed in length."""

    batches_of_group: int = 8
    groups_of_pool: int = 8


Pool = list[list[NDArray[np.int64]]]  # groups of batches of row numbers
Item = TypeVar("Item")


def bucketed_pools(
    source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize, shape: PoolShape, seed: int, epoch: int
) -> list[Pool]:
    """Row numbers of each batch of an epoch, by pools and groups: every row once, rows alike in length together.

    The batches of a group are neighbours in length, shortest first; groups come in random order. The same for the same
    seed and epoch, another for another epoch; but always as many batches.
    """
    rows = len(source_lengths)
    if len(target_lengths) != rows:
        raise ValueError(f"{rows} source lengths, {len(target_lengths)} target lengths")
    generator = np.random.default_rng([seed, epoch])
    order = length_order(source_lengths, target_lengths, generator)
    edges = batch_edges(np.maximum(source_lengths, target_lengths).astype(np.int64)[order] + 1, size)
    batches = [order[start:end] for start, end in pairwise(edges)]
    groups = list(in_runs(batches, shape.batches_of_group))
    shuffled = [groups[number] for number in generator.permutation(len(groups))]
    return list(in_runs(shuffled, shape.groups_of_pool))


def in_runs(items: list[Item], length: int) -> Iterator[list[Item]]:
    return (items[start : start + length] for start in range(0, len(items), length))


def length_order(
    source_lengths: IntArray, target_lengths: IntArray, generator: np.random.Generator
) -> NDArray[np.int64]:
    """All rows, the shortest first, so that neighbours are alike on both sides; equal ones in random order."""
    longer = np.maximum(source_lengths, target_lengths).astype(np.int64)
    difference = target_lengths.astype(np.int64) - source_lengths
    # Up and down in turn, so that a batch which spans two values of `longer` spans near values of `difference`.
    winding = np.where(longer % 2 == 0, difference, -difference) + generator.random(len(longer))
    return np.lexsort((winding, longer)).astype(np.int64)


def batch_count(source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize) -> int:
    """How many batches `bucketed_pools` makes, in a fraction of its time."""
    widths = np.sort(np.maximum(source_lengths, target_lengths).astype(np.int32), kind="stable") + 1
    return len(batch_edges(widths, size)) - 1


def batch_edges(widths: IntArray, size: BatchSize) -> list[int]:
    """Where batches begin in rows of these rising widths (N,), each as large as it may be; and N behind the last."""
    edges = [0] if len(widths) else []
    while edges and edges[-1] < len(widths):
        start = edges[-1]
        most = len(widths) - start if size.rows is None else size.rows
        if size.cells is not None:
            most = min(most, max(1, size.cells // int(widths[start])))
            cells = np.arange(1, len(widths[start : start + most]) + 1) * widths[start : start + most]
            most = max(1, int(np.searchsorted(cells, size.cells, side="right")))
        edges.append(min(start + most, len(widths)))
    return edges or [0]


def pad(ragged: Ragged, rows: IntArray, *, start: int | None = None, end: int | None = None) -> NDArray[np.int32]:
    """(B, S): the sequences `rows`, each after `start` and before `end` if given, filled up with 0 at the end.

    S is the longest of them, `start` and `end` included.
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


def padding_share(batches: Sequence[IntArray], *lengths: IntArray) -> float:
    """Share, 0 to 1, of all cells that is padding, when each side with these (N,) lengths is padded batch by batch."""
    tokens = sum(int(side.sum()) for batch in batches for side in (each[batch] for each in lengths))
    cells = sum(len(batch) * int(side[batch].max(initial=0)) for batch in batches for side in lengths)
    return 1 - tokens / cells if cells else 0.0


def padded(ids: Sequence[Sequence[int]], batch: Sequence[int]) -> IntArray:
    """(B, S): the ids of the lines in `batch`, padded with 0."""
    rows = np.zeros((len(batch), max(len(ids[index]) for index in batch)), dtype=np.int32)
    for row, index in zip(rows, batch, strict=True):
        row[: len(ids[index])] = ids[index]
    return rows
