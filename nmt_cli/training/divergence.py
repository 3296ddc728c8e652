"""When training has gone wrong: the loss is no number any more, or far above what it has been."""

from __future__ import annotations

import math
from dataclasses import dataclass

MEMORY = 0.95  # of the mean of recent losses: about twenty updates
ATTEMPTS = 3  # times that a run is rolled back before it is given up


class Diverged(Exception):
    """Training must go back. Its text says what was seen."""


@dataclass
class LossWatch:
    """A moving mean of the loss of updates, in nats per token, and the least it has been."""

    mean: float | None = None
    least: float | None = None
    last: float = 0.0

    def add(self, loss: float) -> None:
        """Raises Diverged if the loss is no number, or its mean is twice its least and 2 nats above it.

        Batches of long and short sentences differ by less than that, and so do a batch of noise and the mean.
        """
        if not math.isfinite(loss):
            raise Diverged("the loss is no longer a number")
        self.last = loss
        self.mean = loss if self.mean is None else MEMORY * self.mean + (1 - MEMORY) * loss
        self.least = self.mean if self.least is None else min(self.least, self.mean)
        if self.mean > self.least + self.allowance:
            raise Diverged(f"the loss rose from {self.least:.2f} to {self.mean:.2f}")

    @property
    def allowance(self) -> float:
        """How far above its least the mean may be, in nats."""
        return max(self.least or 0.0, 2.0)

    @property
    def is_calm(self) -> bool:
        """Whether the loss is not already on its way to an explosion; what is saved on that way is not worth it."""
        return max(self.mean or 0.0, self.last) <= (self.least or 0.0) + self.allowance / 2
