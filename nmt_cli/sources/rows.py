"""The sources of a split as they are stored: N rows of ids; `images.Grids` has the rows that are pictures.

Letters: N rows, B of a batch, S positions of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.batching import PoolShape
from nmt_cli.arrays.padding import pad_ragged
from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import END
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray

AnyRewrite = TypeVar("AnyRewrite")


class SourceRows(Protocol):
    """The N sources of a split."""

    @classmethod
    def load(cls, stem: Path) -> Self:
        """Memory-maps the rows. Raises ValueError or OSError if the files do not belong together."""
        ...

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) the number of positions of each source: subwords, or regions of a picture."""
        ...

    def __len__(self) -> int: ...

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        """Returns (B,) the lengths by which these rows are batched, beside those of their targets."""
        ...

    def pad_rows(self, rows: IntArray) -> SourceArray:
        """Returns (B, S, ...) the encoder input of these B rows, padded to the longest of them."""
        ...

    def limit_pools(self, shape: PoolShape) -> PoolShape:
        """Returns the amount of data that is augmented together, for which `shape` suits text."""
        ...

    def select_rewrites(self, rewrites: tuple[AnyRewrite, ...]) -> tuple[AnyRewrite, ...]:
        """Returns those of some rewrites of text that apply to these sources."""
        ...

    def change_ids(self, batch: SourceArray, change: Callable[[IntArray], IntArray]) -> SourceArray:
        """Returns the padded rows `batch` (B, S, ...) with their ids changed, if they have any."""
        ...

    def name_grids(self, read_names: Callable[[], Sequence[str]]) -> Mapping[str, FloatArray]:
        """Returns the grid (R, D) of each picture by the name of its row; empty for text, whose names are not read."""
        ...

    def require_sentences(self, problem: str, hint: str = "") -> Sentences:
        """Returns the rows as sentences. Raises OptionError if they are pictures, beginning with the `problem`."""
        ...


class Sentences(Ragged):
    """The ids of N sources that are text."""

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        lengths: IntArray = self.lengths[rows]
        return lengths

    def pad_rows(self, rows: IntArray) -> SourceArray:
        return pad_ragged(self, rows, end=END)

    def limit_pools(self, shape: PoolShape) -> PoolShape:
        return shape

    def select_rewrites(self, rewrites: tuple[AnyRewrite, ...]) -> tuple[AnyRewrite, ...]:
        return rewrites

    def change_ids(self, batch: SourceArray, change: Callable[[IntArray], IntArray]) -> SourceArray:
        return change(batch)

    def name_grids(self, read_names: Callable[[], Sequence[str]]) -> Mapping[str, FloatArray]:
        return {}

    def require_sentences(self, problem: str, hint: str = "") -> Sentences:
        return self
