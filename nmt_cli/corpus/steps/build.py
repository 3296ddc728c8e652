"""The last steps of `prepare`: obtain subwords, encode all splits, write the directory.

Knows how the files of a prepared directory are written; `dataset.py` knows how they are read. Letters: N pairs.
"""

from __future__ import annotations

import gzip
import platform
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmt_cli import __version__
from nmt_cli.arrays.rows import Ragged, RaggedWriter
from nmt_cli.arrays.scratch import ROW, AnyKeys, count_numbers, iterate_blocks, mark_repeated, place_in_partitions
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.carrying.masking import mask_pair
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.config import FILE_OPTIONS, SPLIT_OPTIONS, PrepareOptions, is_size
from nmt_cli.corpus.manifest import (
    FORMAT,
    TRUNCATION,
    FileRecord,
    Finding,
    Manifest,
    MonolingualText,
    PairCounts,
    SourceStatistics,
    SubwordStatistics,
)
from nmt_cli.corpus.pairs import SELECTED, Pairs, Side, Texts, prepend_contexts, prepend_tag_sets
from nmt_cli.corpus.steps.context import PairBefore, describe_order, find_contexts
from nmt_cli.corpus.steps.held_out import REASONS, Division
from nmt_cli.corpus.steps.monolingual import MonolingualSide, write_monolingual
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress
from nmt_cli.corpus.steps.run_checks import describe_rows
from nmt_cli.corpus.steps.sources import CorpusSources
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.subwords import CHUNK, SIDES, LearnedSubwords, mask_pairs, measure_subwords, obtain_subwords
from nmt_cli.corpus.steps.tagging import count_tags
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.streams import LinePart, cut_file
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.text.tags import TagSet, join_sentences
from nmt_cli.workers.choice import ExecutorOptions, share_blocks
from nmt_cli.workers.work import DoneReporter

DROP_REASONS = (*(check.name for check in CHECKS if check.action == "dropped"), SAMPLED_OUT)


@dataclass(frozen=True)
class CheckedCorpus:
    """A corpus that has been read, checked and split, and only lacks its subwords."""

    pairs: Pairs
    inputs: CorpusInputs
    sources: CorpusSources
    findings: tuple[Finding, ...]
    division: Division
    languages: tuple[str, str]
    monolingual: Sequence[MonolingualSide] = ()


def build(
    corpus: CheckedCorpus,
    directory: Path,
    config: PrepareOptions,
    report_progress: PrepareProgress,
    processes: ExecutorOptions,
) -> Manifest:
    """Fills `directory` with a prepared corpus. Returns its manifest, which is the last file written."""
    pairs, splits = corpus.pairs, corpus.division.splits
    # 1. Write the text: the pairs that were dropped, with their reasons, those of each split, and the profile of train.
    report_progress("writing", 0, 0)
    write_rejected(directory / "rejected.tsv.gz", pairs)
    for split, rows in splits.by_name.items():
        write_pairs(directory / f"{split}.tsv", pairs, rows)
    once, times = count_repeated(pairs, splits.train)
    profile = corpus.sources.build_profile(
        zip(pairs.source.select(once), pairs.target.select(once), strict=True), times
    )
    (directory / PROFILE_NAME).write_text(profile, encoding="utf-8", newline="\n")
    monolingual: dict[str, MonolingualText] = {
        text.side: write_monolingual(text, directory) for text in corpus.monolingual
    }
    # 2. Learn the subwords from train alone, so that dev and test stay unseen.
    report_progress("learning subwords", 0, 0)
    subwords = obtain_subwords(pairs, splits.train, directory, config)
    # 3. Encode all splits.
    encoding = Encoding(subwords, config)
    truncated_rows = encode_splits(pairs, splits, encoding, directory, report_progress, processes)
    problem = f"sources longer than max-source-length={config.max_source_length}"
    cut = describe_rows(pairs, truncated_rows, check=TRUNCATION, problem=problem, action="cut")
    # 4. Measure what was written; pictures are stored now.
    source = corpus.sources.store(pairs, splits, subwords, directory, report_progress)
    target = measure_subwords("target", pairs, splits, subwords, directory)
    # 5. Write the manifest.
    manifest = describe_corpus(corpus, corpus.findings + cut, source, target, subwords.settings, directory, config)
    tags, order = count_tags(pairs, splits), describe_order(pairs, splits, config)
    manifest = replace(manifest, monolingual=monolingual, tags=tags, context=order)
    manifest.write(directory)
    return manifest


