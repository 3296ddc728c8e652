"""The prepared directory as its readers see it: pairs, ids, tokenizers, pictures; also as a mixture, or reversed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import START, UNKNOWN, FloatArray
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.manifest import (
    SPLITS,
    FileRecord,
    Manifest,
    PictureStatistics,
    ReferencedSource,
    SentencePair,
    SubwordStatistics,
    describe_damage,
)
from nmt_cli.corpus.pairs import Side, drop_tag_ids, prepend_tag_sets, read_tag_sets
from nmt_cli.files import stage_directory
from nmt_cli.sources.images import IMAGE_WEIGHTS, GridSource
from nmt_cli.sources.source import Sentences, Source, SourceRows, TextSource, measure_length_factor
from nmt_cli.text.normalise import hash_text, make_sentence_key
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.profile_building import build_profile
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tags import TagSet, parse_stored_tags, reverse_tags
from nmt_cli.text.tokenizer import Tokenizer

# The prepared directory as its readers see it: sentence pairs, ids, tokenizers and pictures.
#
# Does not know how it is made; `prepare.py` does.


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

        Raises NotFoundError if it does not exist, and DamagedError, naming the file, if one is missing or was changed.
        """
        manifest = Manifest.read(directory)
        manifest.check(directory)
        return cls(directory, manifest)

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
        """Returns the facts about source texts. Raises OptionError for pictures, saying who cannot read them."""
        return self.manifest.source.require_text(self.directory, problem, hint)

    def select_texts(self, sources: Sequence[str]) -> Sequence[str]:
        """Returns the sources, as named in the pairs, that are text: all of them, or none if they are pictures."""
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
        side = self.manifest.source
        if isinstance(side, PictureStatistics):
            return GridSource(self.manifest.options["source_type"], side.depth, self.load_pictures())
        train = self.load_encoded("train")
        length_factor = measure_length_factor(train.source.lengths, train.target.lengths)
        return TextSource(self.source_tokenizer, self.manifest.options.get("max_source_length"), length_factor)

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
        with self.open_file(f"{split}.tsv") as lines:
            return [SentencePair(*line.rstrip("\n").split("\t")) for line in lines]

    @contextmanager
    def open_file(self, name: str) -> Iterator[TextIO]:
        """Opens a file of the corpus. Raises DamagedError if the `with` block cannot read it."""
        path = self.directory / name
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                yield file
        except (OSError, UnicodeDecodeError, TypeError) as error:
            raise describe_damage(path, "cannot be read") from error

    @cached_property
    def profile(self) -> str:
        """The profile of the training text (`text/profile.py`)."""
        with self.open_file(PROFILE_NAME) as file:
            return file.read()

    def list_monolingual(self) -> list[str]:
        """Returns the sides that have text without translations."""
        return list(self.manifest.monolingual)

    def read_monolingual(self, side: Side) -> list[str]:
        """Returns the sentences of one side that have no translation; may be empty."""
        text = self.manifest.monolingual.get(side)
        if text is None:
            return []
        with self.open_file(text.file) as lines:
            return [line.rstrip("\n") for line in lines]

    def read_monolingual_tags(self, side: Side) -> list[TagSet]:
        """Returns the tags of each sentence of `read_monolingual`."""
        text = self.manifest.monolingual.get(side)
        if text is None or not text.tags:
            return [()] * (0 if text is None else text.kept)
        return [parse_stored_tags(run.tags) for run in text.tags for _ in range(run.count)]

    def read_tags(self, split: str) -> list[TagSet]:
        """Returns the tags of each pair of "train", "dev" or "test", which precede its source."""
        encoded = self.load_encoded(split)
        if not self.manifest.tags:
            return [()] * len(encoded.target)
        return read_tag_sets(encoded.source.require_sentences("pictures have no tags"), self.source_tokenizer)

    def read_text_sizes(self, split: str) -> tuple[int, ...]:
        """Returns the sizes of the successive texts in "dev" or "test"; none if the order of pairs means nothing.

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


# A prepared directory whose training pairs are those of another corpus plus synthetic ones.
#
# Source of the tag: Caswell, Chelba and Grangier (2019), "Tagged Back-Translation".


ORIGINAL = "mixed_with"  # the entry of the options that holds the fingerprint of the corpus without synthetic pairs
SYNTHETIC = "synthetic_pairs"  # the entry that says how many there are, and from what


class SyntheticPair(NamedTuple):
    """A pair with one generated side. A tagged source begins with START, which marks it as generated."""

    source: str
    target: str
    is_tagged: bool
    tags: TagSet = ()  # of the pair, which follow


@dataclass(frozen=True)
class MixedCorpus(PreparedCorpus):
    """The corpus of a mixture. Its fingerprint is that of the corpus without the synthetic pairs."""

    @property
    def fingerprint(self) -> str:
        return str(self.manifest.options[ORIGINAL])

    @property
    def synthetic(self) -> dict[str, Any]:
        """The model card's entry about the synthetic pairs."""
        return dict(self.manifest.options[SYNTHETIC])


