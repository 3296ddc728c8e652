"""On what a network is trained: one device, or all GPUs of this machine with a share of every batch each."""

from __future__ import annotations

import os

import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.training.config import TrainConfig


def strategy_for(config: TrainConfig) -> tf.distribute.Strategy:
    """Raises OptionError for several machines, and where there are more devices than sentences in a batch."""
    workers = tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().as_dict().get("worker", [])
    if len(workers) > 1:
        raise OptionError(
            f"TF_CONFIG names {len(workers)} workers; training runs on one machine",
            hint="unset TF_CONFIG; several GPUs of one machine are used with --devices all",
        )
    gpus = tf.config.list_logical_devices("GPU")
    if config.devices == "one" or len(gpus) < 2:
        return tf.distribute.get_strategy()
    if len(gpus) > config.batch:
        raise OptionError(f"--batch is {config.batch}, but it is to be shared among {len(gpus)} devices")
    return tf.distribute.MirroredStrategy([gpu.name for gpu in gpus])


def described(strategy: tf.distribute.Strategy) -> str:
    replicas: int = strategy.num_replicas_in_sync
    if tf.config.list_logical_devices("GPU"):
        return f"{replicas} GPU" + "s" * (replicas > 1)
    return f"CPU, {os.cpu_count()} threads"
