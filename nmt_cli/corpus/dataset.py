"""The prepared directory as its readers see it: sentence pairs, ids, tokenizers and pictures.

Does not know how it is made; `prepare.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Self

from nmt_cli.arrays.ragged import Ragged
from nmt_cli.arrays.types import FloatArray
from nmt_cli.corpus.manifest import SPLITS, Manifest, describe_damage
from nmt_cli.corpus.pairs import Side
from nmt_cli.corpus.sides import ReferencedSource, SentencePair, SubwordStatistics
from nmt_cli.corpus.tag_rows import read_tag_sets
from nmt_cli.sources.images import IMAGE_WEIGHTS, GridSource
from nmt_cli.sources.rows import SourceRows
from nmt_cli.sources.source import Source, TextSource, measure_length_factor
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.tags import TagSet, parse_tag_list
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.text.tokenizer_settings import TokenizerSettings


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
    def languages(self) -> tuple[str, str]:
        return self.source_language, self.target_language

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
        return not self.manifest.source.is_text

    def require_text(self, problem: str, hint: str = "") -> SubwordStatistics:
        """Returns the facts about source texts. Raises OptionError, saying who cannot read them, for pictures."""
        return self.manifest.source.require_text(self.directory, problem, hint)

    def select_texts(self, sources: Sequence[str]) -> Sequence[str]:
        """Returns those of the sources, as they are named in the pairs, that are text: all, or none if pictures."""
        return self.manifest.source.select_texts(sources)

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        """The subword models by role, the source's first: "joint", possibly with "target", or "source" and "target"."""
        names = dict.fromkeys((*self.manifest.source.files, *self.manifest.target.files))
        return {Path(name).stem: self.directory / name for name in names}

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """The tokenizers by file name, the source's first.

        Loaded only once, since the directory may be replaced meanwhile.
        """
        names = [path.name for path in self.tokenizer_files.values()]
        return {name: self.target_tokenizer if name == names[-1] else self.source_tokenizer for name in names}

    @property
    def picture_weights(self) -> Path | None:
        """The weights with which a model reads pictures; None if the sources are not pictures."""
        return self.directory / IMAGE_WEIGHTS if IMAGE_WEIGHTS in self.manifest.outputs else None

    @cached_property
    def source_tokenizer(self) -> Tokenizer:
        """The tokenizer of the source. Raises OptionError if the sources are pictures."""
        self.require_text("which have no words")
        return Tokenizer.load(next(iter(self.tokenizer_files.values())), self.tokenizer_settings)

    @cached_property
    def target_tokenizer(self) -> Tokenizer:
        if list(self.tokenizer_files) == ["joint"]:
            return self.source_tokenizer
        return Tokenizer.load(list(self.tokenizer_files.values())[-1], self.tokenizer_settings)

    @cached_property
    def source(self) -> Source:
        """The source side, read as a model trained on this corpus must read it."""
        return self.manifest.source.open_source(self)

    def open_texts(self) -> TextSource:
        train = self.load_encoded("train")
        length_factor = measure_length_factor(train.source.lengths, train.target.lengths)
        return TextSource(self.source_tokenizer, self.manifest.options.get("max_source_length"), length_factor)

    def open_pictures(self, depth: int) -> GridSource:
        """Returns the source of pictures with features of this depth."""
        return GridSource(self.manifest.options["source_type"], depth, self.load_pictures())

    def load_pictures(self) -> dict[str, FloatArray]:
        """Returns the feature grid (R, D) of each picture, by its name in the pairs."""
        pictures: dict[str, FloatArray] = {}
        for split in SPLITS:
            pictures |= self.load_encoded(split).source.name_grids(partial(self.read_sources, split))
        return pictures

    def read_sources(self, split: str) -> list[str]:
        """Returns the sources of a split: sentences, or names of pictures."""
        return [pair.source for pair in self.read_pairs(split)]

    def read_references(self, split: str) -> list[ReferencedSource]:
        """Returns the sources to translate, each once, with all its references."""
        return self.manifest.source.group_references(self.read_pairs(split), self.read_tags(split))

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
        """The profile of the training text (`text/profile.py`)."""
        path = self.directory / PROFILE_NAME
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise describe_damage(path, "cannot be read") from error

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

    def read_monolingual_tags(self, side: Side) -> list[TagSet]:
        """Returns the tags of each sentence of `read_monolingual`."""
        text = self.manifest.monolingual.get(side)
        if text is None or not text.tags:
            return [()] * (0 if text is None else text.kept)
        return [parse_tag_list(run.tags) for run in text.tags for _ in range(run.count)]

    def read_tags(self, split: str) -> list[TagSet]:
        """Returns the tags of each pair of "train", "dev" or "test", which precede its source."""
        encoded = self.load_encoded(split)
        if not self.manifest.tags:
            return [()] * len(encoded.target)
        return read_tag_sets(encoded.source.require_sentences("pictures have no tags"), self.source_tokenizer)

    def read_text_sizes(self, split: str) -> tuple[int, ...]:
        """Returns the sizes of the texts that the pairs of "dev" or "test" are, in order; none if order means nothing.

        Only a corpus that was prepared with context has texts.
        """
        return tuple(self.manifest.context.texts.get(split, ()))

    def load_encoded(self, split: str) -> EncodedSplit:
        """Returns the ids of "train", "dev" or "test", mapped into memory."""
        try:
            source = self.manifest.source.rows.load(self.directory / f"{split}.source")
            return EncodedSplit(source, Ragged.load(self.directory / f"{split}.target"))
        except (OSError, ValueError) as error:
            raise describe_damage(self.directory / f"{split}.*.npy", "cannot be read") from error
