"""Tells the role of this process among those that train together.

Uses the standard library only: the command line needs the role before it waits for TensorFlow.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

from nmt_cli.errors import OptionError

CHIEF, WORKER = "chief", "worker"


@dataclass(frozen=True)
class ProcessRole:
    """A process among those that train one network together."""

    job: str = WORKER
    index: int = 0
    chiefs: int = 0  # processes with this job; if there are none, the first worker is the chief
    workers: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Reads TensorFlow's TF_CONFIG; without it, the process is alone. Raises OptionError if it makes no sense."""
        if not text or not text.strip():
            return cls()
        try:
            values = json.loads(text)
            sizes = {job: len(addresses) for job, addresses in values.get("cluster", {}).items()}
            task = values.get("task", {})
            role = cls(
                str(task.get("type", WORKER)), int(task.get("index", 0)), sizes.get(CHIEF, 0), sizes.get(WORKER, 0)
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise OptionError(
                f"TF_CONFIG is malformed: {error}",
                hint='{"cluster": {"worker": ["host0:port", "host1:port"]}, "task": {"type": "worker", "index": 0}}',
            ) from error
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
