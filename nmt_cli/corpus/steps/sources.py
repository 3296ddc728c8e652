"""The kinds of sources that a corpus is made from: texts, or pictures. One table, `FINDERS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.lib.format import open_memmap

from nmt_cli.arrays.rows import write_array
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.manifest import PictureStatistics, SourceStatistics
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.subwords import LearnedSubwords, measure_subwords
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import hash_file
from nmt_cli.formats import name_place
from nmt_cli.formats.inputs import STDIN
from nmt_cli.sources.images import FeatureFiles
from nmt_cli.sources.source import PictureReader
from nmt_cli.text.profile_building import build_caption_profile, build_profile

# Finds the pictures that a corpus names, connects the pairs that show the same one, and stores their features.
#
# Knows neither captions nor how pictures are read. Letters: N pairs, M pictures, R regions, D depth.


BATCH = 16  # pictures that are read together

# The checks that suit captions as well as translations; the others compare two languages.
CAPTION_CHECKS = frozenset({"mojibake", "markup", "control", "empty", "damaged", "held-out", "duplicate"})


@dataclass(frozen=True)
class Pictures:
    """The M pictures named by the pairs, and the reader of their features."""

    paths: tuple[Path, ...]
    picture_numbers: IntArray  # (N,) the picture of each pair; -1 for a pair that names none
    regions: IntArray  # (M,) regions of each picture
    depth: int
    reader: PictureReader

    checks = CAPTION_CHECKS

    def build_profile(self, train: Iterable[tuple[str, str]], times: Iterable[int]) -> str:
        return build_caption_profile(caption for _, caption in train)

    def store(
        self, pairs: Pairs, splits: Splits, subwords: LearnedSubwords, directory: Path, report_progress: PrepareProgress
    ) -> PictureStatistics:
        """Writes the features of the pictures of each split, each once. Returns their statistics for the manifest."""
        used = np.unique(np.concatenate([self.picture_numbers[rows] for rows in splits.by_name.values()]))
        done = 0

        def advance(number: int) -> None:
            report_progress("reading pictures", done + number, len(used))

        self.reader.save(directory)
        for split, rows in splits.by_name.items():
            done += self.store_split(self.picture_numbers[rows], f"{directory / split}.source", advance)
        regions = self.regions[used]
        return PictureStatistics(
            pictures=len(used), regions=int(regions.max()), fewest_regions=int(regions.min()), depth=self.depth
        )

    def store_split(self, picture_numbers: IntArray, stem: str, advance: Callable[[int], None]) -> int:
        """Writes the files that `Grids.load` reads. Returns the number of distinct pictures."""
        numbers, pictures = np.unique(picture_numbers, return_inverse=True)
        offsets = np.concatenate([[0], np.cumsum(self.regions[numbers])]).astype(np.int64)
        write_array(Path(f"{stem}.pictures.npy"), pictures.astype(np.int64))
        write_array(Path(f"{stem}.offsets.npy"), offsets)
        self.write_features(Path(f"{stem}.features.npy"), numbers, offsets, advance)
        return len(numbers)

    def write_features(self, path: Path, numbers: IntArray, offsets: IntArray, advance: Callable[[int], None]) -> None:
        """Writes the concatenated features of these pictures, (sum of R, D), with the type of the first."""
        first_grids = self.reader.read([self.paths[number] for number in numbers[:1]])
        dtype = first_grids[0].dtype if first_grids else np.dtype(np.float32)
        features = open_memmap(path, mode="w+", dtype=dtype, shape=(int(offsets[-1]), self.depth))
        for start in range(0, len(numbers), BATCH):
            paths = [self.paths[number] for number in numbers[start : start + BATCH]]
            for index, grid in enumerate(self.reader.read(paths), start):
                features[offsets[index] : offsets[index + 1]] = grid
            advance(min(start + BATCH, len(numbers)))
        features.flush()


def find_pictures(
    pairs: Pairs, inputs: CorpusInputs, reader: PictureReader | None, report_progress: PrepareProgress
) -> Pictures:
    """Finds the pictures named by the sources of `pairs`, relative to the file that names them.

    Changes `pairs`: from then on only equal pictures, whatever their names, connect pairs, since many pictures share a
    caption. Raises NotFoundError or DataError, naming the line, for a picture that is missing or unreadable.
    """
    reader = reader or FeatureFiles()
    numbers: dict[str, int] = {}
    paths: list[Path] = []
    keys: list[int] = []
    shapes: list[tuple[int, int]] = []
    picture_numbers = np.full(len(pairs), -1, np.int64)
    for row, name in enumerate(pairs.source):
        if not name:
            continue
        corpus_path = inputs.inputs[int(pairs.facts.input_numbers[row])].path
        path = Path(name) if corpus_path == STDIN else corpus_path.parent / name
        if name not in numbers:
            numbers[name] = len(paths)
            paths.append(path)
            shapes.append(read_shape(path, pairs, row, reader))
            keys.append(int(hash_file(path)[:16], 16))
            report_progress("looking at pictures", row + 1, len(pairs))
        elif paths[numbers[name]] != path and int(hash_file(path)[:16], 16) != keys[numbers[name]]:
            raise DataError(f"two different pictures have the name {name}", hint="give them different names")
        picture_numbers[row] = numbers[name]
    check_depth(paths, shapes)
    regions = np.array([shape[0] for shape in shapes], np.int64)
    # The number -1 of pairs that name no picture selects the last entry, 0.
    source_keys = np.array([*keys, 0], np.uint64)[picture_numbers]
    source_lengths = np.array([*regions, 0], np.int32)[picture_numbers]
    pairs.facts = dataclasses.replace(pairs.facts, source_keys=source_keys, source_lengths=source_lengths)
    pairs.connecting_sides = ("source",)
    return Pictures(tuple(paths), picture_numbers, regions, shapes[0][1] if shapes else 0, reader)


def read_shape(path: Path, pairs: Pairs, row: int, reader: PictureReader) -> tuple[int, int]:
    """Returns (regions, depth) of a picture. Raises NotFoundError, naming the line of the pair, if it is missing."""
    facts = pairs.facts
    where = name_place(pairs.input_names[int(facts.input_numbers[row])], int(facts.line_numbers[row]))
    if not path.is_file():
        raise NotFoundError(
            f"{where}: there is no picture {path}",
            hint="each line must contain the path of a picture (relative to this file), a tab and a caption",
        )
    return reader.read_shape(path)


def check_depth(paths: list[Path], shapes: list[tuple[int, int]]) -> None:
    """Raises DataError unless all pictures have features of the same depth."""
    for path, shape in zip(paths, shapes, strict=True):
        if shape[1] != shapes[0][1]:
            raise DataError(
                f"{path} has features of depth {shape[1]:,}, but those of {paths[0]} have depth {shapes[0][1]:,}",
                hint="all features must come from the same network",
            )


# The kinds of sources that a corpus is made from: texts, or pictures. One table, `FINDERS`.
#
# Knows neither how they are read nor how they are split.


class SourceTexts:
    """Sources that are sentences."""

    checks = None  # the names of the checks that suit them: all

    def build_profile(self, train: Iterable[tuple[str, str]], times: Iterable[int]) -> str:
        """Returns the profile of the training pairs, each of which training repeats this many `times`."""
        return build_profile(train, times)

    def store(
        self, pairs: Pairs, splits: Splits, subwords: LearnedSubwords, directory: Path, report_progress: PrepareProgress
    ) -> SourceStatistics:
        """Writes whatever is not written with the subwords. Returns the statistics of the sources for the manifest."""
        return measure_subwords("source", pairs, splits, subwords, directory)


CorpusSources: TypeAlias = SourceTexts | Pictures
Finder = Callable[[Pairs, CorpusInputs, PictureReader | None, PrepareProgress], CorpusSources]

# By --source-type.
FINDERS: Mapping[str, Finder] = {
    "text": lambda *request: SourceTexts(),
    "features": find_pictures,
    "image": find_pictures,
}
