"""On what a network is trained: one device, all GPUs of this machine, or several processes; each has its share."""

from __future__ import annotations

import os

import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.training.cluster import Alone, Cluster
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.place import Place


def strategy_for(config: TrainConfig, place: Place) -> tf.distribute.Strategy:
    """Must come before TensorFlow does anything else: several processes meet here, where TF_CONFIG names them.

    Raises OptionError where there are more devices than sentences in a batch.
    """
    if place.processes > 1:
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
        raise OptionError(f"--batch is {config.batch}, but it is to be shared among {devices} devices")


def cluster_of(strategy: tf.distribute.Strategy, place: Place) -> Alone:
    return Cluster(strategy, is_chief=place.is_chief) if place.processes > 1 else Alone()


def described(strategy: tf.distribute.Strategy, place: Place) -> str:
    replicas: int = strategy.num_replicas_in_sync
    if place.processes > 1:
        return f"{place.processes} processes, {replicas} devices"
    if tf.config.list_logical_devices("GPU"):
        return f"{replicas} GPU" + "s" * (replicas > 1)
    return f"CPU, {os.cpu_count()} threads"