def write_mixture(
    corpus: PreparedCorpus, synthetic: Sequence[SyntheticPair], counts: Mapping[str, Any], directory: Path
) -> None:
    """Writes a prepared directory with several copies of each training pair, and all synthetic pairs.

    `counts` holds the number of copies ("repeats") and other facts for the model card. The development and test sets
    and the subwords are those of `corpus`. Raises OptionError if sources are pictures, and OutputError if the directory
    exists.
    """
    with stage_directory(directory, replace=True) as staged:
        # 1. The subwords, as files that belong to this directory.
        for name, tokenizer in corpus.tokenizers.items():
            (staged / name).write_bytes(tokenizer.model)
        # The profile says what real text looks like, so that of the corpus is kept.
        (staged / PROFILE_NAME).write_text(corpus.profile, encoding="utf-8")
        # 2. The development and test sets as they are.
        for split in ("dev", "test"):
            write_split(staged, split, corpus, 1, ())
        # 3. The training pairs and the synthetic ones.
        write_split(staged, "train", corpus, counts["repeats"], synthetic)
        # 4. The manifest.
        describe_mixture(corpus, staged, counts, len(synthetic)).write(staged)


def write_split(
    directory: Path, split: str, corpus: PreparedCorpus, repeats: int, synthetic: Sequence[SyntheticPair]
) -> None:
    """Writes the texts and the ids of one split."""
    with (directory / f"{split}.tsv").open("w", encoding="utf-8", newline="\n") as file:
        for pair in corpus.read_pairs(split) * repeats:
            file.write(f"{pair.source}\t{pair.target}\n")
        file.writelines(f"{pair.source}\t{pair.target}\n" for pair in synthetic)
    encoded = corpus.load_encoded(split)
    masked = [mask_pair(pair.source, pair.target) for pair in synthetic]
    sources = corpus.source_tokenizer.encode_all([source for source, _ in masked])
    marks = [[START] * pair.is_tagged + corpus.source_tokenizer.list_tag_ids(pair.tags) for pair in synthetic]
    sources = [[*mark, *ids] for mark, ids in zip(marks, sources, strict=True)]
    targets = corpus.target_tokenizer.encode_all([target for _, target in masked])
    real = encoded.source.require_sentences("synthetic pairs need text")
    append_rows(real, repeats, sources, corpus.source_tokenizer).save(directory / f"{split}.source")
    append_rows(encoded.target, repeats, targets, corpus.target_tokenizer).save(directory / f"{split}.target")


