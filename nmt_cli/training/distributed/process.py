"""Which of several training processes this one is. Standard library only: asked before TensorFlow is waited for."""

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
    chiefs: int = 0  # processes that are called so; where none is, the first worker is the chief
    workers: int = 1

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """From TensorFlow's TF_CONFIG; alone where there is none. Raises OptionError for what it cannot be."""
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
                f"TF_CONFIG is not as TensorFlow wants it: {error}",
                hint='{"cluster": {"worker": ["host0:port", "host1:port"]}, "task": {"type": "worker", "index": 0}}',
            ) from error
        if not sizes:
            return cls()
        if set(sizes) - {CHIEF, WORKER} or role.index >= sizes.get(role.job, 0):
            raise OptionError(
                f"TF_CONFIG names {role.job} {role.index} of {sizes}", hint="there are a chief, if any, and workers"
            )
        return role

    @property
    def processes(self) -> int:
        return self.chiefs + self.workers

    @property
    def is_chief(self) -> bool:
        """Whether it is the one that validates and writes."""
        return self.index == 0 and (self.job == CHIEF or not self.chiefs)

    def __str__(self) -> str:
        return f"{self.job} {self.index} of {self.processes} processes"


ALONE = ProcessRole()
