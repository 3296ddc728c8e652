"""The prepared directory: how it is made from a file of sentence pairs, and what others read from it.

Silent: what happens is told through a callback, what happened is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.batching import pad
from nmt_cli.arrays.ragged import IntArray, Ragged
from nmt_cli.arrays.special_ids import END
from nmt_cli.arrays.types import SourceArray
from nmt_cli.corpus.manifest import SPLITS, Features, Manifest, Subwords, damaged
from nmt_cli.errors import OptionError
from nmt_cli.sources.images import IMAGE_WEIGHTS, FloatArray, Grids, GridSource
from nmt_cli.sources.source import Source, TextSource, length_factor_of
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings


class Pair(NamedTuple):
    """A normalised sentence and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Referenced:
    """A source and the targets that it may have."""

    source: str
    references: tuple[str, ...]


class SourceRows(Protocol):
    """The N sources of a split."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) positions of each."""
        ...

    def __len__(self) -> int: ...

    def padded(self, rows: IntArray) -> SourceArray:
        """(B, S, ...): what an encoder takes of these rows."""
        ...


class Sentences(Ragged):
    """Sources that are text."""

    def padded(self, rows: IntArray) -> SourceArray:
        return pad(self, rows, end=END)


@dataclass(frozen=True)
class EncodedSplit:
    """Both sides, row for row the pairs of the split; ids are without start and end."""

    source: SourceRows
    target: Ragged


@dataclass(frozen=True)
class PreparedCorpus:
    """A prepared directory, checked. Text and ids are read when they are asked for."""

    directory: Path
    manifest: Manifest

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Raises NotFoundError when there is none, DamagedError naming the file that is not as it was written."""
        manifest = Manifest.read(directory)
        manifest.check(directory)
        return cls(directory, manifest)

    def verify(self) -> None:
        """Compares every byte with the checksums. Raises DamagedError naming the file that differs."""
        self.manifest.check(self.directory, everything=True)

    @property
    def source_language(self) -> str:
        return self.manifest.source_language

    @property
    def target_language(self) -> str:
        return self.manifest.target_language

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digest that identifies the data, whatever the directory's name."""
        return self.manifest.fingerprint

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        return self.manifest.tokenizer

    @property
    def joint(self) -> bool:
        """Whether an id means the same on both sides."""
        return self.manifest.joint

    @property
    def has_pictures(self) -> bool:
        """Whether the sources are pictures, and not text."""
        return isinstance(self.manifest.source, Features)

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        """By role: "joint", to which "target" may be added, or "source" and "target"."""
        sides = (self.manifest.source, self.manifest.target)
        names = dict.fromkeys(side.file for side in sides if isinstance(side, Subwords))
        return {Path(name).stem: self.directory / name for name in names}

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """By the names of their files, the source's first. Loaded once: the directory may be replaced meanwhile."""
        names = [path.name for path in self.tokenizer_files.values()]
        first = self.target_tokenizer if self.has_pictures else self.source_tokenizer
        return {names[0]: first, names[-1]: self.target_tokenizer}

    @property
    def picture_weights(self) -> Path | None:
        """What a model needs to read pictures; None where the sources are none."""
        return self.directory / IMAGE_WEIGHTS if IMAGE_WEIGHTS in self.manifest.outputs else None

    @cached_property
    def source_tokenizer(self) -> Tokenizer:
        """Raises OptionError where the sources are pictures."""
        if not isinstance(self.manifest.source, Subwords):
            raise OptionError(f"{self.directory}/ has pictures on its source side, and no words to look at")
        return Tokenizer.load(self.directory / self.manifest.source.file, self.tokenizer_settings)

    @cached_property
    def target_tokenizer(self) -> Tokenizer:
        if list(self.tokenizer_files) == ["joint"]:
            return self.source_tokenizer
        return Tokenizer.load(self.directory / self.manifest.target.file, self.tokenizer_settings)

    @cached_property
    def source(self) -> Source:
        """The source side as a model trained on this corpus is to read it."""
        if isinstance(self.manifest.source, Features):
            kind = self.manifest.options["source_type"]
            return GridSource(kind, self.manifest.source.depth, self.stored_pictures())
        train = self.encoded("train")
        length_factor = length_factor_of(train.source.lengths, train.target.lengths)
        return TextSource(self.source_tokenizer, self.manifest.options.get("max_source_length"), length_factor)

    def stored_pictures(self) -> dict[str, FloatArray]:
        """The grid of each picture by the name that the pairs have for it."""
        found: dict[str, FloatArray] = {}
        for split in SPLITS:
            grids = self.encoded(split).source
            if isinstance(grids, Grids):
                numbers = zip(self.pairs(split), grids.pictures.tolist(), strict=True)
                found |= {pair.source: grids.picture(number) for pair, number in numbers}
        return found

    def referenced(self, split: str) -> list[Referenced]:
        """What is to be translated and scored: the pairs, or each picture once with all its captions.

        Pictures with fewer captions than others have theirs again in turn: metrics want as many for each.
        """
        if not self.has_pictures:
            return [Referenced(pair.source, (pair.target,)) for pair in self.pairs(split)]
        captions: dict[str, list[str]] = {}
        for pair in self.pairs(split):
            captions.setdefault(pair.source, []).append(pair.target)
        most = max(map(len, captions.values()), default=0)
        return [Referenced(name, tuple(islice(cycle(own), most))) for name, own in captions.items()]

    def pairs(self, split: str) -> list[Pair]:
        """The sentence pairs of "train", "dev" or "test", in the order of `encoded`."""
        path = self.directory / f"{split}.tsv"
        try:
            with path.open(encoding="utf-8", newline="\n") as lines:
                return [Pair(*line.rstrip("\n").split("\t")) for line in lines]
        except (OSError, UnicodeDecodeError, TypeError) as error:
            raise damaged(path, "cannot be read") from error

    def encoded(self, split: str) -> EncodedSplit:
        """The ids of "train", "dev" or "test", mapped into memory."""
        kind: type[Grids | Sentences] = Grids if self.has_pictures else Sentences
        try:
            source = kind.load(self.directory / f"{split}.source")
            return EncodedSplit(source, Ragged.load(self.directory / f"{split}.target"))
        except (OSError, ValueError) as error:
            raise damaged(self.directory / f"{split}.*.npy", "cannot be read") from error
