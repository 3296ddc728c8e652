"""Tells the role of this process among those that train together.

Standard library only: the command line needs the role before it waits for TensorFlow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Self

from nmt_cli.errors import OptionError
from nmt_cli.records import Range, RecordError, build, parse_json

CHIEF, WORKER = "chief", "worker"
EXAMPLE = '{"cluster": {"worker": ["host0:port", "host1:port"]}, "task": {"type": "worker", "index": 0}}'


@dataclass(frozen=True)
class ClusterTask:
    """The position of this process among the others."""

    type: str = WORKER
    index: Annotated[int, Range(0, 10**6)] = 0


@dataclass(frozen=True)
class ClusterConfig:
    """The entries of TF_CONFIG used here."""

    cluster: dict[str, list[str]] = field(default_factory=dict)  # the addresses of each job
    task: ClusterTask = ClusterTask()


@dataclass(frozen=True)
class ProcessRole:
    """A process among those that train one network together."""

    job: str = WORKER
    index: int = 0
    chiefs: int = 0  # processes with this job; if there are none, the first worker is the chief
    workers: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Parses TensorFlow's TF_CONFIG; without it, the process is alone. Raises OptionError if it is invalid."""
        if not text or not text.strip():
            return cls()
        try:
            values = build(dict, parse_json(text))
            known = {name: values[name] for name in ("cluster", "task") if name in values}
            config: ClusterConfig = build(ClusterConfig, known)
        except RecordError as error:
            raise OptionError(f"TF_CONFIG is malformed: {error}", hint=EXAMPLE) from error
        sizes = {job: len(addresses) for job, addresses in config.cluster.items()}
        role = cls(config.task.type, config.task.index, sizes.get(CHIEF, 0), sizes.get(WORKER, 0))
        if not sizes:
            return cls()
        if set(sizes) - {CHIEF, WORKER} or role.index >= sizes.get(role.job, 0):
            raise OptionError(
                f"TF_CONFIG names {role.job} {role.index} of {sizes}",
                hint="its cluster may have one chief and any number of workers, and its task must be one of them",
            )
        return role

    @property
    def processes(self) -> int:
        """Number of processes that train together."""
        return self.chiefs + self.workers

    @property
    def is_chief(self) -> bool:
        """Whether this process validates and writes the model."""
        return self.index == 0 and (self.job == CHIEF or not self.chiefs)

    def __str__(self) -> str:
        return f"{self.job} {self.index} of {self.processes} processes"


SINGLE_PROCESS = ProcessRole()
