"""The padded array of a batch of rows of unequal length.

Must stay light: every start of `nmt translate` imports it. Letters: B rows of a batch, S width of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nmt_cli.arrays.special_ids import PAD
from nmt_cli.arrays.types import IntArray

if TYPE_CHECKING:
    from nmt_cli.arrays.ragged import Ragged


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
    these. Equals `pad_rows` without a Python loop over the rows, since every training batch needs it, once per side.
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
