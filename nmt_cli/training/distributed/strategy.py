"""Chooses the devices of a training: one device, all GPUs of this machine, or several processes."""

from __future__ import annotations

import logging
from contextlib import suppress

import tensorflow as tf

from nmt_cli.cores import count_cores
from nmt_cli.errors import OptionError
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.distributed.cluster import ProcessCluster, SingleProcess
from nmt_cli.training.distributed.process import ProcessRole

# The least number of sentences, or of padded tokens, in a part of a batch: smaller products are not worth a core.
ROWS_PER_PART, TOKENS_PER_PART = 32, 512


def make_strategy(config: TrainConfig, role: ProcessRole) -> tf.distribute.Strategy:
    """Returns the strategy of `tf.distribute` for the devices of a training.

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


def check_batch_size(config: TrainConfig, devices: int) -> None:
    """Raises OptionError if a batch has fewer sentences than there are devices."""
    if devices > config.batch:
        raise OptionError(
            f"--batch {config.batch} cannot be shared among {devices} devices",
            hint=f"use --batch {devices} or more, or fewer devices",
        )


def make_cluster(strategy: tf.distribute.Strategy, role: ProcessRole) -> SingleProcess:
    """Returns this process's agreement with the others, if any."""
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


def count_parts(config: TrainConfig, replicas: int) -> int:
    """Returns the number of parts that each of `replicas` makes of its share of a batch, to learn from in parallel.

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
