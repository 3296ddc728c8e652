"""Sums of one epoch of training, and its speed. Knows of no network."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass
class Meter:
    """Sums of one epoch, which may have been begun by a process that was killed.

    Speed is told of this process alone, and without its first step, in which TensorFlow may compile for seconds.
    """

    nats: float = 0.0
    tokens: float = 0.0
    steps: int = 0
    earlier_seconds: float = 0.0  # what a process before this one spent on the epoch
    started: float = field(default_factory=time.perf_counter)
    timed_steps: int = 0  # of this process, like all that follow
    timed_tokens: float = 0.0
    first_tokens: float = 0.0
    first_done: float = 0.0  # moments
    last_done: float = 0.0

    def add(self, nats: float, tokens: float) -> None:
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
        """Nats per target token."""
        return self.nats / max(self.tokens, 1.0)

    @property
    def seconds(self) -> float:
        """Since the epoch began, without the time between two processes."""
        return self.earlier_seconds + time.perf_counter() - self.started

    # The two that follow are 0 where a process only ended what one before it did.

    @property
    def tokens_per_second(self) -> float:
        if not self.timed_steps:
            return 0.0
        if self.timed_steps == 1:
            return self.first_tokens / (self.last_done - self.started)
        return (self.timed_tokens - self.first_tokens) / (self.last_done - self.first_done)

    @property
    def seconds_per_step(self) -> float:
        if not self.timed_steps:
            return 0.0
        if self.timed_steps == 1:
            return self.last_done - self.started
        return (self.last_done - self.first_done) / (self.timed_steps - 1)

    def to_mapping(self) -> dict[str, Any]:
        """What another process needs to go on."""
        return {"nats": self.nats, "tokens": self.tokens, "steps": self.steps, "earlier_seconds": self.seconds}

    @classmethod
    def from_mapping(cls, values: dict[str, Any]) -> Self:
        return cls(**values)
