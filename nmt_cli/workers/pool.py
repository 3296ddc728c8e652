"""Works on blocks in several processes of this machine, with the answers in order.

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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, Generic

from nmt_cli.signals import block_interrupts
from nmt_cli.workers.work import ATTEMPTS, Work, WorkAnswer, Workers, WorkItem, report_lost, serve_blocks

SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang


class WorkerPool(Workers[WorkItem, WorkAnswer]):
    """Works in `count` processes, each on one core, which live as long as the `with` block."""

    def __init__(self, work: Work[WorkItem, WorkAnswer], count: int) -> None:
        self.work = work
        self.count = count
        self.closed = False
        self.replacing = threading.Lock()  # held while the workers change, so that none starts after the last stopped
        self.workers: list[Worker[WorkItem, WorkAnswer]] = []
        self.idle: queue.SimpleQueue[Worker[WorkItem, WorkAnswer]] = queue.SimpleQueue()

    def __enter__(self) -> WorkerPool[WorkItem, WorkAnswer]:
        try:
            with block_interrupts():
                for _ in range(self.count):
                    self.workers.append(Worker(self.work))
                    self.idle.put(self.workers[-1])
        except BaseException:
            self.stop_workers()
            raise
        self.threads = ThreadPoolExecutor(self.count, thread_name_prefix="worker")
        return self

    def __exit__(self, *_: object) -> None:
        with self.replacing:
            self.closed = True
            self.stop_workers()
        self.threads.shutdown(cancel_futures=True)

    def stop_workers(self) -> None:
        for worker in self.workers:
            worker.stop()

    def count_workers(self) -> int:
        return self.count

    def submit_block(self, block: WorkItem) -> Callable[[], WorkAnswer]:
        return self.threads.submit(self.answer_block, block).result

    def answer_block(self, block: WorkItem) -> WorkAnswer:
        """Has the next idle worker answer the block. Raises WorkerError if it kills too many workers."""
        worker = self.idle.get()
        try:
            for _ in range(ATTEMPTS):
                try:
                    return worker.answer_block(block)
                except (EOFError, ConnectionError):
                    with self.replacing:
                        if self.closed:
                            raise
                        worker = self.replace_worker(worker)
            raise report_lost(block)
        finally:
            self.idle.put(worker)

    def replace_worker(self, dead: Worker[WorkItem, WorkAnswer]) -> Worker[WorkItem, WorkAnswer]:
        """Starts and returns another worker in place of a dead one."""
        dead.stop()
        worker = Worker(self.work)
        self.workers[self.workers.index(dead)] = worker
        self.replacements += 1
        return worker


class Worker(Generic[WorkItem, WorkAnswer]):
    """A process and the pipe to it."""

    def __init__(self, work: Work[WorkItem, WorkAnswer]) -> None:
        self.connection, child_end = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(child_end, work), daemon=True)
        with block_interrupts():
            self.process.start()
        child_end.close()  # so that the pipe ends with the process

    def answer_block(self, block: WorkItem) -> WorkAnswer:
        """Has the process answer a block. Raises its exceptions; EOFError or ConnectionError if it has died."""
        self.connection.send(block)
        answer: WorkAnswer | Exception = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def serve(connection: Connection, work: Work[Any, Any]) -> None:
    """Runs in a worker: answers each block, also with an exception, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    answer = serve_blocks(work)
    while True:
        try:
            connection.send(answer(connection.recv()))
        except (EOFError, ConnectionError):
            return
