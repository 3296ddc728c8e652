"""Sums up the loss of an epoch, and measures its speed. Knows no network."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Self


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
