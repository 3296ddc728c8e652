"""On what a network is trained: one device, all GPUs of this machine, or several processes; each has its share."""

from __future__ import annotations

from contextlib import suppress

import tensorflow as tf

from nmt_cli.cores import count_cores
from nmt_cli.errors import OptionError
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.distributed.cluster import Alone, Cluster
from nmt_cli.training.distributed.process import ProcessRole

# A part of a batch must have so many sentences, or padded tokens: smaller products do not pay a core's while.
ROWS_OF_PART, TOKENS_OF_PART = 32, 512


def make_strategy(config: TrainConfig, role: ProcessRole) -> tf.distribute.Strategy:
    """Must come before TensorFlow does anything else: several processes meet here, where TF_CONFIG names them.

    Raises OptionError where there are more devices than sentences in a batch.
    """
    give_threads(parts_of_batch(config, role.processes))
    if role.processes > 1:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        check_share(config, strategy.num_replicas_in_sync)
        return strategy
    gpus = tf.config.list_logical_devices("GPU")
    if config.devices == "one" or len(gpus) < 2:
        return tf.distribute.get_strategy()
    check_share(config, len(gpus))
    return tf.distribute.MirroredStrategy([gpu.name for gpu in gpus])


def check_share(config: TrainConfig, devices: int) -> None:
    if devices > config.batch:
        raise OptionError(
            f"--batch is {config.batch}, but it is to be shared among {devices} devices",
            hint=f"give --batch {devices} or more, or fewer devices",
        )


def make_cluster(strategy: tf.distribute.Strategy, role: ProcessRole) -> Alone:
    return Cluster(strategy, is_chief=role.is_chief) if role.processes > 1 else Alone()


def describe_devices(strategy: tf.distribute.Strategy, role: ProcessRole) -> str:
    replicas: int = strategy.num_replicas_in_sync
    if role.processes > 1:
        return f"{role.processes} processes, {replicas} devices"
    if tf.config.list_logical_devices("GPU"):
        return f"{replicas} GPU" + "s" * (replicas > 1)
    count = count_cores()
    return f"CPU, {count} core" + "s" * (count > 1)


def parts_of_batch(config: TrainConfig, replicas: int) -> int:
    """Into how many parts each of `replicas` cuts its share of a batch, to learn from them side by side.

    On a CPU a core each: a network like this makes thousands of small products an update, and to share each of them
    among the cores costs more than it gains (benchmarks/log/0003-training-speed.md).
    """
    if tf.config.list_physical_devices("GPU"):
        return 1
    if config.batch_tokens is None:
        most = config.batch // (ROWS_OF_PART * replicas)
    else:
        most = config.batch_tokens // (TOKENS_OF_PART * replicas)
    return max(1, min(most, count_cores()))


def give_threads(parts: int) -> None:
    """Has TensorFlow run each part in a thread of its own, and share its products among the cores that are left.

    Must come before TensorFlow does anything else; where it has begun already, its threads stay as they are.
    """
    if parts > 1:
        with suppress(RuntimeError):
            tf.config.threading.set_intra_op_parallelism_threads(max(1, count_cores() - parts))