def count_repeated(pairs: Pairs, train: IntArray) -> tuple[IntArray, Iterator[int]]:
    """Returns the distinct rows of a split, in input order, and how often each occurs in it."""
    counts = count_numbers(train, len(pairs))
    facts = pairs.facts
    keys: list[AnyKeys] = [facts.source_keys, facts.target_keys, facts.checksums]
    once = pairs.scratch.find_rows((counts > 0) & ~mark_repeated(keys, counts > 0, pairs.scratch))
    return once, chain.from_iterable(counts[once[block]].tolist() for block in iterate_blocks(len(once)))


def describe_corpus(
    corpus: CheckedCorpus,
    findings: tuple[Finding, ...],
    source: SourceStatistics,
    target: SubwordStatistics,
    tokenizer: TokenizerSettings,
    directory: Path,
    config: PrepareOptions,
) -> Manifest:
    """Returns the manifest of `directory`, with the checksums of all its files."""
    source_language, target_language = corpus.languages
    return Manifest(
        format=FORMAT,
        source_language=source_language,
        target_language=target_language,
        tokenizer=tokenizer,
        counts=count_pairs(corpus.pairs, corpus.division),
        leak=corpus.division.leak,
        findings=findings,
        source=source,
        target=target,
        options=strip_paths(config) | {"tokenizer": tokenizer.kind, "lowercase": tokenizer.lowercase},
        inputs=corpus.inputs.records,
        outputs={path.name: FileRecord.from_file(path) for path in sorted(directory.iterdir())},
        tools={
            "nmt-cli": __version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "sentencepiece": version("sentencepiece"),
        },
    )


def count_pairs(pairs: Pairs, division: Division) -> PairCounts:
    """Counts the pairs read, kept, dropped by reason, and put into each split."""
    by_reason = dict(zip(REASONS, count_numbers(pairs.reasons, len(REASONS)).tolist(), strict=True))
    return PairCounts(
        read=len(pairs),
        kept=by_reason[""],
        dropped={name: by_reason[name] for name in DROP_REASONS},
        splits={split: len(rows) for split, rows in division.splits.by_name.items()},
        repeated=division.repeated,
        more_columns=pairs.more_columns,
    )


def strip_paths(config: PrepareOptions) -> dict[str, Any]:
    """Returns the options with folders removed from file names, so that equal input gives equal output anywhere."""
    options = config.to_mapping()
    for name in FILE_OPTIONS:
        value = options[name]
        if isinstance(value, tuple):
            options[name] = [Path(part).name for part in value]
        elif value is not None and not (name in SPLIT_OPTIONS and is_size(value)):
            options[name] = ",".join(Path(part).name for part in value.split(","))
    return options


# Encodes the splits of a prepared corpus, block by block, so that cores and machines can share the work.
#
# Knows how ids are written; nothing of how subwords are learned. Letters: N pairs of a block.

# Writes the pairs of a split and of the rejected ones.


MOVED = 200_000  # pairs whose lines are brought into another order at a time
MOVED_LINES, MOVED_ENDS = "moved.lines", "moved.ends"


