"""Several processes that translate blocks of text, and their results in order. Knows nothing of documents.

A thread of this process stands for each worker: it hands over a block, waits for the answer, and where the worker
died puts another in its place and gives it the block again.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import WorkerError
from nmt_cli.jobs.job import Block, Job
from nmt_cli.text.stream import End

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

Translations = list["Translation"]
ATTEMPTS = 3  # workers that one block may cost
SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up


class Workers:
    """An executor of `count` processes with `threads` threads each. They live as long as the `with` block."""

    def __init__(self, job: Job, count: int, *, threads: int = 1) -> None:
        self.job = job
        self.threads = threads
        self.count = count
        self.replaced = 0  # workers that died and were replaced
        self.closed = False
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def __enter__(self) -> Workers:
        self.staff = [Worker(self.job, self.threads) for _ in range(self.count)]
        for worker in self.staff:
            self.idle.put(worker)
        self.executor = ThreadPoolExecutor(self.count, thread_name_prefix="worker")
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True
        for worker in self.staff:
            worker.stop()
        self.executor.shutdown(cancel_futures=True)

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[Translations]:
        """See `Executor`. At most two blocks a worker are under way or wait to be taken."""
        under_way: queue.Queue[Future[Translations] | End] = queue.Queue(maxsize=2 * self.count)
        threading.Thread(target=self.feed_workers, args=(blocks, under_way), daemon=True).start()
        while not isinstance(item := under_way.get(), End):
            yield item.result()
        if item.error is not None:
            raise item.error

    def feed_workers(self, blocks: Iterable[Block], under_way: queue.Queue[Future[Translations] | End]) -> None:
        """Runs in a thread of its own, since to wait for a next block must not keep the answers waiting."""
        try:
            for block in blocks:
                under_way.put(self.executor.submit(self.translate, block))
            under_way.put(End())
        except BaseException as error:  # whatever it is, it belongs to who takes the translations
            under_way.put(End(error))

    def translate(self, block: Block) -> Translations:
        """The block by the next idle worker. Raises WorkerError if it costs too many."""
        worker = self.idle.get()
        try:
            for _ in range(ATTEMPTS):
                try:
                    return worker.translate(block)
                except (EOFError, ConnectionError):
                    if self.closed:
                        raise
                    worker = self.replace_worker(worker)
            raise report_lost(block)
        finally:
            self.idle.put(worker)

    def replace_worker(self, dead: Worker) -> Worker:
        """Another worker in the place of one that died."""
        dead.stop()
        worker = Worker(self.job, self.threads)
        self.staff[self.staff.index(dead)] = worker
        self.replaced += 1
        return worker


class Worker:
    """A process and the pipe to it."""

    def __init__(self, job: Job, threads: int) -> None:
        self.connection, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(theirs, job, threads), daemon=True)
        with block_interrupts():
            self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def translate(self, block: Block) -> Translations:
        """Raises EOFError or ConnectionError if the process is no more, and what went wrong in it."""
        self.connection.send(block)
        answer: Translations | Exception = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def serve(connection: Connection, job: Job, threads: int) -> None:
    """The work of a worker: answers each block with its translations or with what went wrong, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the first process's to answer
    answer = serve_blocks(job, threads)
    while True:
        try:
            connection.send(answer(connection.recv()))
        except (EOFError, ConnectionError):
            return


def serve_blocks(job: Job, threads: int) -> Callable[[Block], Any]:
    try:
        translate = job.start(threads=threads)
    except Exception as error:
        problem = error  # told with the first block: until then nobody listens
        return lambda _: problem

    def send_answer(block: Block) -> Translations | Exception:
        try:
            return translate(block)
        except Exception as error:
            return error

    return send_answer


@contextmanager
def block_interrupts() -> Iterator[None]:
    """A process that is started inside inherits it, and so is not stopped by Ctrl-C while it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def report_lost(block: Block) -> WorkerError:
    lines = f"{block.first + 1:,} to {block.first + len(block.texts):,}"
    return WorkerError(
        f"{ATTEMPTS} workers died one after the other while translating texts {lines}",
        hint="if memory is short, give fewer --workers: each needs as much as one `nmt translate`",
    )
