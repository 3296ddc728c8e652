"""The steps of `prepare`: read and clean, split, learn subwords, encode, write.

Knows how the files of a prepared directory are written; `dataset.py` knows where, and how they are read.
Letters: N pairs that are kept.
"""

from __future__ import annotations

import gzip
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmt_cli import __version__
from nmt_cli.corpus.clean import Cleaner, Reason, count_words, normalise
from nmt_cli.corpus.config import PrepareConfig, languages_in
from nmt_cli.corpus.formats import PairReader, Row
from nmt_cli.corpus.manifest import FORMAT, Counts, FileRecord, LeakReport, Manifest, Subwords
from nmt_cli.corpus.ragged import Ragged
from nmt_cli.corpus.split import (
    IntArray,
    Splits,
    connected_groups,
    leak_by_rows,
    sentence_numbers,
    split_by_groups,
    wanted_sizes,
)
from nmt_cli.corpus.tokenizer import Tokenizer, train_tokenizer

Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much (0: not known)

CHUNK = 20_000  # pairs between two calls of the progress callback
SUBWORD_SAMPLE = 200_000  # sentences of a side that subwords are learnt from; more take longer and change little


class Rejected(NamedTuple):
    """A pair that was dropped, normalised; `line` is that of the input."""

    reason: Reason
    source: str
    target: str
    line: int


@dataclass
class CleanPairs:
    """What reading a file gave: N kept pairs, the others with their reasons, and what the manifest says of the file."""

    path: Path
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    more_columns: int = 0
    record: FileRecord = field(default_factory=lambda: FileRecord(bytes=0, sha256=""))

    @property
    def dropped(self) -> dict[str, int]:
        """Pairs by reason, every reason named."""
        counts = Counter(pair.reason for pair in self.rejected)
        return {reason.value: counts[reason] for reason in Reason}

    @property
    def name(self) -> str:
        """What the manifest calls the file: no folder, so that equal input gives equal output anywhere."""
        return self.path.name

    def sides(self) -> tuple[tuple[str, list[str]], ...]:
        return ("source", self.sources), ("target", self.targets)


@dataclass(frozen=True)
class Division:
    """The rows of each split, and what the split was measured by."""

    splits: Splits
    leak: LeakReport


@dataclass(frozen=True)
class Vocabularies:
    """The subword models and their files; both the same when the vocabulary is joint."""

    source: Tokenizer
    target: Tokenizer
    source_file: str
    target_file: str


def read_pairs(path: Path, config: PrepareConfig, progress: Progress) -> CleanPairs:
    """The pairs of a tab-separated file, normalised and cleaned, in the order of the file."""
    reader, cleaner, pairs = PairReader(path), Cleaner(config), CleanPairs(path)
    progress("reading", 0, reader.size)
    for row in reader:
        take(row, cleaner, pairs)
        if row.line % CHUNK == 0:
            progress("reading", reader.bytes_read, reader.size)
    pairs.record = FileRecord(bytes=reader.bytes_read, sha256=reader.sha256)
    return pairs


def take(row: Row, cleaner: Cleaner, pairs: CleanPairs) -> None:
    """Puts a row among the kept or the rejected pairs."""
    source, target = normalise(row.source), normalise(row.target)
    pairs.more_columns += row.has_more_columns
    reason = cleaner.reason(source, target)
    if reason is not None:
        pairs.rejected.append(Rejected(reason, source, target, row.line))
        return
    pairs.sources.append(source)
    pairs.targets.append(target)


def build(pairs: CleanPairs, directory: Path, config: PrepareConfig, progress: Progress) -> Manifest:
    """Fills `directory` with a prepared corpus; its manifest, which is the last file written."""
    division = divide(pairs, config, progress)
    write_rejected(directory / "rejected.tsv.gz", pairs.rejected)
    for split, rows in division.splits.items():
        write_pairs(directory / f"{split}.tsv", pairs, rows)
    vocabularies = learn_subwords(pairs, division.splits.train, directory, config, progress)
    encode_splits(pairs, division.splits, vocabularies, directory, progress)
    manifest = describe(pairs, division, vocabularies, directory, config)
    manifest.write(directory)
    return manifest


def divide(pairs: CleanPairs, config: PrepareConfig, progress: Progress) -> Division:
    """Splits the pairs by connected groups. Raises DataError if they are too few."""
    sizes = wanted_sizes(len(pairs.sources), config.dev_size, config.test_size, where=str(pairs.path))
    progress("splitting", 0, 3)
    sources = sentence_numbers(pairs.sources)
    progress("splitting", 1, 3)
    targets = sentence_numbers(pairs.targets)
    progress("splitting", 2, 3)
    groups = connected_groups(sources, targets)
    splits = split_by_groups(groups, sizes, seed=config.seed, where=str(pairs.path))
    leak = leak_by_rows(sources, targets, sizes, seed=config.seed)
    counts = np.bincount(groups)
    report = LeakReport(
        groups=int(np.count_nonzero(counts)),
        largest_group=int(counts.max()),
        test_sources_by_rows=round(leak.sources, 4),
        test_targets_by_rows=round(leak.targets, 4),
    )
    return Division(splits, report)


