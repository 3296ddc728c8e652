"""Chooses the processes that translate: settings and executor. Light: the command line imports it for help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nmt_cli.jobs.job import Executor, InProcess, Job
from nmt_cli.settings import Settings, setting


class ExecutorConfig(Settings, panel="Processes"):
    """The number of processes that translate, and where they run."""

    workers: int = setting(1, "Number of processes, each on one core; for large files.", low=1, high=1024)
    ray: str | None = setting(
        None,
        "Translate on Ray: the address of a cluster, or auto for one that runs here, else for this machine's cores.",
    )


@contextmanager
def open_executor(job: Job, config: ExecutorConfig) -> Iterator[Executor]:
    """Yields the executor for a job; it stops when the block ends.

    Raises NotFoundError, DamagedError and OptionError if a model cannot be loaded, MissingExtraError without Ray.
    """
    if config.ray is not None:
        from nmt_cli.jobs.ray_executor import RayExecutor  # Ray is an extra, and takes a second to load

        with RayExecutor(job, config.ray) as cluster:
            yield cluster
    elif config.workers > 1:
        from nmt_cli.jobs.workers import WorkerPool  # multiprocessing, which one process does not need

        with WorkerPool(job, config.workers) as workers:
            yield workers
    else:
        yield InProcess(job.start())
