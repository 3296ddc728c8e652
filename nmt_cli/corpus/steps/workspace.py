"""The folder beside a prepared corpus in which it is made: long arrays, and a journal of what was read.

A killed preparation continues from the journal; any work that the journal lacks is done again.
Does not depend on the content of the pairs.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nmt_cli import __version__
from nmt_cli.arrays.scratch import Scratch
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.errors import DataError, NmtError, OptionError, OutputError, WorkerError
from nmt_cli.files import take_lock, write_json
from nmt_cli.formats.inputs import STDIN, CorpusFile
from nmt_cli.text.tags import parse_stored_tags

JOURNAL = "journal.json"
LOCK = "lock"
COMMITTED = 10  # chunks after which the journal is written
COLUMNS = "columns"

DIFFERENCES = {"version": "a different version of nmt", "inputs": "different inputs", "options": "different options"}

JobIdentity = Mapping[str, Any]


class ReadingJournal:
    """The progress of reading some inputs, stored in a folder if there is one."""

    def __init__(self, folder: Path | None = None, identity: JobIdentity | None = None) -> None:
        self.path = None if folder is None else folder / JOURNAL
        self.identity = identity or {}
        if folder is not None:
            folder.mkdir(exist_ok=True)
        self.saved = {} if self.path is None else read_journal(self.path)
        self.scratch = Scratch(folder, self.saved.get(COLUMNS, {}))

    @property
    def chunks(self) -> int:
        """The number of chunks that an interrupted run has read."""
        return int(self.saved.get("chunks", 0))

    def restore(self, pairs: Pairs) -> None:
        """Puts the pairs that an interrupted run has read into the empty `pairs`."""
        if not self.chunks:
            return
        pairs.tag_sets[:] = [parse_stored_tags(tags) for tags in self.saved["tag_sets"]]
        pairs.more_columns = self.saved["more_columns"]
        pairs.originals |= {row: (source, target) for row, source, target in self.saved["originals"]}

    def keep(self, pairs: Pairs, chunks: int) -> None:
        """From time to time, notes that these pairs are those of the first `chunks`."""
        if self.path is None or chunks % COMMITTED or chunks <= self.chunks:
            return
        columns = self.scratch.flush_columns()
        originals = [[row, *texts] for row, texts in pairs.originals.items()]
        tag_sets = [" ".join(map(str, tags)) for tags in pairs.tag_sets]
        write_json(
            self.path,
            {
                "identity": dict(self.identity),
                "chunks": chunks,
                COLUMNS: columns,
                "tag_sets": tag_sets,
                "more_columns": pairs.more_columns,
                "originals": originals,
            },
        )


class Workspace:
    """The folder of one preparation, with a part for each of its texts."""

    def __init__(self, folder: Path | None = None, identity: JobIdentity | None = None) -> None:
        self.folder, self.identity = folder, identity or {}
        self.journals: list[ReadingJournal] = []

    @property
    def has_journal(self) -> bool:
        """Whether an interrupted run could be continued here."""
        return self.folder is not None and any(self.folder.glob(f"*/{JOURNAL}"))

    def open_part(self, name: str) -> ReadingJournal:
        """Returns the journal of one of the texts, which records where its arrays are."""
        journal = ReadingJournal(None if self.folder is None else self.folder / name, self.identity)
        self.journals.append(journal)
        return journal

    def close(self) -> None:
        for journal in self.journals:
            journal.scratch.close()


@contextmanager
def open_workspace(directory: Path, identity: JobIdentity, *, resume: bool) -> Iterator[Workspace]:
    """Yields the workspace beside a prepared corpus; it remains only if a run that has read much is interrupted.

    With `resume`, it is that of an interrupted run. Raises DataError if that run prepared something else, and
    OutputError if another process is working in it.
    """
    folder = locate_workspace(directory)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    identity = json.loads(json.dumps(identity))  # as it is read
    with lock_folder(folder, directory):
        if resume:
            refuse_other_preparation(folder, identity, directory)
        else:
            for path in folder.iterdir():  # what an interrupted run has left
                shutil.rmtree(path, ignore_errors=True)
        workspace = Workspace(folder, identity)
        keeps = False
        try:
            yield workspace
        except BaseException as error:
            keeps = workspace.has_journal and (isinstance(error, WorkerError) or not isinstance(error, NmtError))
            raise
        finally:
            workspace.close()
            if not keeps:
                shutil.rmtree(folder, ignore_errors=True)


def locate_workspace(directory: Path) -> Path:
    """Returns the folder in which a prepared corpus is made."""
    target = Path(os.path.realpath(directory))
    return target.with_name(f".{target.name}.unfinished")


@contextmanager
def lock_folder(folder: Path, directory: Path) -> Iterator[None]:
    """Holds a lock on the folder. Raises OutputError if another process does."""
    try:
        held = take_lock(folder / LOCK)
    except BlockingIOError as error:
        raise OutputError(
            f"{directory}/ is being prepared by another process",
            hint="wait for it, or name another directory with --data",
        ) from error
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def refuse_other_preparation(folder: Path, identity: JobIdentity, directory: Path) -> None:
    """Raises DataError if the interrupted run had other inputs or options."""
    for path in folder.glob(f"*/{JOURNAL}"):
        begun = read_journal(path).get("identity", {})
        different = [name for name in identity if begun.get(name) != identity[name]]
        if different:
            raise DataError(
                f"the preparation of {directory}/ was started with {DIFFERENCES[different[0]]}",
                hint="continue with the same options, or start over without --resume",
            )


def read_journal(path: Path) -> dict[str, Any]:
    """Returns the entries of a journal; empty without one, or if it is damaged."""
    with suppress(OSError, ValueError):
        return dict(json.loads(path.read_text(encoding="utf-8")))
    return {}


def describe_preparation(inputs: Sequence[CorpusFile], config: PrepareOptions) -> JobIdentity:
    """Returns the files and the options that decide how the input is read."""
    files: dict[str, list[Any]] = {}
    for file in inputs:
        states = [os.stat(path) for path in file.files if path != STDIN]
        sizes = [[state.st_size, state.st_mtime_ns] for state in states]
        files[file.name] = [sizes, file.weight, file.training_only, " ".join(map(str, file.tags))]
    return {"version": __version__, "inputs": files, "options": config.to_mapping()}


def refuse_unrepeatable(inputs: Sequence[CorpusFile]) -> None:
    """Raises OptionError for standard input, which an interrupted run has used up."""
    if not all(file.is_file for file in inputs):
        raise OptionError("--resume cannot read standard input again", hint="give the text as a file")
