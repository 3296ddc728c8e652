"""The prepared directory as its readers see it: sentence pairs, ids, tokenizers and pictures.

Does not know how it is made; `prepare.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.padding import pad_ragged
from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.special_ids import END
from nmt_cli.arrays.types import FloatArray, IntArray, SourceArray
from nmt_cli.corpus.manifest import SPLITS, Manifest, PictureStatistics, SubwordStatistics, describe_damage
from nmt_cli.corpus.pairs import Side
from nmt_cli.errors import OptionError
from nmt_cli.sources.images import IMAGE_WEIGHTS, Grids, GridSource
from nmt_cli.sources.source import Source, TextSource, measure_length_factor
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings


class SentencePair(NamedTuple):
    """A normalised sentence and its translation. A tuple, since corpora have millions of them."""

    source: str
    target: str


@dataclass(frozen=True)
class ReferencedSource:
    """A source with all its reference translations, or a picture with all its captions."""

    source: str
    references: tuple[str, ...]


class SourceRows(Protocol):
    """The N sources of a split."""

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


class Sentences(Ragged):
    """The ids of N sources that are text."""

    def measure_rows(self, rows: IntArray, target_lengths: IntArray) -> IntArray:
        lengths: IntArray = self.lengths[rows]
        return lengths

    def pad_rows(self, rows: IntArray) -> SourceArray:
        return pad_ragged(self, rows, end=END)


@dataclass(frozen=True)
class EncodedSplit:
    """Both sides of a split, row by row in the order of its pairs; the ids have neither start nor end symbol."""

    source: SourceRows
    target: Ragged


@dataclass(frozen=True)
class PreparedCorpus:
    """A prepared directory whose files were checked. Text and ids are read on demand."""

    directory: Path
    manifest: Manifest

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Loads and checks a prepared directory.

        Raises NotFoundError if it does not exist, DamagedError naming a file that is missing or was changed.
        """
        manifest = Manifest.read(directory)
        manifest.check(directory)
        return cls(directory, manifest)

    def verify(self) -> None:
        """Compares every byte with the checksums. Raises DamagedError naming the first file that differs."""
        self.manifest.check(self.directory, everything=True)

    @property
    def source_language(self) -> str:
        return self.manifest.source_language

    @property
    def target_language(self) -> str:
        return self.manifest.target_language

    @property
    def fingerprint(self) -> str:
        """The hexadecimal digest that identifies the data, whatever the name of the directory."""
        return self.manifest.fingerprint

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return self.manifest.tokenizer

    @property
    def has_joint_vocabulary(self) -> bool:
        """Whether an id represents the same subword on both sides."""
        return self.manifest.has_joint_vocabulary

    @property
    def has_pictures(self) -> bool:
        """Whether the sources are pictures rather than text."""
        return isinstance(self.manifest.source, PictureStatistics)

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        """The subword models by role: "joint", optionally with "target", or "source" and "target"."""
        sides = (self.manifest.source, self.manifest.target)
        names = dict.fromkeys(side.file for side in sides if isinstance(side, SubwordStatistics))
        return {Path(name).stem: self.directory / name for name in names}

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """The tokenizers by file name, the source's first.

        Loaded only once, since the directory may be replaced meanwhile.
        """
        names = [path.name for path in self.tokenizer_files.values()]
        first = self.target_tokenizer if self.has_pictures else self.source_tokenizer
        return {names[0]: first, names[-1]: self.target_tokenizer}

    @property
    def picture_weights(self) -> Path | None:
        """The weights with which a model reads pictures; None if the sources are not pictures."""
        return self.directory / IMAGE_WEIGHTS if IMAGE_WEIGHTS in self.manifest.outputs else None

    @cached_property
    def source_tokenizer(self) -> Tokenizer:
        """The tokenizer of the source. Raises OptionError if the sources are pictures."""
        if not isinstance(self.manifest.source, SubwordStatistics):
            raise OptionError(f"the sources in {self.directory}/ are pictures, which have no words")
        return Tokenizer.load(self.directory / self.manifest.source.file, self.tokenizer_settings)

    @cached_property
    def target_tokenizer(self) -> Tokenizer:
        if list(self.tokenizer_files) == ["joint"]:
            return self.source_tokenizer
        return Tokenizer.load(self.directory / self.manifest.target.file, self.tokenizer_settings)

    @cached_property
    def source(self) -> Source:
        """The source side, read as a model trained on this corpus must read it."""
        if isinstance(self.manifest.source, PictureStatistics):
            kind = self.manifest.options["source_type"]
            return GridSource(kind, self.manifest.source.depth, self.load_pictures())
        train = self.load_encoded("train")
        length_factor = measure_length_factor(train.source.lengths, train.target.lengths)
        return TextSource(self.source_tokenizer, self.manifest.options.get("max_source_length"), length_factor)

    def load_pictures(self) -> dict[str, FloatArray]:
        """Returns the feature grid (R, D) of each picture, by its name in the pairs."""
        pictures: dict[str, FloatArray] = {}
        for split in SPLITS:
            grids = self.load_encoded(split).source
            if isinstance(grids, Grids):
                numbers = zip(self.read_pairs(split), grids.pictures.tolist(), strict=True)
                pictures |= {pair.source: grids.get_grid(number) for pair, number in numbers}
        return pictures

    def read_references(self, split: str) -> list[ReferencedSource]:
        """Returns the sources to translate with their references: each pair, or each picture once with all its
        captions.

        Metrics need equally many references for every source, so a picture with fewer captions than the others repeats
        its captions in turn.
        """
        if not self.has_pictures:
            return [ReferencedSource(pair.source, (pair.target,)) for pair in self.read_pairs(split)]
        captions: dict[str, list[str]] = {}
        for pair in self.read_pairs(split):
            captions.setdefault(pair.source, []).append(pair.target)
        most = max(map(len, captions.values()), default=0)
        return [ReferencedSource(name, tuple(islice(cycle(texts), most))) for name, texts in captions.items()]

    def read_pairs(self, split: str) -> list[SentencePair]:
        """Returns the sentence pairs of "train", "dev" or "test", in the order of `load_encoded`."""
        path = self.directory / f"{split}.tsv"
        try:
            with path.open(encoding="utf-8", newline="\n") as lines:
                return [SentencePair(*line.rstrip("\n").split("\t")) for line in lines]
        except (OSError, UnicodeDecodeError, TypeError) as error:
            raise describe_damage(path, "cannot be read") from error

    @cached_property
    def profile(self) -> str:
        """The profile of the training text (`text/profile.py`), built from train if an older version prepared the
        corpus.
        """
        path = self.directory / PROFILE_NAME
        if PROFILE_NAME in self.manifest.outputs:
            return path.read_text(encoding="utf-8")
        from nmt_cli.text.profiling.building import build_profile  # which few readers need

        return build_profile(self.read_pairs("train"), has_pictures=self.has_pictures)

    def list_monolingual(self) -> list[str]:
        """Returns the sides that have text without translations."""
        return list(self.manifest.monolingual)

    def read_monolingual(self, side: Side) -> list[str]:
        """Returns the sentences of one side that have no translation; may be empty."""
        text = self.manifest.monolingual.get(side)
        if text is None:
            return []
        path = self.directory / text.file
        try:
            with path.open(encoding="utf-8", newline="\n") as lines:
                return [line.rstrip("\n") for line in lines]
        except (OSError, UnicodeDecodeError) as error:
            raise describe_damage(path, "cannot be read") from error

    def load_encoded(self, split: str) -> EncodedSplit:
        """Returns the ids of "train", "dev" or "test", mapped into memory."""
        source_type: type[Grids | Sentences] = Grids if self.has_pictures else Sentences
        try:
            source = source_type.load(self.directory / f"{split}.source")
            return EncodedSplit(source, Ragged.load(self.directory / f"{split}.target"))
        except (OSError, ValueError) as error:
            raise describe_damage(self.directory / f"{split}.*.npy", "cannot be read") from error
