"""Some updates of a small network on one and on two virtual processors; a process, since those are set up once.

python replicas.py REPLICAS ACCUMULATE CLIP FILE.npz
"""

import sys
from pathlib import Path

import keras
import numpy as np

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.step import Schedule, Trainer


def batch(rows: int, seed: int) -> Batch:
    """`rows` sentences of very different lengths."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, rows)
    ids = random.integers(4, 14, (rows, 10)).astype(np.int32)
    ids[np.arange(10) > lengths[:, None]] = 0
    ids[np.arange(rows), lengths] = 3
    previous = np.concatenate([np.full((rows, 1), 2, np.int32), ids[:, :-1]], axis=1)
    return Batch(source=ids, previous=np.where(ids == 0, 0, previous), target=ids)


def make_network(dropout: float = 0.0) -> Seq2Seq:
    """Returns the smallest network, whose updates are compiled soonest."""
    options = {"embedding": 6, "units": 8, "attention": "none", "bidirectional": False, "dropout": dropout}
    return Seq2Seq(ModelConfig.from_options(**options), Vocabularies(source=14, target=14, joint=True))


def updated(replicas: int) -> dict[str, np.ndarray]:
    """What is told and learned in four clipped updates of two batches each, on so many devices."""
    import tensorflow as tf

    devices = [f"CPU:{number}" for number in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(devices) if replicas > 1 else tf.distribute.get_strategy()
    keras.utils.set_random_seed(1)
    config = TrainOptions(learning_rate=0.01, clip=1e-2, accumulate=2, ema=0.9)
    with strategy.scope():
        network = make_network()
        trainer = Trainer(network, Schedule(config, 10), config)
    told = [trainer.update([batch(5, seed), batch(1, seed + 100)]) for seed in range(4)]
    arrays = {f"{number:03}": variable.numpy() for number, variable in enumerate(trainer.state)}
    return {"told": np.array(told), **arrays}


def main(directory: Path) -> None:
    import tensorflow as tf

    processor = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * 2)
    for replicas in (1, 2):
        np.savez(directory / f"{replicas}.npz", **updated(replicas))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
