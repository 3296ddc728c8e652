"""Translates blocks of text in several processes, with the results in order. Must not know documents.

1. One thread reads blocks and submits them to a pool with one thread per worker.
2. A thread of the pool takes an idle worker, sends it the block and waits for the answer. If the worker dies, the
   thread replaces it and sends the block again.
3. The caller receives the answers in the order of the blocks.
"""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import WorkerError
from nmt_cli.jobs.job import Block, Job
from nmt_cli.signals import block_interrupts
from nmt_cli.text.stream import StreamEnd

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation

Translations = list["Translation"]
ATTEMPTS = 3  # number of workers that one block may kill
SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang


class WorkerPool:
    """Translates in `count` processes, each on one core, which live as long as the `with` block.

    Implements `jobs.job.Executor`.
    """

    def __init__(self, job: Job, count: int) -> None:
        self.job = job
        self.count = count
        self.replacements = 0  # number of workers that died and were replaced
        self.closed = False
        self.replacing = threading.Lock()  # held while the workers change, so that none starts after the last stopped
        self.workers: list[Worker] = []
        self.idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()

    def __enter__(self) -> WorkerPool:
        try:
            with block_interrupts():
                self.workers.extend(Worker(self.job) for _ in range(self.count))
        except BaseException:
            self.stop_workers()
            raise
        for worker in self.workers:
            self.idle.put(worker)
        self.executor = ThreadPoolExecutor(self.count, thread_name_prefix="worker")
        return self

    def __exit__(self, *_: object) -> None:
        with self.replacing:
            self.closed = True
            self.stop_workers()
        self.executor.shutdown(cancel_futures=True)

    def stop_workers(self) -> None:
        for worker in self.workers:
            worker.stop()

    def translate_blocks(self, blocks: Iterable[Block]) -> Iterator[Translations]:
        """Translates as `Executor` does; at most two blocks per worker are in progress or wait to be yielded."""
        pending: queue.Queue[Future[Translations] | StreamEnd] = queue.Queue(maxsize=2 * self.count)
        threading.Thread(target=self.feed_workers, args=(blocks, pending), daemon=True).start()
        while not isinstance(item := pending.get(), StreamEnd):
            yield item.result()
        if item.error is not None:
            raise item.error

    def feed_workers(self, blocks: Iterable[Block], pending: queue.Queue[Future[Translations] | StreamEnd]) -> None:
        """Submits the blocks, in a thread of its own: waiting for the next block must not delay the answers."""
        try:
            for block in blocks:
                pending.put(self.executor.submit(self.translate, block))
            pending.put(StreamEnd())
        except BaseException as error:  # raised again where the translations are read
            pending.put(StreamEnd(error))

    def translate(self, block: Block) -> Translations:
        """Has the next idle worker translate the block. Raises WorkerError if it kills too many workers."""
        worker = self.idle.get()
        try:
            for _ in range(ATTEMPTS):
                try:
                    return worker.translate(block)
                except (EOFError, ConnectionError):
                    with self.replacing:
                        if self.closed:
                            raise
                        worker = self.replace_worker(worker)
            raise report_lost(block)
        finally:
            self.idle.put(worker)

    def replace_worker(self, dead: Worker) -> Worker:
        """Starts and returns another worker in place of a dead one."""
        dead.stop()
        worker = Worker(self.job)
        self.workers[self.workers.index(dead)] = worker
        self.replacements += 1
        return worker


class Worker:
    """A process and the pipe to it."""

    def __init__(self, job: Job) -> None:
        self.connection, child_end = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(child_end, job), daemon=True)
        with block_interrupts():
            self.process.start()
        child_end.close()  # so that the pipe ends with the process

    def translate(self, block: Block) -> Translations:
        """Has the process translate a block. Raises its exceptions; EOFError or ConnectionError if it has died."""
        self.connection.send(block)
        answer: Translations | Exception = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def serve(connection: Connection, job: Job) -> None:
    """Runs in a worker: answers each block with its translations, or with an exception, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    answer = serve_blocks(job)
    while True:
        try:
            connection.send(answer(connection.recv()))
        except (EOFError, ConnectionError):
            return


def serve_blocks(job: Job) -> Callable[[Block], Any]:
    """Starts the job on one core; returns a function that answers a block by its translations or by an exception."""
    try:
        translate = job.start(threads=1)
    except Exception as error:
        problem = error  # the answer to the first block: until then nobody listens
        return lambda _: problem

    def send_answer(block: Block) -> Translations | Exception:
        try:
            return translate(block)
        except Exception as error:
            return error

    return send_answer


def report_lost(block: Block) -> WorkerError:
    """Returns the error for a block that killed every worker."""
    texts = f"{block.first + 1:,} to {block.first + len(block.texts):,}"
    return WorkerError(
        f"{ATTEMPTS} workers died in turn while translating texts {texts}",
        hint="if memory is short, use fewer --workers: each needs as much as one `nmt translate`",
    )