def write_rejected(path: Path, rejected: Iterable[Rejected]) -> None:
    """Reason, source, target and line of each dropped pair; without the time that gzip would put in its header."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for pair in rejected:
            packed.write("{}\t{}\t{}\t{}\n".format(*pair).encode())


def write_pairs(path: Path, pairs: CleanPairs, rows: IntArray) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{pairs.sources[row]}\t{pairs.targets[row]}\n" for row in rows.tolist())


def learn_subwords(
    pairs: CleanPairs, train: IntArray, directory: Path, config: PrepareConfig, progress: Progress
) -> Vocabularies:
    """Trains and writes the subword model or models, on sentences of train only."""
    progress("learning subwords", 0, 0)
    generator = np.random.default_rng([config.seed, 2])
    rows = np.sort(generator.permutation(train)[:SUBWORD_SAMPLE]).tolist()
    texts = {role: [side[row] for row in rows] for role, side in pairs.sides()}
    if not config.separate_vocabularies:
        texts = {"joint": texts["source"] + texts["target"]}
    tokenizers = {}
    for role, sentences in texts.items():
        model = train_tokenizer(sentences, config.tokenizer_settings, vocabulary_size=config.vocab_size)
        (directory / f"{role}.spm").write_bytes(model)
        tokenizers[role] = Tokenizer(model, config.tokenizer_settings)
    first, last = next(iter(tokenizers)), list(tokenizers)[-1]
    return Vocabularies(tokenizers[first], tokenizers[last], f"{first}.spm", f"{last}.spm")


def encode_splits(
    pairs: CleanPairs, splits: Splits, vocabularies: Vocabularies, directory: Path, progress: Progress
) -> None:
    """Writes the ids of each side of each split."""
    done, total = 0, 2 * len(pairs.sources)
    for side, texts in pairs.sides():
        tokenizer = vocabularies.source if side == "source" else vocabularies.target
        for split, rows in splits.items():
            chunks = counted(encoded(texts, rows, tokenizer), done, total, progress)
            ragged = Ragged.from_sequences(chunks, vocabulary_size=tokenizer.vocabulary_size)
            ragged.save(directory / f"{split}.{side}")
            done += len(rows)


def encoded(texts: Sequence[str], rows: IntArray, tokenizer: Tokenizer) -> Iterator[list[list[int]]]:
    """The ids of the sentences `rows` of `texts`, a chunk at a time."""
    for start in range(0, len(rows), CHUNK):
        yield tokenizer.encode_all([texts[row] for row in rows[start : start + CHUNK].tolist()])


def counted(chunks: Iterable[list[list[int]]], done: int, total: int, progress: Progress) -> Iterator[list[list[int]]]:
    """The chunks themselves; tells the callback how many sentences have gone by, after `done` earlier ones."""
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        progress("encoding", done, total)


def describe(
    pairs: CleanPairs, division: Division, vocabularies: Vocabularies, directory: Path, config: PrepareConfig
) -> Manifest:
    """The manifest of what was written to `directory`."""
    named_source, named_target = languages_in(pairs.name)
    kept = len(pairs.sources)
    return Manifest(
        format=FORMAT,
        source_language=config.source_language or named_source,
        target_language=config.target_language or named_target,
        tokenizer=config.tokenizer_settings,
        counts=Counts(
            read=kept + len(pairs.rejected),
            kept=kept,
            dropped=pairs.dropped,
            splits={split: len(rows) for split, rows in division.splits.items()},
            more_columns=pairs.more_columns,
        ),
        leak=division.leak,
        source=measure_subwords("source", pairs.sources, division.splits, vocabularies, directory),
        target=measure_subwords("target", pairs.targets, division.splits, vocabularies, directory),
        options=config.to_mapping(),
        inputs={pairs.name: pairs.record},
        outputs={path.name: FileRecord.of(path) for path in sorted(directory.iterdir())},
        tools={
            "nmt-cli": __version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "sentencepiece": version("sentencepiece"),
        },
    )


def measure_subwords(
    side: str, texts: Sequence[str], splits: Splits, vocabularies: Vocabularies, directory: Path
) -> Subwords:
    """Size and fit of the vocabulary of one side, from the ids that were written."""
    tokenizer = vocabularies.source if side == "source" else vocabularies.target
    words = sum(count_words(texts[row]) for row in splits.train.tolist())
    pieces = len(Ragged.load(directory / f"train.{side}").ids)
    held_out = np.concatenate([Ragged.load(directory / f"{split}.{side}").ids for split in ("dev", "test")])
    return Subwords(
        file=vocabularies.source_file if side == "source" else vocabularies.target_file,
        vocabulary=tokenizer.vocabulary_size,
        pieces_per_word=round(pieces / words, 3),
        unknown_share=round(float(np.mean(held_out == Tokenizer.UNKNOWN)), 6),
    )
