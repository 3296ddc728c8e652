"""Reads and examines all inputs into one table of pairs, on several cores for large inputs.

Does not know what the checks decide."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.corpus.checks import PAIR_CHECKS, TEXT_CHECKS
from nmt_cli.corpus.checks.languages import find_main_scripts
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import FileRecord
from nmt_cli.corpus.pairs import PairFacts, Pairs, Role
from nmt_cli.corpus.steps.workspace import ReadingJournal
from nmt_cli.errors import DataError
from nmt_cli.formats.input_stream import InputStream
from nmt_cli.formats.inputs import NO_COLUMN, STDIN, CorpusFile, ReadOptions, require_input
from nmt_cli.formats.opening import open_reader
from nmt_cli.formats.reader import Reader, Row
from nmt_cli.formats.sniffing import suggest_column
from nmt_cli.text.normalise import count_words, hash_text, make_sentence_key, normalise
from nmt_cli.text.streams import LinePart
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value, merge_tags, reverse_tags
from nmt_cli.workers.choice import ExecutorOptions, share_blocks
from nmt_cli.workers.work import DoneReporter

# Examines each pair by itself, chunk by chunk, so that all cores can share the work.
#
# Normalises, repairs and measures; decides nothing. Letters: N pairs of a chunk.


CHECK_BITS = {check.name: 1 << number for number, check in enumerate((*TEXT_CHECKS, *PAIR_CHECKS))}
MENDED_MARKS = frozenset("&<([")  # of entities, tags and notes
ORIGINALS = 3  # per chunk and check: pairs whose text before mending is remembered for the report


@dataclass(frozen=True)
class ExaminedChunk:
    """A chunk of N examined pairs, ready to be added to `Pairs`."""

    source: bytes  # the texts one after the other
    target: bytes
    source_sizes: NDArray[np.int64]  # (N,) bytes
    target_sizes: NDArray[np.int64]
    facts: PairFacts
    originals: dict[int, tuple[str, str]]  # by row: some texts before mending
    more_columns: int  # lines with a third column
    tag_sets: list[TagSet]  # distinct ones, to which the numbers in `facts.tags` refer


@dataclass(frozen=True)
class Chunk:
    """Rows of one input; `keep` names the checks that must not repair."""

    number: int  # of the input
    rows: list[Row]
    keep: frozenset[str]

    def __str__(self) -> str:
        return f"line {self.rows[0].line:,} of input {self.number + 1}, and those after it"


class ChunkOfFile(NamedTuple):
    """A chunk that each worker reads itself from the files of its input."""

    number: int  # of the input
    parts: tuple[LinePart, ...]  # of each file
    keep: frozenset[str]
    parser: Reader
    is_reversed: bool

    def __str__(self) -> str:
        return f"line {self.parts[0].first:,} of input {self.number + 1}, and those after it"

    def read(self) -> Chunk:
        rows = self.parser.parse_lines(*(part.read_lines() for part in self.parts))
        return Chunk(self.number, [*(map(swap_sides, rows) if self.is_reversed else rows)], self.keep)

    def pack(self) -> ChunkOfFile:
        """Returns the chunk with the content of its files, for a machine that cannot read the files."""
        return self._replace(parts=tuple(part.pack() for part in self.parts))


def swap_sides(row: Row) -> Row:
    return row._replace(source=row.target, target=row.source, tags=reverse_tags(row.tags))


class Examination(NamedTuple):
    """The work of examining chunks. Implements `workers.work.Work`."""

    def start(
        self, *, threads: int | None = None, report: DoneReporter | None = None
    ) -> Callable[[Chunk | ChunkOfFile], ExaminedChunk]:
        return examine

    def pack(self) -> Examination:
        return self

    def hold(self) -> Examination:
        return self


def examine(chunk: Chunk | ChunkOfFile) -> ExaminedChunk:
    """Normalises, repairs and measures each pair of a chunk."""
    chunk = chunk.read() if isinstance(chunk, ChunkOfFile) else chunk
    menders = [(CHECK_BITS[check.name], check.mend_text, check.name not in chunk.keep) for check in TEXT_CHECKS]
    pair_checks = [(CHECK_BITS[check.name], check.has_problem) for check in PAIR_CHECKS]
    texts: tuple[list[str], list[str]] = ([], [])
    flags: list[int] = []
    originals: dict[int, tuple[str, str]] = {}
    remembered: dict[int, int] = {}  # by the bits of the checks: how many originals there are
    for row in chunk.rows:
        # 1. Repair and normalise the texts. Plain ASCII without these marks never needs repair.
        mended_bits = 0
        for side, text in zip(texts, (row.source, row.target), strict=True):
            if not (text.isascii() and text.isprintable() and MENDED_MARKS.isdisjoint(text)):
                for bit, mend, may_mend in menders:
                    mended = mend(text)
                    mended_bits |= bit if mended != text else 0
                    text = mended if may_mend else text
            side.append(normalise(text))
        # 2. Remember some texts as they were.
        if mended_bits and remembered.setdefault(mended_bits, 0) < ORIGINALS:
            remembered[mended_bits] += 1
            originals[len(flags)] = (row.source, row.target)
        # 3. Note which checks apply to the pair.
        check_bits = judge_pair(texts[0][-1], texts[1][-1], pair_checks)
        flags.append(mended_bits | check_bits | (row.is_unfinished * CHECK_BITS["unfinished"]))
    return measure_pairs(chunk, texts, flags, originals)


def judge_pair(source: str, target: str, checks: Sequence[tuple[int, Callable[[str, str], bool]]]) -> int:
    """Returns the bits of the checks that a pair fails."""
    bits = 0
    for bit, holds in checks:
        if holds(source, target):
            bits |= bit
    return bits


def measure_pairs(
    chunk: Chunk, texts: tuple[list[str], list[str]], flags: list[int], originals: dict[int, tuple[str, str]]
) -> ExaminedChunk:
    """Measures the lengths, keys and scripts of the normalised texts."""
    count = len(flags)
    tag_sets = list(dict.fromkeys(row.tags for row in chunk.rows))
    encoded = [[text.encode() for text in side] for side in texts]
    sizes = [np.fromiter(map(len, side), np.int64, count=count) for side in encoded]
    keys = [np.frombuffer(b"".join([hash_text(make_sentence_key(t)) for t in side]), np.uint64) for side in texts]
    facts = PairFacts(
        flags=np.array(flags, np.uint32),
        source_keys=keys[0],
        target_keys=keys[1],
        checksums=np.array([zlib.crc32(b"%b\t%b" % pair) for pair in zip(*encoded, strict=True)], np.uint32),
        source_lengths=np.fromiter(map(len, texts[0]), np.int32, count=count),
        target_lengths=np.fromiter(map(len, texts[1]), np.int32, count=count),
        source_words=np.fromiter(map(count_words, texts[0]), np.int32, count=count),
        target_words=np.fromiter(map(count_words, texts[1]), np.int32, count=count),
        source_scripts=find_main_scripts(texts[0]),
        target_scripts=find_main_scripts(texts[1]),
        line_numbers=np.array([row.line for row in chunk.rows], np.int64),
        input_numbers=np.full(count, chunk.number, np.uint16),
        group_keys=np.frombuffer(
            b"".join([hash_text(row.group) if row.group else bytes(8) for row in chunk.rows]), np.uint64
        ),
        tags=np.array([tag_sets.index(row.tags) for row in chunk.rows], np.uint16),
    )
    more_columns = sum(row.has_more_columns for row in chunk.rows)
    data = [b"".join(side) for side in encoded]
    return ExaminedChunk(data[0], data[1], sizes[0], sizes[1], facts, originals, more_columns, tag_sets)


def add_chunk(examined: ExaminedChunk, pairs: Pairs) -> None:
    """Appends an examined chunk to `pairs`."""
    first = len(pairs)
    pairs.source.extend(examined.source, examined.source_sizes)
    pairs.target.extend(examined.target, examined.target_sizes)
    of_input = pairs.input_tags[int(examined.facts.input_numbers[0])] if pairs.input_tags else ()
    numbers = [pairs.number_tags(merge_tags(of_input, tags)) for tags in examined.tag_sets]
    facts = replace(examined.facts, tags=np.array(numbers, np.uint16)[examined.facts.tags])
    for name, column in pairs.columns.items():
        column.append(getattr(facts, name))
    pairs.more_columns += examined.more_columns
    for row, texts in examined.originals.items():
        if len(pairs.originals) < 100 * ORIGINALS:
            pairs.originals[first + row] = texts


PrepareProgress = Callable[[str, int, int], None]  # the stage, what is done, and the total (0: unknown)


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignores all progress."""


