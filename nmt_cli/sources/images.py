"""Pictures as grids of features: files of them, how they are stored, and the source side made of them.

A picture has R regions, each a vector of D numbers: what a convolutional network saw there. Regions stand row by row.
Knows nothing of the network that made them (`model/inception.py` is one). Letters: N pairs, M pictures of a split,
T regions of all of them, B rows of a batch.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.ragged import IntArray
from nmt_cli.arrays.types import SourceArray
from nmt_cli.errors import DataError
from nmt_cli.files import require_file
from nmt_cli.sources.source import Row

FloatArray = NDArray[np.floating]
IMAGE_WEIGHTS = "image.weights.h5"  # of the network that reads pictures, in a prepared or a model directory


class PictureReader(Protocol):
    """Makes grids of files."""

    def shape(self, path: Path) -> tuple[int, int]:
        """Regions and depth, R and D, of the file's grid, as cheaply as can be. Raises as `read` does."""
        ...

    def save(self, directory: Path) -> None:
        """Writes what will be needed to read other pictures in the same way."""
        ...

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        """The grids (R, D) of some files. Raises NotFoundError, or DataError naming the file that is none."""
        ...


class FeatureFiles:
    """Grids that stand in .npy or .npz files already: (R, D), or (rows, columns, D)."""

    def save(self, directory: Path) -> None:
        """Nothing: features are read as they are."""

    def shape(self, path: Path) -> tuple[int, int]:
        grid = opened(path)
        return math.prod(grid.shape[:-1]), grid.shape[-1]

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        return [finite(opened(path), path) for path in paths]


def opened(path: Path) -> NDArray[Any]:
    """The array of a file; only its header is read, where that can be."""
    require_file(path)
    hint = "features are saved with numpy.save: regions x depth, or rows x columns x depth"
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        array = found if isinstance(found, np.ndarray) else only_array(found, path)
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is no file of features (.npy or .npz)", hint=hint) from error
    if array.ndim not in (2, 3) or not array.size or not np.issubdtype(array.dtype, np.number):
        shape = " x ".join(map(str, array.shape)) or "no dimension"
        raise DataError(f"{path} holds an array of {array.dtype} of shape {shape}, not features", hint=hint)
    return array


def only_array(found: Any, path: Path) -> NDArray[Any]:
    """The array of an .npz file, or the one called "features" of several."""
    names = list(found.files)
    name = "features" if "features" in names else names[0] if len(names) == 1 else None
    if name is None:
        raise DataError(
            f"{path} holds {len(names)} arrays: {', '.join(names[:5])}", hint='call the one to use "features"'
        )
    return np.asarray(found[name])


def finite(grid: NDArray[Any], path: Path) -> FloatArray:
    """(R, D) of float32 or, where the file has it, float16. Raises DataError for what is not a number or infinite."""
    kept: type[np.floating] = np.float16 if grid.dtype == np.float16 else np.float32
    flat = np.asarray(grid, dtype=kept).reshape(-1, grid.shape[-1])
    if not np.isfinite(flat).all():
        raise DataError(f"{path} holds features that are infinite or not a number", hint="make them again")
    return flat


@dataclass(frozen=True)
class Grids:
    """The pictures of a split, and which of them each pair has; each picture is stored once."""

    features: FloatArray  # (T, D)
    offsets: NDArray[np.int64]  # (M + 1,) picture m has the rows offsets[m] to offsets[m + 1]
    pictures: IntArray  # (N,) the picture of each pair

    @classmethod
    def load(cls, stem: Path) -> Self:
        """Maps the features into memory. Raises ValueError or OSError if the files are not what was written."""
        features = np.load(f"{stem}.features.npy", mmap_mode="r", allow_pickle=False)
        offsets = np.load(f"{stem}.offsets.npy", allow_pickle=False)
        pictures = np.load(f"{stem}.pictures.npy", allow_pickle=False)
        if features.ndim != 2 or offsets[-1] != len(features) or pictures.max(initial=-1) >= len(offsets) - 1:
            raise ValueError(f"{stem}: features, offsets and pictures do not belong together")
        return cls(features, offsets, pictures)

    def __len__(self) -> int:
        return len(self.pictures)

    def picture(self, number: int) -> FloatArray:
        return self.features[self.offsets[number] : self.offsets[number + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) regions of each pair's picture."""
        regions: NDArray[np.int64] = np.diff(self.offsets)[self.pictures]
        return regions

    def padded(self, rows: IntArray) -> SourceArray:
        return padded_grids([self.picture(number) for number in self.pictures[rows].tolist()])


def padded_grids(grids: Sequence[FloatArray]) -> SourceArray:
    """(B, R, D): the grids in float32. Regions that a picture does not have are NaN, which no true one can be."""
    regions, depth = max(map(len, grids), default=0), grids[0].shape[1] if grids else 0
    padded = np.full((len(grids), regions, depth), np.nan, dtype=np.float32)
    for place, grid in zip(padded, grids, strict=True):
        place[: len(grid)] = grid
    return padded


@dataclass(frozen=True)
class GridSource:
    """Pictures: a line is the path of a file. What is `stored` under the line's own words is not read again."""

    kind: str  # features or image
    depth: int
    stored: Mapping[str, FloatArray] = field(default_factory=dict)
    reader: Callable[[], PictureReader] = FeatureFiles  # makes what reads files, when there is one to read

    length_factor = None  # the number of regions does not say how long a caption may be

    def to_mapping(self) -> dict[str, Any]:
        return {"type": self.kind, "depth": self.depth}

    def rows(self, lines: Sequence[str], limit: int | None = None) -> list[Row]:
        names = [line.strip() for line in lines]
        unknown = [name for name in dict.fromkeys(names) if name and name not in self.stored]
        read = dict(zip(unknown, self.read(unknown), strict=True)) if unknown else {}
        return [self.row(name, read.get(name, self.stored.get(name)), limit) for name in names]

    def row(self, name: str, grid: FloatArray | None, limit: int | None) -> Row:
        if grid is None:
            return Row(np.zeros((1, self.depth), np.float32), is_blank=True)
        if grid.shape[1] != self.depth:
            raise DataError(
                f"{name} has features of depth {grid.shape[1]:,}; the model was trained with {self.depth:,}",
                hint="make the features with the network that made those of the training data",
            )
        kept = grid[:limit]
        return Row(kept, cut_from=len(grid) if len(kept) < len(grid) else None)

    def read(self, names: Sequence[str]) -> list[FloatArray]:
        return self.reader().read([Path(name) for name in names])

    def batch(self, rows: Sequence[Row]) -> SourceArray:
        return padded_grids([row.values for row in rows])

    def labels(self, row: Row) -> tuple[str, ...]:
        return region_labels(len(row))

    def unseen(self, line: str) -> frozenset[str]:
        return frozenset()


def side_of_square(regions: int) -> int | None:
    """The rows, and columns, of a square grid of so many regions; None where there is no such square."""
    side = math.isqrt(regions)
    return side if side * side == regions else None


def region_labels(regions: int) -> tuple[str, ...]:
    """Row and column of each region of a square grid, from 1; else just its number."""
    side = side_of_square(regions)
    if side is None:
        return tuple(str(number + 1) for number in range(regions))
    return tuple(f"{number // side + 1},{number % side + 1}" for number in range(regions))
