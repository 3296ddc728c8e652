"""Which processes translate: the settings, and the executor they mean. Light: the command line reads them for help."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nmt_cli.errors import OptionError
from nmt_cli.jobs.job import Executor, InProcess, Job
from nmt_cli.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class ExecutorConfig(Settings):
    """How many processes translate, and where."""

    workers: int = setting(1, "Processes, for large files; each runs on one core.", panel="Processes", low=1, high=1024)
    ray: str | None = setting(
        None,
        "Translate on Ray: auto is a cluster that runs here, else this machine's cores; or a cluster's address.",
        panel="Processes",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ray is not None and self.workers > 1:
            raise OptionError("--workers and --ray are two ways to the same end", hint="give one of them")


@contextmanager
def open_executor(job: Job, config: ExecutorConfig) -> Iterator[Executor]:
    """The executor for a job, as long as the block runs. Raises what loading a model raises, and MissingExtraError."""
    if config.ray is not None:
        from nmt_cli.jobs.ray_executor import RayExecutor  # Ray is an extra, and takes a second to load

        with RayExecutor(job, config.ray) as cluster:
            yield cluster
    elif config.workers > 1:
        from nmt_cli.jobs.workers import Workers  # modules that one process does not need

        with Workers(job, config.workers) as workers:
            yield workers
    else:
        yield InProcess(job.start())
