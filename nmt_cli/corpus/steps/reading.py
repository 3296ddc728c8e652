"""All inputs, read and examined into one table of pairs; on several cores where there is enough to do.

Knows nothing of what the checks decide.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats import open_reader
from nmt_cli.corpus.formats.inputs import STDIN, Input, ReadOptions, require_input
from nmt_cli.corpus.formats.reader import Reader
from nmt_cli.corpus.manifest import FileRecord
from nmt_cli.corpus.pairs import Pairs, Role
from nmt_cli.corpus.steps.examine import Chunk, Examined, add, examine
from nmt_cli.errors import WorkerError

Progress = Callable[[str, int, int], None]  # what is done, how much of it, of how much (0: not known)

CHUNK = 20_000  # pairs that are examined at a time
ALONE = 5  # chunks that are examined before it pays to start other processes


class Inputs:
    """The corpus and the given dev and test data: opened before anything is done, so that what is missing is told."""

    def __init__(self, given: dict[Role, list[Input]], config: PrepareConfig) -> None:
        self.inputs = [each for inputs in given.values() for each in inputs]
        self.roles = [role for role, inputs in given.items() for _ in inputs]
        for each in self.inputs:
            require_input(each)
        options = ReadOptions(
            format=config.format,
            encoding=config.encoding,
            source_column=config.source_column,
            target_column=config.target_column,
            source_language=config.source_language,
            target_language=config.target_language,
        )
        self.readers = [open_reader(each, options) for each in self.inputs]

    @property
    def records(self) -> dict[str, FileRecord]:
        """What the manifest says of each file: by name, no folder, so that equal input gives equal output anywhere."""
        records: dict[str, FileRecord] = {}
        for stream in (stream for reader in self.readers for stream in reader.streams):
            own = printable_name(stream.path)
            name, number = own, 1
            while name in records:
                number += 1
                name = f"{own} ({number})"
            records[name] = FileRecord(bytes=stream.bytes_read, sha256=stream.sha256)
        return records

    @property
    def short_names(self) -> list[str]:
        """What messages and reports call each input: the names of its files without folders."""
        return [" + ".join(map(printable_name, each.files)) for each in self.inputs]


def printable_name(path: Path) -> str:
    """A file's name without its folder, as it can be written in UTF-8."""
    return "standard input" if path == STDIN else os.fsencode(path.name).decode(errors="replace")


def read_pairs(inputs: Inputs, config: PrepareConfig, progress: Progress, *, processes: int = 1) -> Pairs:
    """The pairs of all inputs, normalised, mended and measured, in their order. The same for any `processes`."""
    pairs = Pairs(inputs.short_names, inputs.roles, [each.weight for each in inputs.inputs])
    size = sum(reader.size for reader in inputs.readers)
    progress("reading", 0, size)
    for examined in examined_chunks(chunks(inputs.readers, config), processes):
        add(examined, pairs)
        progress("reading", min(sum(reader.bytes_read for reader in inputs.readers), size), size)
    pairs.close()
    return pairs


def chunks(readers: list[Reader], config: PrepareConfig) -> Iterator[Chunk]:
    for number, reader in enumerate(readers):
        rows = iter(reader)
        while chunk := list(islice(rows, CHUNK)):
            yield Chunk(number, chunk, frozenset(config.keep))


def examined_chunks(given: Iterator[Chunk], processes: int) -> Iterator[Examined]:
    """The chunks in their order, examined: the first few here, and if there are more of them, by several processes."""
    yield from map(examine, islice(given, ALONE))
    first = next(given, None)
    if first is None:
        return
    if processes == 1:
        yield examine(first)
        yield from map(examine, given)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of other threads
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=serve_parent)
    try:
        waiting: deque[Future[Examined]] = deque([pool.submit(examine, first)])
        for chunk in given:
            waiting.append(pool.submit(examine, chunk))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise WorkerError(
            "a process that was reading text was ended from outside, perhaps for want of memory",
            hint="free some memory, or let fewer processors read: taskset -c 0 nmt prepare ...",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def serve_parent() -> None:
    """Set up in each process: Ctrl-C is for the one that asked for the work, and none outlives it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
