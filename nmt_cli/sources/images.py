"""Pictures as grids of features: their files, their storage, and the source side that consists of them.

A picture has R regions, in row-major order. Each region is a vector of D numbers, the output of a convolutional network
at that place. Does not depend on the network that computed them (`model/encoders.py` has one). Letters: N pairs, M
pictures of a split, T regions of all of them together, B rows of a batch.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import PoolShape, pad_rows
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import require_file
from nmt_cli.sources.source import AnyRewrite, PictureReader, SourceRow
from nmt_cli.text.tags import SentenceContext, TagSet

IMAGE_WEIGHTS = "image.weights.h5"  # weights of the network that reads pictures, in a prepared or a model directory


class FeatureFiles:
    """Reads grids from .npy or .npz files: (R, D), or (rows, columns, D)."""

    def save(self, directory: Path) -> None:
        """Writes nothing, since features are read unchanged."""

    def read_shape(self, path: Path) -> tuple[int, int]:
        grid = load_features(path)
        return math.prod(grid.shape[:-1]), grid.shape[-1]

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        return [require_finite(load_features(path), path) for path in paths]


def load_features(path: Path) -> NDArray[Any]:
    """Returns the array of a file, memory-mapped if possible. Raises NotFoundError, or DataError for other content."""
    require_file(path)
    hint = "save features with numpy.save: regions x depth, or rows x columns x depth"
    try:
        content = np.load(path, mmap_mode="r", allow_pickle=False)
        array = content if isinstance(content, np.ndarray) else pick_array(content, path)
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is not a file of features (.npy or .npz)", hint=hint) from error
    if array.ndim not in (2, 3) or not array.size or not np.issubdtype(array.dtype, np.number):
        shape = " x ".join(map(str, array.shape)) or "no dimension"
        raise DataError(f"{path} contains an array of {array.dtype} with shape {shape}, not features", hint=hint)
    return array


def pick_array(archive: Any, path: Path) -> NDArray[Any]:
    """Returns the only array of an .npz file, or the one named "features" among several."""
    names = list(archive.files)
    name = "features" if "features" in names else names[0] if len(names) == 1 else None
    if name is None:
        raise DataError(
            f"{path} contains {len(names)} arrays: {', '.join(names[:5])}",
            hint='the array that nmt should read must be called "features"',
        )
    return np.asarray(archive[name])


def require_finite(grid: NDArray[Any], path: Path) -> FloatArray:
    """Returns the grid (R, D) in float32, or in float16 if the file has that. Raises DataError for NaN or infinity."""
    dtype: type[np.floating] = np.float16 if grid.dtype == np.float16 else np.float32
    flat = np.asarray(grid, dtype=dtype).reshape(-1, grid.shape[-1])
    if not np.isfinite(flat).all():
        raise DataError(f"{path} contains features that are NaN or infinite", hint="compute the features again")
    return flat


@dataclass(frozen=True)
class Grids:
    """The pictures of a split, and the picture of each pair; each picture is stored once."""

    features: FloatArray  # (T, D)
    offsets: NDArray[np.int64]  # (M + 1,) picture m is features[offsets[m]:offsets[m + 1]]
    pictures: IntArray  # (N,) the index of each pair's picture

    @classmethod
    def load(cls, stem: Path) -> Self:
        """Memory-maps the features. Raises ValueError or OSError if the files do not match."""
        features = np.load(f"{stem}.features.npy", mmap_mode="r", allow_pickle=False)
        offsets = np.load(f"{stem}.offsets.npy", allow_pickle=False)
        pictures = np.load(f"{stem}.pictures.npy", allow_pickle=False)
        if features.ndim != 2 or offsets[-1] != len(features) or pictures.max(initial=-1) >= len(offsets) - 1:
            raise ValueError(f"{stem}: features, offsets and pictures do not match")
        return cls(features, offsets, pictures)

    def __len__(self) -> int:
        return len(self.pictures)

    def get_grid(self, index: int) -> FloatArray:
        """Returns the grid (R, D) of picture `index` of the split."""
        return self.features[self.offsets[index] : self.offsets[index + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Number of regions (N,) of each pair's picture."""
        regions: NDArray[np.int64] = np.diff(self.offsets)[self.pictures]
        return regions

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        """Returns the lengths of the captions, by which pairs are batched, because all pictures have the same size."""
        return target_lengths

    def limit_pools(self, shape: PoolShape) -> PoolShape:
        """Returns the shape of a single batch, because pictures take much memory and their size does not change."""
        return PoolShape(1, 1)

    def select_rewrites(self, rewrites: tuple[AnyRewrite, ...]) -> tuple[AnyRewrite, ...]:
        """Returns none, since a picture has no text."""
        return ()

    def name_grids(self, read_names: Callable[[], Sequence[str]]) -> Mapping[str, FloatArray]:
        """Returns the grid (R, D) of each picture by the name of its row."""
        rows = zip(read_names(), self.pictures.tolist(), strict=True)
        return {name: self.get_grid(number) for name, number in rows}

    def require_sentences(self, problem: str, hint: str = "") -> NoReturn:
        """Raises OptionError."""
        raise OptionError(f"{problem}, but the sources of this corpus are pictures", hint=hint)

    def pad_rows(self, rows: IntArray) -> SourceArray:
        """Returns the grids of the pairs `rows` (B,) as one array (B, R, D)."""
        return pad_grids([self.get_grid(index) for index in self.pictures[rows].tolist()])


