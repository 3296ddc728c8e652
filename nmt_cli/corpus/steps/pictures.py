"""The pictures of a corpus while it is prepared: which there are, which pairs show the same one, and their storage.

Knows neither captions nor how pictures are read. Letters: N pairs, M pictures, R regions, D depth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from nmt_cli.arrays.ragged import IntArray, write_array
from nmt_cli.corpus.formats.inputs import STDIN
from nmt_cli.corpus.manifest import Features
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.reading import Inputs, Progress
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import sha256
from nmt_cli.sources.images import PictureReader

BATCH = 16  # pictures read together

# The checks that are as good for captions as for translations; the others compare two languages.
CHECKS = frozenset({"mojibake", "markup", "control", "empty", "damaged", "held-out", "duplicate"})


@dataclass(frozen=True)
class Pictures:
    """The M pictures that the pairs name, and how they are read."""

    paths: tuple[Path, ...]
    of_pair: IntArray  # (N,) number of the pair's picture; -1 for a pair that names none
    regions: IntArray  # (M,)
    depth: int
    reader: PictureReader

    def store(self, splits: Splits, directory: Path, progress: Progress) -> Features:
        """Writes the pictures of each split, each once; what the manifest says of them."""
        kept = np.unique(np.concatenate([self.of_pair[rows] for _, rows in splits.items()]))
        done = 0

        def advance(number: int) -> None:
            progress("reading pictures", done + number, len(kept))

        self.reader.save(directory)
        for split, rows in splits.items():
            done += self.store_split(self.of_pair[rows], f"{directory / split}.source", advance)
        regions = self.regions[kept]
        return Features(
            pictures=len(kept), regions=int(regions.max()), fewest_regions=int(regions.min()), depth=self.depth
        )

    def store_split(self, of_pair: IntArray, stem: str, advance: Callable[[int], None]) -> int:
        """Writes what `Grids.load` reads; the number of pictures."""
        numbers, pictures = np.unique(of_pair, return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum(self.regions[numbers])]).astype(np.int64)
        write_array(Path(f"{stem}.pictures.npy"), pictures.astype(np.int64))
        write_array(Path(f"{stem}.offsets.npy"), offsets)
        self.write_features(Path(f"{stem}.features.npy"), numbers, offsets, advance)
        return len(numbers)

    def write_features(self, path: Path, numbers: IntArray, offsets: IntArray, advance: Callable[[int], None]) -> None:
        first = self.reader.read([self.paths[number] for number in numbers[:1]])
        kind = first[0].dtype if first else np.dtype(np.float32)
        features = open_memmap(path, mode="w+", dtype=kind, shape=(int(offsets[-1]), self.depth))
        for start in range(0, len(numbers), BATCH):
            own = [self.paths[number] for number in numbers[start : start + BATCH]]
            for place, grid in enumerate(self.reader.read(own), start):
                features[offsets[place] : offsets[place + 1]] = grid
            advance(min(start + BATCH, len(numbers)))
        features.flush()


def find_pictures(pairs: Pairs, inputs: Inputs, reader: PictureReader, progress: Progress) -> Pictures:
    """The pictures that the sources of `pairs` name, relative to the file that names them.

    From then on pairs are connected by equal pictures alone, whatever their names: many pictures share a caption.
    Raises NotFoundError or DataError, naming the line, for a picture that is not there or is none.
    """
    numbers: dict[str, int] = {}
    paths: list[Path] = []
    keys: list[int] = []
    shapes: list[tuple[int, int]] = []
    of_pair = np.full(len(pairs), -1, np.int64)
    for row, name in enumerate(pairs.source):
        if not name:
            continue
        given = inputs.inputs[int(pairs.facts.inputs[row])].path
        path = Path(name) if given == STDIN else given.parent / name
        if name not in numbers:
            numbers[name] = len(paths)
            paths.append(path)
            shapes.append(shape_of(path, pairs, row, reader))
            keys.append(int(sha256(path)[:16], 16))
            progress("looking at pictures", row + 1, len(pairs))
        elif paths[numbers[name]] != path and int(sha256(path)[:16], 16) != keys[numbers[name]]:
            raise DataError(f"two different pictures are called {name}", hint="give them different names")
        of_pair[row] = numbers[name]
    check_depth(paths, shapes)
    regions = np.array([shape[0] for shape in shapes], np.int64)
    own_keys = np.array([*keys, 0], np.uint64)[of_pair]  # -1 is the last: the pairs that name none
    lengths = np.array([*regions, 0], np.int32)[of_pair]
    pairs.facts = dataclasses.replace(pairs.facts, source_keys=own_keys, source_lengths=lengths)
    pairs.connecting = ("source",)
    return Pictures(tuple(paths), of_pair, regions, shapes[0][1] if shapes else 0, reader)


def shape_of(path: Path, pairs: Pairs, row: int, reader: PictureReader) -> tuple[int, int]:
    where = f"{pairs.names[int(pairs.facts.inputs[row])]}, line {int(pairs.facts.lines[row]):,}"
    if not path.is_file():
        raise NotFoundError(
            f"{where}: there is no picture {path}",
            hint="a line is the path of a picture, relative to the file it stands in, a tab and a caption",
        )
    return reader.shape(path)


def check_depth(paths: list[Path], shapes: list[tuple[int, int]]) -> None:
    """Raises DataError unless all pictures have features of the same depth."""
    for path, shape in zip(paths, shapes, strict=True):
        if shape[1] != shapes[0][1]:
            raise DataError(
                f"{path} has features of depth {shape[1]:,}, {paths[0]} of {shapes[0][1]:,}",
                hint="all features must come from the same network",
            )
