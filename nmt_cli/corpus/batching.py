"""Which rows go together into a batch, and the padded array of a batch.

Knows arrays only: nothing of text, files or networks. Letters: N rows, B rows of a batch, S width of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.ragged import IntArray, Ragged

PAD = 0


@dataclass(frozen=True, kw_only=True)
class BatchSize:
    """How large a batch may be. A row that alone has more than `cells` is a batch of its own."""

    rows: int | None = None
    cells: int | None = None  # rows times the width of the wider side, padding and the end of a sentence counted


def bucketed_batches(
    source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Row numbers of each batch of an epoch: every row once, rows alike in length together, batches in random order.

    The same for the same seed and epoch, another for another epoch; but always as many batches.
    """
    rows = len(source_lengths)
    if len(target_lengths) != rows:
        raise ValueError(f"{rows} source lengths, {len(target_lengths)} target lengths")
    generator = np.random.default_rng([seed, epoch])
    longer = np.maximum(source_lengths, target_lengths).astype(np.int64)
    difference = target_lengths.astype(np.int64) - source_lengths
    # Up and down in turn, so that a batch which spans two values of `longer` spans near values of `difference`.
    winding = np.where(longer % 2 == 0, difference, -difference) + generator.random(rows)  # equal ones in any order
    by_length = np.lexsort((winding, longer)).astype(np.int64)
    edges = batch_edges(longer[by_length] + 1, size)
    return [by_length[edges[batch] : edges[batch + 1]] for batch in generator.permutation(len(edges) - 1)]


def batch_count(source_lengths: IntArray, target_lengths: IntArray, *, size: BatchSize) -> int:
    """How many batches `bucketed_batches` makes, in a fraction of its time."""
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