def pad_grids(grids: Sequence[FloatArray]) -> SourceArray:
    """Returns the grids as one array (B, R, D) in float32, padded with NaN, which no region contains."""
    return pad_rows(grids, fill=np.nan, dtype=np.float32)


@dataclass(frozen=True)
class GridSource:
    """Pictures: a line is the path of a file. A grid `stored` under that path is not read again."""

    kind: str  # features or image
    depth: int
    stored: Mapping[str, FloatArray] = field(default_factory=dict)
    reader: Callable[[], PictureReader] = FeatureFiles  # is called when the first file must be read

    subwords = None
    vocabulary_size = 0
    length_factor = None  # the number of regions says nothing about the length of a caption

    def to_mapping(self) -> dict[str, Any]:
        return {"type": self.kind, "depth": self.depth}

    def make_rows(
        self,
        lines: Sequence[str],
        limit: int | None = None,
        tags: Sequence[TagSet] = (),
        contexts: Sequence[SentenceContext | None] = (),
    ) -> list[SourceRow]:
        names = [line.strip() for line in lines]
        missing = [name for name in dict.fromkeys(names) if name and name not in self.stored]
        grids = dict(zip(missing, self.reader().read(list(map(Path, missing))), strict=True)) if missing else {}
        return [self.make_row(name, grids.get(name, self.stored.get(name)), limit) for name in names]

    def make_row(self, name: str, grid: FloatArray | None, limit: int | None) -> SourceRow:
        """Returns the row of a picture, truncated to `limit` regions. Raises DataError for a wrong depth."""
        if grid is None:
            return SourceRow(np.zeros((1, self.depth), np.float32), is_blank=True)
        if grid.shape[1] != self.depth:
            raise DataError(
                f"{name} has features of depth {grid.shape[1]:,}; the model was trained with {self.depth:,}",
                hint="compute the features with the network that was used for the training data",
            )
        truncated = grid[:limit]
        return SourceRow(truncated, full_length=len(grid) if len(truncated) < len(grid) else None)

    def make_batch(self, rows: Sequence[SourceRow]) -> SourceArray:
        return pad_grids([row.values for row in rows])

    def label_positions(self, row: SourceRow) -> tuple[str, ...]:
        return label_regions(len(row))

    def find_unseen(self, line: str) -> frozenset[str]:
        return frozenset()

    def with_stored_pictures(self, stored: Mapping[str, FloatArray]) -> Self:
        return replace(self, stored=stored)

    def with_picture_reader(self, reader: Callable[[], PictureReader]) -> Self:
        return replace(self, reader=reader)


def label_regions(regions: int) -> tuple[str, ...]:
    """Returns the row and column of each region of a square grid, from 1; for other grids, only its number."""
    side = math.isqrt(regions)
    if side * side != regions:
        return tuple(str(index + 1) for index in range(regions))
    return tuple(f"{index // side + 1},{index % side + 1}" for index in range(regions))
