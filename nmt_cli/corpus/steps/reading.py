"""Reads and examines all inputs into one table of pairs, on several cores for large inputs.

Knows nothing of what the checks decide.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.input_stream import InputStream
from nmt_cli.corpus.formats.inputs import STDIN, CorpusFile, ReadOptions, require_input
from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.corpus.manifest import FileRecord
from nmt_cli.corpus.pairs import Pairs, Role
from nmt_cli.corpus.steps.examine import Chunk, ChunkOfFile, Examination, add_chunk, swap_sides
from nmt_cli.corpus.steps.tagging import turn_tags
from nmt_cli.corpus.steps.workspace import ReadingJournal
from nmt_cli.errors import DataError, find_nearest
from nmt_cli.text.tags import TagPurpose, find_tag_value
from nmt_cli.workers.choice import ExecutorConfig, share_blocks

PrepareProgress = Callable[[str, int, int], None]  # the stage, what is done, and the total (0: unknown)


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Reports nothing to anybody."""


CHUNK = 20_000  # pairs that are examined at a time


class CorpusInputs:
    """The files of the corpus and of its dev and test data, all opened at once, to report missing ones first."""

    def __init__(
        self,
        inputs_by_role: dict[Role, list[CorpusFile]],
        config: PrepareConfig,
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


def make_read_options(file: CorpusFile, config: PrepareConfig) -> ReadOptions:
    """Returns how a file is read; its own languages are those of its tags, else the first ones of the options."""
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
        source_language=source,
        target_language=target,
        finds_text="source" in config.text_sides,
    )


def format_name(path: Path) -> str:
    """Returns a file's name without its folder, replacing characters that UTF-8 cannot encode."""
    return "standard input" if path == STDIN else os.fsencode(path.name).decode(errors="replace")


def read_pairs(
    inputs: CorpusInputs,
    config: PrepareConfig,
    report_progress: PrepareProgress,
    *,
    processes: ExecutorConfig | None = None,
    journal: ReadingJournal | None = None,
) -> Pairs:
    """Reads, normalises, mends and measures the pairs of all inputs, in their order.

    The result does not depend on the `processes`, by default this one alone, nor on what the `journal` has of an
    interrupted run. Raises DataError naming the line, or WorkerError.
    """
    journal = journal or ReadingJournal()
    pairs = Pairs(
        inputs.short_names,
        inputs.roles,
        [corpus_input.weight for corpus_input in inputs.inputs],
        [corpus_input.training_only for corpus_input in inputs.inputs],
        [turn_tags(corpus_input.tags, config) for corpus_input in inputs.inputs],
        scratch=journal.scratch,
    )
    journal.restore(pairs)
    size = sum(reader.size for reader in inputs.readers)
    report_progress("reading", 0, size)
    chunks = islice(read_chunks(inputs.readers, config), journal.chunks, None)
    shared = share_blocks(Examination(), chunks, processes or ExecutorConfig())
    for number, examined in enumerate(shared, journal.chunks + 1):
        add_chunk(examined, pairs)
        journal.keep(pairs, number)
        report_progress("reading", min(sum(reader.bytes_read for reader in inputs.readers), size), size)
    refuse_unknown_columns(inputs.readers, config)
    pairs.close()
    return pairs


def refuse_unknown_columns(readers: list[Reader], config: PrepareConfig) -> None:
    """Raises DataError for a column of `--group-column` or `--tag-column` that no input of pairs has."""
    readers = [reader for reader in readers if not reader.options.one_side]
    if not readers:
        return
    groups = [column for reader in readers for column in reader.group_columns]
    missing = [("--group-column", column) for column in config.group_column if column not in groups]
    if config.tag_column is not None and not any(reader.has_tag_column for reader in readers):
        missing.append(("--tag-column", config.tag_column))
    for option, column in missing[:1]:
        headings = list(dict.fromkeys(heading for reader in readers for heading in reader.headings))
        nearest = find_nearest(column, headings)
        hint = f"did you mean {nearest!r}?" if nearest else f"the columns are {', '.join(headings[:20]) or 'nameless'}"
        raise DataError(f"{option}: no input has a column {column!r}", hint=hint)


def read_chunks(readers: list[Reader], config: PrepareConfig) -> Iterator[Chunk | ChunkOfFile]:
    """Yields the rows of all inputs in chunks that never mix inputs; of what follows the first, where they are."""
    keep = frozenset(config.keep)
    for number, reader in enumerate(readers):
        rows = iter(reader)
        while chunk := list(islice(rows, CHUNK)):
            yield Chunk(number, list(map(swap_sides, chunk)) if config.reverse else chunk, keep)
            parser = reader.detach()  # which knows the columns now
            while parts := reader.take_parts(CHUNK):
                yield ChunkOfFile(number, parts, keep, parser, config.reverse)
