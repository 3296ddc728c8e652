"""The devices of a training run, and how processes that train together make the same decisions.

    one processor                       4 cores: a batch of 128 in 4 parts, each learned from in a thread of its own
    --devices all, two GPUs             each learns from half of every batch
    TF_CONFIG names two workers         each reads the same batches, and learns from half of every batch

All processes have the same weights at all times. Only the first process, the chief, validates and writes the model. It
also decides what all do next, so that no process waits for an update that another does not make (`ProcessCluster`).
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from nmt_cli.errors import DataError, OptionError
from nmt_cli.files import count_cores
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import ProcessRole
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
        """Returns the chief's value of `number`."""
        return number

    def share_deadline(self, deadline: Deadline) -> Deadline:
        """Returns the chief's deadline. All processes read its clock, so that they decide alike."""
        return deadline

    def share_validation(self, measure: Callable[[], Validation]) -> Validation:
        """Returns the validation measured by the chief; the other processes get only its numbers."""
        return measure()

    def require_same_facts(self, facts: Mapping[str, Any]) -> None:
        """Raises DataError in all processes unless all have the same `facts` (JSON)."""


class ProcessCluster(SingleProcess):
    """One of several processes under MultiWorkerMirroredStrategy; all must call the same methods in the same order."""

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
        """Returns the chief's `values` in all processes."""
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


# The least number of sentences, or of padded tokens, in a part of a batch: smaller products are not worth a core.
ROWS_PER_PART, TOKENS_PER_PART = 32, 512


def make_strategy(config: TrainOptions, role: ProcessRole) -> tf.distribute.Strategy:
    """Returns the `tf.distribute` strategy for the devices of a training run.

    Must be called before TensorFlow does anything else; the processes named in TF_CONFIG meet here. Raises OptionError
    if there are more devices than sentences in a batch.
    """
    configure_threads(count_parts(config, role.processes))
    if role.processes > 1:
        logging.getLogger("absl").setLevel(logging.ERROR)  # it warns of tensors of earlier stages, which none uses
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        check_batch_size(config, strategy.num_replicas_in_sync)
        return strategy
    gpus = tf.config.list_logical_devices("GPU")
    if config.devices == "one" or len(gpus) < 2:
        return tf.distribute.get_strategy()
    check_batch_size(config, len(gpus))
    return tf.distribute.MirroredStrategy([gpu.name for gpu in gpus])


def check_batch_size(config: TrainOptions, devices: int) -> None:
    """Raises OptionError if a batch has fewer sentences than there are devices."""
    if devices > config.batch:
        raise OptionError(
            f"--batch {config.batch} cannot be shared among {devices} devices",
            hint=f"use --batch {devices} or more, or fewer devices",
        )


def make_cluster(strategy: tf.distribute.Strategy, role: ProcessRole) -> SingleProcess:
    """Returns the object through which this process agrees with the others, if there are any."""
    return ProcessCluster(strategy, is_chief=role.is_chief) if role.processes > 1 else SingleProcess()


def describe_devices(strategy: tf.distribute.Strategy, role: ProcessRole) -> str:
    """Describes the devices, such as "CPU, 2 cores"."""
    replicas: int = strategy.num_replicas_in_sync
    if role.processes > 1:
        return f"{role.processes} processes, {format_count(replicas, 'device')}"
    if tf.config.list_logical_devices("GPU"):
        return f"{replicas} GPU" + "s" * (replicas > 1)
    count = count_cores()
    return f"CPU, {count} core" + "s" * (count > 1)


def count_parts(config: TrainOptions, replicas: int) -> int:
    """Returns how many parts each of `replicas` splits its share of a batch into, to learn from them in parallel.

    On a CPU each part gets a core. A network like this computes thousands of small products per update, and sharing
    each of them among the cores costs more than it gains (benchmarks/log/training-speed.md).
    """
    if tf.config.list_physical_devices("GPU"):
        return 1
    if config.batch_tokens is None:
        parts = config.batch // (ROWS_PER_PART * replicas)
    else:
        parts = config.batch_tokens // (TOKENS_PER_PART * replicas)
    return max(1, min(parts, count_cores()))


def configure_threads(parts: int) -> None:
    """Has TensorFlow run each part in its own thread, sharing single products only among the remaining cores.

    Must be called before TensorFlow does anything else; once it has started, its threads are fixed.
    """
    if parts > 1:
        with suppress(RuntimeError):
            tf.config.threading.set_intra_op_parallelism_threads(max(1, count_cores() - parts))
