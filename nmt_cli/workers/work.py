"""Work on a stream of blocks, and executors for it, always with the same result. Light; work can be pickled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from queue import Queue
from threading import Thread
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from nmt_cli.errors import WorkerError
from nmt_cli.text.streams import MissingPartError, StreamEnd

WorkItem = TypeVar("WorkItem")
WorkAnswer = TypeVar("WorkAnswer")
ItemTaken = TypeVar("ItemTaken", contravariant=True)
AnswerGiven = TypeVar("AnswerGiven", covariant=True)

DoneReporter = Callable[[int, int], None]  # receives the first text of a block, and how many of its texts are done

ATTEMPTS = 3  # number of workers that one block may kill
AHEAD = 2  # blocks for each worker that are in progress, wait for it, or wait to be yielded


class Work(Protocol[ItemTaken, AnswerGiven]):
    """Everything that a process must know to answer blocks; can be pickled. `str(block)` names a block in messages."""

    def start(
        self, *, threads: int | None = None, report: DoneReporter | None = None
    ) -> Callable[[ItemTaken], AnswerGiven]:
        """Returns the function that answers a block, with this number of threads (None: one for each core)."""

    def pack(self) -> Work[ItemTaken, AnswerGiven]:
        """Returns the same work with the content of the files that it names, for machines that lack these files."""

    def hold(self) -> Work[ItemTaken, AnswerGiven]:
        """Returns the same work with copies of the files that it names, which do not change.

        All processes of this machine share the copies, including those that are started later. The copies last as long
        as this process.
        """


class Executor(Protocol[ItemTaken, AnswerGiven]):
    """Processes blocks: in this process, in several or on a cluster, always with the same result."""

    @property
    def replacements(self) -> int:
        """The number of processes that died and were replaced."""

    def map_blocks(self, blocks: Iterable[ItemTaken]) -> Iterator[AnswerGiven]:
        """Yields the answer to each block, in the order of the blocks, without waiting for a later block.

        An exception that `blocks` raises is raised here, after the answers to the blocks before it.
        """


class InProcess(NamedTuple):
    """Works in this process."""

    answer: Callable[[Any], Any]
    replacements: int = 0

    def map_blocks(self, blocks: Iterable[Any]) -> Iterator[Any]:
        return map(self.answer, blocks)


class Workers(ABC, Generic[WorkItem, WorkAnswer]):
    """Processes that work as long as the `with` block. Implements `Executor`."""

    replacements = 0  # processes that died and were replaced

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def submit_block(self, block: WorkItem) -> Callable[[], WorkAnswer]:
        """Submits a block; returns the function that waits for its answer, and raises the errors of the work."""

    @abstractmethod
    def count_workers(self) -> int:
        """Returns how many blocks can currently be worked on at once."""

    def map_blocks(self, blocks: Iterable[WorkItem]) -> Iterator[WorkAnswer]:
        """Yields the answers as `Executor` does; reads at most AHEAD blocks ahead for each worker."""
        pending: Queue[Callable[[], WorkAnswer] | StreamEnd] = Queue()
        Thread(target=self.feed, args=(blocks, pending), daemon=True).start()
        while not isinstance(receive := pending.get(), StreamEnd):
            yield receive()
        if receive.error is not None:
            raise receive.error

    def feed(self, blocks: Iterable[WorkItem], pending: Queue[Callable[[], WorkAnswer] | StreamEnd]) -> None:
        """Submits the blocks, in a thread of its own: waiting for the next block must not delay the answers."""
        try:
            for block in blocks:
                pending.maxsize = AHEAD * self.count_workers()  # of a cluster that may grow
                pending.put(partial(self.wait, block, self.submit_block(block)))
            pending.put(StreamEnd())
        except BaseException as error:  # raised again where the answers are read
            pending.put(StreamEnd(error))

    def wait(self, block: Any, receive: Callable[[], WorkAnswer]) -> WorkAnswer:
        """Waits for an answer; if the worker does not see the block's file, sends the block again with its content."""
        try:
            return receive()
        except MissingPartError:
            return self.submit_block(block.pack())()


def serve_blocks(
    work: Work[WorkItem, WorkAnswer], report: DoneReporter | None = None
) -> Callable[[WorkItem], WorkAnswer | Exception]:
    """Starts the work on one core; returns a function that answers a block, or returns the exception it raised."""
    try:
        answer = work.start(threads=1, report=report)
    except Exception as error:
        problem = error  # the answer to the first block: until then nobody listens
        return lambda _: problem

    def catch_error(block: WorkItem) -> WorkAnswer | Exception:
        try:
            return answer(block)
        except Exception as error:
            return error

    return catch_error


def report_lost(block: Any) -> WorkerError:
    """Returns the error for a block that killed every worker."""
    return WorkerError(
        f"{ATTEMPTS} workers in a row died at {block}",
        hint="each worker needs as much memory as one process; use fewer --workers, or fewer cores (taskset)",
    )
