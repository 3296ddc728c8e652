"""Executors that work in several processes of this machine or on a Ray cluster, and answer in order."""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import queue
import signal
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from socket import create_connection, gaierror
from time import monotonic, sleep
from typing import Any, Generic, NamedTuple, cast

from nmt_cli import ENVIRONMENT
from nmt_cli.errors import MissingExtraError, NotFoundError, WorkerError, explain_install
from nmt_cli.files import block_interrupts
from nmt_cli.workers.work import ATTEMPTS, DoneReporter, Work, WorkAnswer, Workers, WorkItem, report_lost, serve_blocks

# Works on blocks in several processes of this machine, with the answers in order.
#
# 1. One thread reads blocks and submits them to a pool with one thread per worker.
# 2. A thread of the pool takes an idle worker, sends it the block and waits for the answer. If the worker dies, the
#    thread replaces it and sends the block again.
# 3. The caller receives the answers in the order of the blocks.


SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang


class WorkerPool(Workers[WorkItem, WorkAnswer]):
    """Works in `count` processes, each on one core, which live as long as the `with` block."""

    def __init__(self, work: Work[WorkItem, WorkAnswer], count: int, report: DoneReporter | None = None) -> None:
        self.work = work
        self.report = report
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
        """Has the next idle worker answer the block. Raises WorkerError if the block kills too many workers."""
        worker = self.idle.get()
        try:
            for _ in range(ATTEMPTS):
                try:
                    return worker.answer_block(block, self.report)
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

    def answer_block(self, block: WorkItem, report: DoneReporter | None) -> WorkAnswer:
        """Has the process answer a block. Raises its exceptions; EOFError or ConnectionError if it has died."""
        self.connection.send(block)
        while isinstance(answer := self.connection.recv(), DoneTexts):
            if report is not None:
                report(*answer)
        if isinstance(answer, Exception):
            raise answer
        return cast(WorkAnswer, answer)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


class DoneTexts(NamedTuple):
    """A worker's message about its block, before the answer."""

    first: int
    done: int


def serve(connection: Connection, work: Work[Any, Any]) -> None:
    """Runs in a worker: answers each block, perhaps with an exception, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    answer = serve_blocks(work, lambda first, done: connection.send(DoneTexts(first, done)))
    while True:
        try:
            connection.send(answer(connection.recv()))
        except (EOFError, ConnectionError):
            return


# Works on blocks with Ray, on this machine's cores or on a cluster. The only module that imports Ray.
#
# Blocks, answers and the work itself, with the content of its files, travel through Ray; so the machines need not share
# files, but nmt-cli must be installed on each. A block may name a part of a file: a machine that sees the file reads it
# there, another gets its content. A block is a task, on one core of any machine. If its process or machine dies, Ray
# runs the task again elsewhere; its answer is received once, in its place.


AUTO = "auto"
PATIENCE = 120.0  # seconds within which the head of a cluster must listen; Ray itself tries for a quarter of an hour
STARTED: dict[str, Callable[[Any], Any]] = {}  # in a process of the cluster: the work that it has started, by its key


class RayCluster(Workers[WorkItem, WorkAnswer]):
    """The cluster at `address`; `auto` means one that runs on this machine, or else a new one on its cores."""

    def __init__(self, work: Work[WorkItem, WorkAnswer], address: str) -> None:
        self.work = work
        self.address = address

    def __enter__(self) -> RayCluster[WorkItem, WorkAnswer]:
        ray = import_ray()
        packed = self.work.pack()
        self.was_connected = ray.is_initialized()  # by the program that uses this as a library
        if not self.was_connected:
            connect_ray(ray, self.address)
        key, task = uuid.uuid4().hex, ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(answer_block)
        self.answer_remotely = partial(task.remote, key, [ray.put(packed)])
        return self

    def __exit__(self, *_: object) -> None:
        del self.answer_remotely
        if not self.was_connected:
            import_ray().shutdown()

    def count_workers(self) -> int:
        return max(1, int(import_ray().cluster_resources().get("CPU", 1)))

    def submit_block(self, block: WorkItem) -> Callable[[], WorkAnswer]:
        return partial(receive_answer, block, self.answer_remotely(block))


def answer_block(key: str, packed: list[Any], block: Any) -> bytes:
    """Runs on the machines of the cluster: answers a block, or returns the exception it raised, in pickled form.

    `packed` refers to the work, which each process starts only once. An exception raised here would reach the user as
    one of Ray's; arrays that are not pickled would take room in Ray's object store as long as they live.
    """
    if key not in STARTED:
        import ray

        STARTED.clear()
        STARTED[key] = serve_blocks(ray.get(packed[0]))
    return pickle.dumps(STARTED[key](block))


def receive_answer(block: Any, reference: Any) -> Any:
    """Waits for an answer and returns it. Raises the errors of the work, and WorkerError if Ray fails."""
    import ray

    try:
        answer = pickle.loads(ray.get(reference))
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError) as error:
        raise report_lost(block) from error
    except ray.exceptions.RayError as error:
        raise WorkerError(
            f"Ray failed: {find_last_line(error)}",
            hint="every machine of the cluster needs nmt-cli and enough free memory",
        ) from error
    if isinstance(answer, Exception):
        raise answer
    return answer


def import_ray() -> Any:
    """Returns the module `ray`, set to print nothing. Raises MissingExtraError if Ray is not installed."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtraError("--ray needs Ray, which is not installed", hint=explain_install("ray")) from error
    logging.getLogger("ray").setLevel(logging.CRITICAL)  # errors are reported once, as ours
    return ray


def connect_ray(ray: Any, address: str) -> None:
    """Connects to the cluster, or starts one without a dashboard; prints nothing. Raises NotFoundError."""
    try:
        await_head(address)
        ray.init(
            None if address == AUTO else address,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": ENVIRONMENT},
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise NotFoundError(
            f"--ray {address}: {' '.join(str(error).split())}",
            hint="start a cluster with `ray start --head`, or use --ray auto",
        ) from error


def await_head(address: str) -> None:
    """Waits until the head of a cluster, which may still be starting, listens. Raises OSError after PATIENCE."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    deadline = monotonic() + PATIENCE
    while port.isdecimal():  # not "auto", nor what Ray refuses
        try:
            create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
            return
        except OSError as error:
            if isinstance(error, gaierror) or monotonic() > deadline:
                raise
        sleep(0.5)


def find_last_line(error: Exception) -> str:
    """Returns the last line of an error's message, where Ray names the cause."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
