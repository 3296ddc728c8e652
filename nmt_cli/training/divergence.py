"""Detects that training diverges: the loss is NaN or infinite, or far above its minimum."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nmt_cli.errors import TrainingError

DECAY = 0.95  # of the moving mean: it remembers about twenty updates
MAX_ROLLBACKS = 3  # before a run is given up


class Diverged(Exception):
    """Training diverged and must be rolled back; the text says how that shows."""


@dataclass
class LossMonitor:
    """The moving mean of the losses of updates, in nats per token, and its minimum."""

    mean: float | None = None
    least: float | None = None
    last: float = 0.0

    def add(self, loss: float) -> None:
        """Adds the loss of an update.

        Raises Diverged if it is NaN or infinite, or if the mean is both twice its minimum and 2 nats above it. Batches
        of long and short sentences differ by less, and so does a batch of noise from the mean.
        """
        if not math.isfinite(loss):
            raise Diverged("the loss is NaN or infinite")
        self.last = loss
        self.mean = loss if self.mean is None else DECAY * self.mean + (1 - DECAY) * loss
        self.least = self.mean if self.least is None else min(self.least, self.mean)
        if self.mean > self.least + self.allowance:
            raise Diverged(f"the loss rose from {self.least:.2f} to {self.mean:.2f}")

    @property
    def allowance(self) -> float:
        """How far the mean may rise above its minimum, in nats."""
        return max(self.least or 0.0, 2.0)

    @property
    def is_calm(self) -> bool:
        """Whether the loss is not already rising towards a divergence, when a checkpoint would be useless."""
        return max(self.mean or 0.0, self.last) <= (self.least or 0.0) + self.allowance / 2


def explain_divergence(problem: Diverged, epoch: int, peak_rate: float) -> TrainingError:
    """Returns the error for a run that still diverges after all rollbacks, with this peak learning rate."""
    return TrainingError(
        f"training diverged again in epoch {epoch}, with a peak learning rate of {peak_rate:g}: {problem}",
        hint=f"start over with --force --learning-rate {peak_rate / 2:g} or less, "
        "a longer --warmup or a smaller --clip",
    )