CHUNK = 20_000  # pairs that are examined at a time


class CorpusInputs:
    """The files of the corpus and of its dev and test data, all opened at once, to report missing ones first."""

    def __init__(
        self,
        inputs_by_role: dict[Role, list[CorpusFile]],
        config: PrepareOptions,
        open_input: Callable[[CorpusFile, ReadOptions], Reader] = open_reader,
    ) -> None:
        self.inputs = [corpus_input for inputs in inputs_by_role.values() for corpus_input in inputs]
        self.roles = [role for role, inputs in inputs_by_role.items() for _ in inputs]
        for corpus_input in self.inputs:
            require_input(corpus_input)
        self.readers = [open_input(file, make_read_options(file, config)) for file in self.inputs]

    @property
    def records(self) -> dict[str, FileRecord]:
        """The size and checksum of each file, by name without folder: equal input gives equal output anywhere."""
        records: dict[str, FileRecord] = {}
        for stream in self.list_streams():
            base_name = format_name(stream.path)
            name, number = base_name, 1
            while name in records:
                number += 1
                name = f"{base_name} ({number})"
            records[name] = FileRecord(bytes=stream.bytes_read, sha256=stream.sha256)
        return records

    def list_streams(self) -> list[InputStream]:
        """Returns the streams of all inputs; a file read as both sides of its pairs counts once."""
        return [
            stream
            for corpus_input, reader in zip(self.inputs, self.readers, strict=True)
            for stream in reader.streams[: len(set(corpus_input.files))]
        ]

    @property
    def notes(self) -> list[str]:
        """Notes for the user about how the files were read."""
        return [note for reader in self.readers for note in reader.notes]

    @property
    def short_names(self) -> list[str]:
        """The names of the inputs in messages and reports: their file names, without folders."""
        return [" + ".join(map(format_name, dict.fromkeys(corpus_input.files))) for corpus_input in self.inputs]


