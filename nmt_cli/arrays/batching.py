"""Groups rows into batches.

Knows only arrays: nothing of text, files or networks. Letters: N rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.types import IntArray


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
    the same in every epoch. Raises ValueError if the numbers of lengths differ.
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

    `widths` (N,) rise; each batch is as large as `size` allows.
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
