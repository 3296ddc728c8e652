"""Agreement between processes that train together, so that none waits for an update that another does not make.

All processes read the same batches, each learns from its share of every batch (`step.Trainer`), and all have the same
weights at all times. Only the chief validates and writes the model, and it decides the consequences.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from nmt_cli.errors import DataError
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.watcher import Validation

NUMBERS = ("loss", "accuracy", "bleu", "chrf")  # of a validation
UNMEASURED = Validation(0.0, 0.0, 0.0, 0.0, "", "", "", "")


class SingleProcess:
    """A process that trains alone."""

    def ask_anyone(self, flag: bool) -> bool:
        """Returns whether the flag is true in any process."""
        return flag

    def ask_chief(self, flag: bool) -> bool:
        """Returns whether the flag is true in the chief."""
        return flag

    def share_number(self, number: float) -> float:
        """Returns the number of the chief."""
        return number

    def share_deadline(self, deadline: Deadline) -> Deadline:
        """Returns the deadline of the chief. All processes read its clock, so that they decide alike."""
        return deadline

    def share_validation(self, measure: Callable[[], Validation]) -> Validation:
        """Returns the validation measured by the chief; the other processes get only its numbers."""
        return measure()

    def require_same_facts(self, facts: Mapping[str, Any]) -> None:
        """Raises DataError in all processes unless all have the same `facts` (JSON)."""


class ProcessCluster(SingleProcess):
    """One of several processes under a MultiWorkerMirroredStrategy; all must call the same methods in one order."""

    def __init__(self, strategy: tf.distribute.Strategy, *, is_chief: bool) -> None:
        self.strategy = strategy
        self.is_chief = is_chief
        self.compiled_sum = tf.function(self.sum_vectors, autograph=False)

    def sum_vectors(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the sum of the vectors over the replicas of all processes."""
        return self.strategy.reduce(
            tf.distribute.ReduceOp.SUM, self.strategy.run(tf.identity, args=(values,)), axis=None
        )

    def ask_anyone(self, flag: bool) -> bool:
        return bool(self.compiled_sum(tf.constant([float(flag)], tf.float64)).numpy()[0])

    def ask_chief(self, flag: bool) -> bool:
        return bool(self.broadcast_from_chief([float(flag)])[0])

    def broadcast_from_chief(self, values: Sequence[float]) -> NDArray[np.float64]:
        """Returns the values of the chief, in all processes."""
        # Every replica of the chief adds the values and a 1, all others add 0; so the 1s count the chief's replicas.
        summands = np.array([1.0, *values]) * self.is_chief
        replicas, *totals = self.compiled_sum(tf.constant(summands, tf.float64)).numpy()
        return np.asarray(totals, dtype=np.float64) / float(replicas)

    def share_number(self, number: float) -> float:
        return float(self.broadcast_from_chief([number])[0])

    def share_deadline(self, deadline: Deadline) -> Deadline:
        seconds, elapsed = self.broadcast_from_chief([deadline.seconds, deadline.elapsed]).tolist()
        shared = Deadline(seconds, clock=lambda: self.share_number(deadline.clock()))
        shared.start(elapsed=elapsed)
        return shared

    def share_validation(self, measure: Callable[[], Validation]) -> Validation:
        measured = measure() if self.is_chief else UNMEASURED
        numbers = self.broadcast_from_chief([getattr(measured, name) for name in NUMBERS])
        return measured if self.is_chief else replace(measured, **dict(zip(NUMBERS, numbers.tolist(), strict=True)))

    def require_same_facts(self, facts: Mapping[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()
        number = float(int.from_bytes(digest[:6]))
        if self.ask_anyone(float(self.broadcast_from_chief([number])[0]) != number):
            raise DataError(
                "the processes that train together have different data, settings or checkpoints",
                hint="give all processes the same command, corpus and, with --resume, model directory",
            )