def make_read_options(file: CorpusFile, config: PrepareOptions) -> ReadOptions:
    """Returns how to read a file; its languages are those of its tags, else the first ones in the options."""
    source, target = (
        find_tag_value(file.tags, kind) or next(iter(languages), None)
        for kind, languages in (
            (TagPurpose.SOURCE, config.source_languages),
            (TagPurpose.TARGET, config.target_languages),
        )
    )
    return ReadOptions(
        format=config.format,
        encoding=config.encoding,
        source_column=config.source_column,
        target_column=config.target_column,
        group_columns=config.group_column,
        tag_column=config.tag_column,
        language_column=config.target_language_column,
        finds_languages=config.target_language_column is None and "source" in config.text_sides,
        source_language=source,
        target_language=target,
        finds_text="source" in config.text_sides,
    )


def format_name(path: Path) -> str:
    """Returns a file's name without its folder, replacing characters that UTF-8 cannot encode."""
    return "standard input" if path == STDIN else os.fsencode(path.name).decode(errors="replace")


def read_pairs(
    inputs: CorpusInputs,
    config: PrepareOptions,
    report_progress: PrepareProgress,
    *,
    processes: ExecutorOptions | None = None,
    journal: ReadingJournal | None = None,
) -> Pairs:
    """Reads, normalises, repairs and measures the pairs of all inputs, in their order.

    The result depends neither on the `processes` (by default, only this one) nor on what the `journal` holds from an
    interrupted run. Raises DataError naming the line, or WorkerError.
    """
    journal = journal or ReadingJournal()
    pairs = Pairs(
        inputs.short_names,
        inputs.roles,
        [corpus_input.weight for corpus_input in inputs.inputs],
        [corpus_input.training_only for corpus_input in inputs.inputs],
        [reverse_tags(file.tags) if config.reverse else file.tags for file in inputs.inputs],
        scratch=journal.scratch,
    )
    journal.restore(pairs)
    size = sum(reader.size for reader in inputs.readers)
    report_progress("reading", 0, size)
    chunks = islice(read_chunks(inputs.readers, config), journal.chunks, None)
    shared = share_blocks(Examination(), chunks, processes or ExecutorOptions())
    for number, examined in enumerate(shared, journal.chunks + 1):
        add_chunk(examined, pairs)
        journal.keep(pairs, number)
        report_progress("reading", min(sum(reader.bytes_read for reader in inputs.readers), size), size)
    refuse_unknown_columns(inputs.readers, config)
    pairs.close()
    return pairs


def refuse_unknown_columns(readers: list[Reader], config: PrepareOptions) -> None:
    """Raises DataError for a column of `--group-column`, `--tag-column` and so on that no input of pairs has."""
    readers = [reader for reader in readers if not reader.options.one_side]
    if not readers:
        return
    groups = [column for reader in readers for column in reader.group_columns]
    missing = [("--group-column", column) for column in config.group_column if column not in groups]
    if config.tag_column is not None and not any(reader.has_tag_column for reader in readers):
        missing.append(("--tag-column", config.tag_column))
    if config.target_language_column not in (None, NO_COLUMN) and not any(
        reader.has_language_column for reader in readers
    ):
        missing.append(("--target-language-column", config.target_language_column))
    for option, column in missing[:1]:
        headings = list(dict.fromkeys(heading for reader in readers for heading in reader.headings))
        raise DataError(f"{option}: no input has a column {column!r}", hint=suggest_column(column, headings))


def read_chunks(readers: list[Reader], config: PrepareOptions) -> Iterator[Chunk | ChunkOfFile]:
    """Yields the rows of each input in chunks of its own; after the first chunk, only where the rows are."""
    keep = frozenset(config.keep)
    for number, reader in enumerate(readers):
        if number:
            reader.usual = readers[0].sides
        rows = iter(reader)
        while chunk := list(islice(rows, CHUNK)):
            yield Chunk(number, list(map(swap_sides, chunk)) if config.reverse else chunk, keep)
            parser = reader.detach()  # which knows the columns now
            while parts := reader.take_parts(CHUNK):
                yield ChunkOfFile(number, parts, keep, parser, config.reverse)
