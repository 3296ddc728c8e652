"""Chooses the processes that do the work: their settings and executor. Kept light, since `--help` imports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice

from nmt_cli.settings import Settings, setting
from nmt_cli.workers.work import DoneReporter, Executor, InProcess, Work, WorkAnswer, WorkItem

ALONE = 5  # blocks that this process works on by itself: only for more it pays to start others


class RayOptions(Settings, panel="Processes"):
    """The Ray cluster on which processes run, if any."""

    ray: str | None = setting(
        None, "Run on the Ray cluster at this address; auto: a cluster that runs on this machine, or else its cores."
    )


class ExecutorOptions(RayOptions, panel="Processes"):
    """The number of processes that translate, and where they run."""

    workers: int = setting(1, "Number of processes, each on one core; for large files.", low=1, high=1024)


@contextmanager
def open_executor(
    work: Work[WorkItem, WorkAnswer], config: ExecutorOptions, report: DoneReporter | None = None
) -> Iterator[Executor[WorkItem, WorkAnswer]]:
    """Yields the executor of the work; all processes stop when the block ends. A cluster does not `report`.

    Raises MissingExtraError without Ray, NotFoundError for a cluster that cannot be found, and the errors that the work
    raises when it starts.
    """
    if config.ray is not None:
        from nmt_cli.workers.pool import RayCluster  # Ray is an extra, and takes a second to load

        with RayCluster(work, config.ray) as cluster:
            yield cluster
    elif config.workers > 1:
        from nmt_cli.workers.pool import WorkerPool  # multiprocessing, which one process does not need

        with WorkerPool(work.hold(), config.workers, report) as workers:
            yield workers
    else:
        yield InProcess(work.start(report=report))


def share_blocks(
    work: Work[WorkItem, WorkAnswer], blocks: Iterable[WorkItem], config: ExecutorOptions
) -> Iterator[WorkAnswer]:
    """Yields the answer to each block, in order; this process answers the first few, and all processes the rest."""
    remaining = iter(blocks)
    yield from map(work.start(), islice(remaining, ALONE))
    for first in remaining:  # if there is one: the executor takes all others
        with open_executor(work, config) as executor:
            yield from executor.map_blocks(chain([first], remaining))