def write_rejected(path: Path, pairs: Pairs) -> None:
    """Writes the reason, source, target, line and file of each dropped pair, with no time in the gzip header."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        rows = pairs.scratch.find_rows(~pairs.is_kept)
        for block in iterate_blocks(len(rows), SELECTED):
            for line in list_rejected(pairs, rows[block]):
                packed.write(line.encode())


def list_rejected(pairs: Pairs, rows: IntArray) -> Iterator[str]:
    """Yields the lines of these rows."""
    texts = zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)
    numbers = (pairs.reasons, pairs.facts.line_numbers, pairs.facts.input_numbers)
    facts = zip(*(column[rows].tolist() for column in numbers), strict=True)
    for (reason, line, number), (source, target) in zip(facts, texts, strict=True):
        yield f"{REASONS[reason]}\t{source}\t{target}\t{line}\t{pairs.input_names[number]}\n"


def write_pairs(path: Path, pairs: Pairs, rows: IntArray) -> None:
    """Writes the pairs of these rows as a TSV file without a header."""
    with path.open("wb") as file:
        file.writelines(list_lines(pairs, rows) if len(rows) <= MOVED else sort_lines(pairs, rows))


def list_lines(pairs: Pairs, rows: IntArray) -> Iterator[bytes]:
    """Yields the lines of these rows, in UTF-8."""
    texts = zip(pairs.source.select_bytes(rows), pairs.target.select_bytes(rows), strict=True)
    return (b"".join((source, b"\t", target, b"\n")) for source, target in texts)


def sort_lines(pairs: Pairs, rows: IntArray) -> Iterator[bytes]:
    """Yields the lines of these rows without reading at random from the texts, which may be larger than memory.

    First writes the lines in the order of the texts, MOVED rows at a time, then collects them from there.
    """
    # 1. Sort the places of all lines by the part of the texts that each comes from.
    scratch, parts = pairs.scratch, len(pairs) // MOVED + 1
    sizes = np.zeros(parts, np.int64)
    for block in iterate_blocks(len(rows)):
        sizes += np.bincount(rows[block] // MOVED, minlength=parts)
    places, heads = scratch.make_array(len(rows), ROW), np.cumsum(sizes) - sizes
    starts = heads.copy()
    for block in iterate_blocks(len(rows)):
        order, sorted_places = place_in_partitions(rows[block] // MOVED, heads)
        places[sorted_places] = order + block.start
    # 2. Write the lines, part by part; within a part, they are in the order of their places.
    moved = Texts(scratch.make_column(MOVED_LINES, np.uint8), scratch.make_column(MOVED_ENDS, np.int64))
    for block in iterate_blocks(len(rows), SELECTED):
        lines = list(list_lines(pairs, rows[places[block]]))
        moved.extend(b"".join(lines), np.fromiter(map(len, lines), np.int64, count=len(lines)))
    # 3. Collect the next MOVED lines from all parts, again and again.
    for block in iterate_blocks(len(rows), MOVED):
        ends = [
            start + np.searchsorted(places[start:end], block.stop) for start, end in zip(starts, heads, strict=True)
        ]
        numbers = np.concatenate([np.arange(*bounds) for bounds in zip(starts, ends, strict=True)])
        for line in moved.select_bytes(numbers[np.argsort(places[numbers])]):
            yield bytes(line)
        starts = np.array(ends)
    scratch.drop_column(MOVED_LINES)
    scratch.drop_column(MOVED_ENDS)


class SplitBlock(NamedTuple):
    """N neighbouring pairs of a written split, which the encoding process reads from its file."""

    split: str
    part: LinePart
    contexts: list[PairBefore | None]  # (N,) the pairs that they are learned behind
    tags: list[TagSet]  # (N,)

    def __str__(self) -> str:
        return f"pair {self.part.first:,} of {self.split}, and those after it"

    def pack(self) -> SplitBlock:
        """Returns the block with the content of the file, for a machine that cannot read the file."""
        return self._replace(part=self.part.pack())


class EncodedBlock(NamedTuple):
    """The ids of N pairs, with their contexts and tags, by side."""

    ids: dict[Side, Ragged]
    is_truncated: BoolArray  # (N,) whether the source was longer than `max_source_length`


@dataclass(frozen=True)
class Encoding:
    """The data that a process needs to encode blocks. Implements `workers.work.Work`."""

    subwords: LearnedSubwords
    config: PrepareOptions

    def start(
        self, *, threads: int | None = None, report: DoneReporter | None = None
    ) -> Callable[[SplitBlock], EncodedBlock]:
        return self.encode_block

    def pack(self) -> Encoding:
        return self

    def hold(self) -> Encoding:
        return self

    def encode_block(self, block: SplitBlock) -> EncodedBlock:
        """Encodes the pairs of a block, with placeholders for protected spans shared by both sides."""
        limit = self.config.max_source_length
        rows = (line.rstrip("\n").split("\t") for _, line in block.part.read_lines())
        pairs = [
            join_pair(before, (source, target)) for before, (source, target) in zip(block.contexts, rows, strict=False)
        ]
        masked, is_truncated = mask_pairs(pairs, self.config), np.zeros(len(pairs), np.bool_)
        before = [None if pair is None or pair.is_joined else mask_pair(*pair[:2]) for pair in block.contexts]
        ids: dict[Side, Ragged] = {}
        for side in self.config.text_sides:
            number, tokenizer = SIDES.index(side), self.subwords.get_tokenizer(side)
            encoded = Ragged.from_sequences(
                [tokenizer.encode_all([pair[number] for pair in masked])], vocabulary_size=tokenizer.vocabulary_size
            )
            if side == "source" and limit is not None:
                is_truncated, encoded = encoded.lengths > limit, encoded.truncate(limit)
            encoded = prepend_contexts(encoded, [pair and pair[number] for pair in before], tokenizer)
            ids[side] = prepend_tag_sets(encoded, block.tags, tokenizer) if side == "source" else encoded
        return EncodedBlock(ids, is_truncated)


def join_pair(before: PairBefore | None, pair: tuple[str, str]) -> tuple[str, str]:
    """Returns a pair, merged into one line with the previous pair if they are joined."""
    if before is None or not before.is_joined:
        return pair
    return join_sentences(before.source, pair[0]), join_sentences(before.target, pair[1])


def encode_splits(
    pairs: Pairs,
    splits: Splits,
    encoding: Encoding,
    directory: Path,
    report_progress: PrepareProgress,
    processes: ExecutorOptions,
) -> IntArray:
    """Writes the ids of both sides of each split, encoding the sentences of the written splits.

    Returns the rows whose source was truncated.
    """
    waiting: deque[tuple[str, IntArray]] = deque()
    done, total = 0, sum(len(rows) for rows in splits.by_name.values())
    truncated: list[IntArray] = [np.zeros(0, np.int64)]

    def read_blocks() -> Iterator[SplitBlock]:
        for split, rows in splits.by_name.items():
            for block in read_split(directory / f"{split}.tsv", split, rows, pairs, encoding.config):
                waiting.append((split, rows[block.part.first - 1 :][: len(block.tags)]))
                yield block

    with ExitStack() as stack:
        writers = {
            (split, side): stack.enter_context(closing(make_writer(directory, split, side, encoding.subwords)))
            for split in splits.by_name
            for side in encoding.config.text_sides
        }
        for encoded in share_blocks(encoding, read_blocks(), processes):
            split, rows = waiting.popleft()
            for side, ids in encoded.ids.items():
                writers[split, side].append(ids)
            truncated.append(rows[encoded.is_truncated])
            done += len(rows)
            report_progress("encoding", done, total)
    return np.unique(np.concatenate(truncated))


def read_split(path: Path, split: str, rows: IntArray, pairs: Pairs, config: PrepareOptions) -> Iterator[SplitBlock]:
    """Yields the pairs of a written split, CHUNK at a time; the split consists of these rows."""
    for part in cut_file(path, CHUNK):
        block_rows = rows[part.first - 1 :][:CHUNK]
        tags = [pairs.tag_sets[number] for number in pairs.facts.tags[block_rows].tolist()]
        yield SplitBlock(split, part, find_contexts(pairs, split, block_rows, config), tags)


def make_writer(directory: Path, split: str, side: Side, subwords: LearnedSubwords) -> RaggedWriter:
    """Returns the writer of the ids of one side of a split."""
    return RaggedWriter(directory / f"{split}.{side}", subwords.get_tokenizer(side).vocabulary_size)
