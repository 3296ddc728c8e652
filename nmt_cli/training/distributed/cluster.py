"""What processes that train together must agree on, so that none waits for an update that another does not make.

All of them read the same batches, each learns from its share of every batch (`step.Trainer`), and all have the same
weights all the time. The chief alone validates and writes the model, and decides what follows from that.
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
from nmt_cli.training.watcher import Validation

NUMBERS = ("loss", "accuracy", "bleu", "chrf")  # of a validation
UNSEEN = Validation(0.0, 0.0, 0.0, 0.0, "", "", "", "")


class Alone:
    """A process that need ask nobody."""

    def ask_anyone(self, flag: bool) -> bool:
        """Whether any process says so."""
        return flag

    def ask_chief(self, flag: bool) -> bool:
        """Whether the chief says so."""
        return flag

    def share_validation(self, measure: Callable[[], Validation]) -> Validation:
        """What the chief has measured; of the others' only the numbers are known."""
        return measure()

    def check_same(self, facts: Mapping[str, Any]) -> None:
        """Raises DataError in all processes unless all have the same `facts` (what JSON can hold)."""


class Cluster(Alone):
    """One of several processes under a MultiWorkerMirroredStrategy. All must ask the same in the same order."""

    def __init__(self, strategy: tf.distribute.Strategy, *, is_chief: bool) -> None:
        self.strategy = strategy
        self.is_chief = is_chief
        self.totals = tf.function(self.sum_vectors, autograph=False)

    def sum_vectors(self, values: tf.Tensor) -> tf.Tensor:
        """The sum of the vectors that the replicas of all processes have."""
        return self.strategy.reduce(
            tf.distribute.ReduceOp.SUM, self.strategy.run(tf.identity, args=(values,)), axis=None
        )

    def ask_anyone(self, flag: bool) -> bool:
        return bool(self.totals(tf.constant([float(flag)], tf.float64)).numpy()[0])

    def ask_chief(self, flag: bool) -> bool:
        return bool(self.of_chief([float(flag)])[0])

    def of_chief(self, values: Sequence[float]) -> NDArray[np.float64]:
        """The values that the chief has, in all processes."""
        shares = np.array([1.0, *values]) * self.is_chief  # each replica of the chief adds them once, and a 1
        counted, *numbers = self.totals(tf.constant(shares, tf.float64)).numpy()
        return np.asarray(numbers, dtype=np.float64) / float(counted)

    def share_validation(self, measure: Callable[[], Validation]) -> Validation:
        measured = measure() if self.is_chief else UNSEEN
        numbers = self.of_chief([getattr(measured, name) for name in NUMBERS])
        return measured if self.is_chief else replace(measured, **dict(zip(NUMBERS, numbers.tolist(), strict=True)))

    def check_same(self, facts: Mapping[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).digest()
        number = float(int.from_bytes(digest[:6]))
        if self.ask_anyone(float(self.of_chief([number])[0]) != number):
            raise DataError(
                "the processes that are to train together have other data, settings or checkpoints",
                hint="give all of them the same command, corpus and, with --resume, model directory",
            )
