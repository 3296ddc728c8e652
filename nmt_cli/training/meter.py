"""The loss of an epoch, its speed, and whether training diverges. Knows no network."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Self

from nmt_cli.errors import TrainingError

# Sums up the loss of an epoch, and measures its speed. Knows no network.


@dataclass
class Meter:
    """The sums of one epoch, possibly started by an earlier process.

    Speed counts only the steps of this process, without the first, in which TensorFlow may compile for seconds.
    """

    nats: float = 0.0
    tokens: float = 0.0
    steps: int = 0
    earlier_seconds: float = 0.0  # that earlier processes spent on the epoch
    started: float = field(default_factory=time.perf_counter)
    timed_steps: int = 0  # of this process, like all fields below
    timed_tokens: float = 0.0
    first_tokens: float = 0.0
    first_done: float = 0.0  # times on the clock
    last_done: float = 0.0

    def add(self, nats: float, tokens: float) -> None:
        """Adds a finished step: its nats and its number of target tokens."""
        self.nats += nats
        self.tokens += tokens
        self.steps += 1
        self.timed_steps += 1
        self.timed_tokens += tokens
        self.last_done = time.perf_counter()
        if self.timed_steps == 1:
            self.first_done, self.first_tokens = self.last_done, tokens

    @property
    def loss(self) -> float:
        """Mean nats per target token."""
        return self.nats / max(self.tokens, 1.0)

    @property
    def seconds(self) -> float:
        """Seconds since the epoch began, without the time between two processes."""
        return self.earlier_seconds + time.perf_counter() - self.started

    @property
    def tokens_per_second(self) -> float:
        """Target tokens per second; 0 if this process only validated the epoch."""
        if not self.timed_steps:
            return 0.0
        if self.timed_steps == 1:
            return self.first_tokens / (self.last_done - self.started)
        return (self.timed_tokens - self.first_tokens) / (self.last_done - self.first_done)

    @property
    def seconds_per_step(self) -> float:
        """Mean seconds per step; 0 as above."""
        if not self.timed_steps:
            return 0.0
        if self.timed_steps == 1:
            return self.last_done - self.started
        return (self.last_done - self.first_done) / (self.timed_steps - 1)

    def to_mapping(self) -> dict[str, Any]:
        """Returns the values with which another process continues the epoch."""
        return {"nats": self.nats, "tokens": self.tokens, "steps": self.steps, "earlier_seconds": self.seconds}

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Self:
        return cls(**values)


# Detects that training diverges: the loss is NaN or infinite, or far above its minimum.


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