def append_rows(ragged: Ragged, repeats: int, rows: Sequence[Sequence[int]], tokenizer: Tokenizer) -> Ragged:
    """Returns `repeats` copies of the sequences of `ragged`, followed by `rows`."""
    more = Ragged.from_sequences([rows], vocabulary_size=tokenizer.vocabulary_size)
    lengths = np.concatenate([np.tile(ragged.lengths, repeats), more.lengths])
    ids = np.concatenate([np.tile(ragged.ids, repeats), more.ids])
    return Ragged(ids, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def describe_mixture(corpus: PreparedCorpus, directory: Path, counts: Mapping[str, Any], synthetic: int) -> Manifest:
    """Returns the corpus's manifest with the files and counts of the mixture."""
    manifest, names = corpus.manifest, list(corpus.tokenizers)
    source = corpus.require_text("which no synthetic pair can have")
    sides = (corpus.source_tokenizer, corpus.target_tokenizer)
    statistics = [
        dataclasses.replace(side, file=name, vocabulary=tokenizer.vocabulary_size)
        for side, name, tokenizer in zip((source, manifest.target), (names[0], names[-1]), sides, strict=True)
    ]
    train = manifest.counts.splits["train"] * counts["repeats"] + synthetic
    return dataclasses.replace(
        manifest,
        source_language=corpus.source_language,
        target_language=corpus.target_language,
        source=statistics[0],
        target=statistics[1],
        counts=dataclasses.replace(manifest.counts, splits={**manifest.counts.splits, "train": train}),
        options={**manifest.options, ORIGINAL: corpus.fingerprint, SYNTHETIC: dict(counts)},
        outputs={path.name: FileRecord.from_file(path) for path in sorted(directory.iterdir())},
        monolingual={},
    )


def hash_sentences(sentences: Sequence[str]) -> NDArray[np.uint64]:
    """Returns the key of each sentence, ignoring case and punctuation."""
    keys = b"".join(hash_text(make_sentence_key(sentence)) for sentence in sentences)
    return np.frombuffer(keys, np.uint64)


# A prepared directory read in the other direction: targets are sources, from the same splits and files.


def reverse_corpus(corpus: PreparedCorpus) -> ReversedCorpus:
    """Returns the other direction of a corpus. Raises OptionError if the sources are pictures."""
    corpus.require_text("which nmt cannot generate")
    return ReversedCorpus(corpus.directory, corpus.manifest)


@dataclass(frozen=True)
class ReversedCorpus(PreparedCorpus):
    """The corpus with its sides swapped.

    With a joint vocabulary, the target may use only the first pieces, while the source uses all of them. When reversed,
    both sides use all: the new sources are re-encoded, since a network must learn the pieces that it will read.
    """

    encoded: dict[str, EncodedSplit] = field(default_factory=dict, compare=False, repr=False)  # by split, once read

    @property
    def source_language(self) -> str:
        return self.manifest.target_language

    @property
    def target_language(self) -> str:
        return self.manifest.source_language

    @property
    def fingerprint(self) -> str:
        return self.manifest.reversed_fingerprint

    @property
    def tokenizer_files(self) -> dict[str, Path]:
        files = super().tokenizer_files
        if "joint" in files:
            return {"joint": files["joint"]}
        return {"source": files["target"], "target": files["source"]}

    def read_pairs(self, split: str) -> list[SentencePair]:
        return [SentencePair(pair.target, pair.source) for pair in super().read_pairs(split)]

    @cached_property
    def profile(self) -> str:
        times = Counter(self.read_pairs("train"))
        return build_profile(times, times.values())

    def list_monolingual(self) -> list[str]:
        return ["target" if side == "source" else "source" for side in super().list_monolingual()]

    def read_monolingual(self, side: Side) -> list[str]:
        return super().read_monolingual("target" if side == "source" else "source")

    def read_monolingual_tags(self, side: Side) -> list[TagSet]:
        tags = super().read_monolingual_tags("target" if side == "source" else "source")
        return list(map(reverse_tags, tags))

    def load_encoded(self, split: str) -> EncodedSplit:
        if split not in self.encoded:
            self.encoded[split] = self.swap_sides(split)
        return self.encoded[split]

    def swap_sides(self, split: str) -> EncodedSplit:
        """Returns both sides of a split, swapped."""
        encoded = super().load_encoded(split)
        target: Ragged = encoded.source.require_sentences("a model can translate only into text")
        source = self.encode_anew(encoded.target) if len(super().tokenizer_files) > 1 else encoded.target
        if self.manifest.tags:
            tags = [reverse_tags(row) for row in read_tag_sets(target, self.target_tokenizer)]
            source = prepend_tag_sets(source, tags, self.source_tokenizer)
        target = drop_tag_ids(target, self.target_tokenizer)
        return EncodedSplit(Sentences(source.ids, source.offsets), Ragged(target.ids, target.offsets))

    def encode_anew(self, ids: Ragged) -> Ragged:
        """Re-encodes sentences with the whole joint vocabulary; `ids` use only its first pieces.

        If any token is unknown, returns `ids` as they are, since they still mean the same.
        """
        if not self.has_joint_vocabulary:
            return ids
        if (ids.ids == UNKNOWN).any():
            return ids
        first = Tokenizer.load(super().tokenizer_files["target"], self.tokenizer_settings)
        rows = [split_at_separator(np.asarray(ids[row]).tolist(), first.separator_id) for row in range(len(ids))]
        parts = iter(self.source_tokenizer.encode_all(first.decode_all(part for row in rows for part in row)))
        encoded = [join_contexts([next(parts) for _ in row], first.separator_id) for row in rows]
        return Ragged.from_sequences([encoded], vocabulary_size=self.source_tokenizer.vocabulary_size)


def split_at_separator(ids: list[int], separator: int | None) -> list[list[int]]:
    """Returns the ids of the context, if there is one, and those of the sentence."""
    if separator not in ids:
        return [ids]
    position = ids.index(separator)
    return [ids[:position], ids[position + 1 :]]


def join_contexts(parts: list[list[int]], separator: int | None) -> list[int]:
    """Returns the ids of a sentence, preceded by those of its context, if it has one."""
    return parts[0] if separator is None or len(parts) == 1 else [*parts[0], separator, *parts[1]]
