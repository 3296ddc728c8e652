"""However a device computes an update, it is the same update."""

from __future__ import annotations

from dataclasses import replace

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.config import ModelConfig
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.training.config import Kernels, TrainConfig
from nmt_cli.training.kernels import choose_kernels, round_up
from nmt_cli.training.schedule import Schedule
from nmt_cli.training.step import Trainer
from support import replicas
from support.slow import sample

PLAIN = ModelConfig.from_options(embedding=6, units=8, attention_units=4, heads=2, dropout=0.0)
TRANSFORMER = ModelConfig.from_options(
    architecture="transformer", embedding=8, heads=2, feed_forward=12, layers=1, dropout=0.0
)
OTHERS = {
    "LSTM": replace(PLAIN, cell="lstm", layers=2),
    "no attention": replace(PLAIN, attention="none", heads=1),
    "additive": replace(PLAIN, attention="additive", heads=1),
    "input feeding": replace(PLAIN, input_feeding=True),
}


def make_network(config: ModelConfig) -> Seq2Seq:
    keras.utils.set_random_seed(7)
    network = Seq2Seq(config, Vocabularies(source=14, target=14, joint=True))
    generator = np.random.default_rng(7)
    for weight in network.trainable_variables:  # biases too are to differ from 0
        weight.assign(generator.normal(scale=0.5, size=weight.shape))
    return network


def compute_update(config: ModelConfig, kernels: Kernels) -> dict[str, np.ndarray]:
    """The loss and the gradients of a batch whose rows have very different lengths."""
    settings = TrainConfig(learning_rate=0.01, kernels=kernels)
    trainer = Trainer(make_network(config), Schedule(settings, 10), settings)
    batch = replicas.batch(5, 1)
    ids = [trainer.fit(array) for array in (batch.source, batch.previous, batch.target)]
    compiled = trainer.compile(trainer.compute_gradients)
    gradients, nats = compiled(*ids, float(np.count_nonzero(batch.target)))
    return {"nats": nats.numpy(), **{v.path: g.numpy() for v, g in zip(trainer.variables, gradients, strict=True)}}


@pytest.mark.parametrize(
    "case",
    sample(
        [(PLAIN, "cudnn"), (TRANSFORMER, "xla"), (PLAIN, "xla")]
        + [(config, "cudnn") for config in OTHERS.values()]
        + [(OTHERS[name], "xla") for name in ("LSTM", "additive")],
        *(0, 1),
    ),
)
def test_loss_and_gradients_do_not_depend_on_the_kernels(case: tuple[ModelConfig, Kernels]) -> None:
    config, kernels = case
    expected, found = compute_update(config, "written"), compute_update(config, kernels)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        # Sums of some hundred float32 products in another order: 2^-24 for each, and gradients near 0 are differences.
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
        assert np.abs(value).max() > 1e-6  # nothing is compared that is zero anyway


@pytest.mark.parametrize(
    ("config", "gpus", "replicas", "kernels"),
    [
        (PLAIN, 0, 1, "written"),
        (PLAIN, 1, 1, "cudnn"),
        (PLAIN, 2, 2, "written"),
        (OTHERS["additive"], 1, 1, "cudnn"),
        (TRANSFORMER, 1, 1, "xla"),
        (TRANSFORMER, 0, 1, "written"),
    ],
)
def test_the_device_decides(
    config: ModelConfig, gpus: int, replicas: int, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["gpu"] * gpus if kind == "GPU" else ["cpu"])
    network = make_network(config)
    assert choose_kernels("auto", network, replicas) == kernels
    assert choose_kernels("xla", network, replicas) == "xla"


def test_few_shapes_are_compiled() -> None:
    ids = np.ones((33, 9), np.int32)
    assert round_up(ids).shape == (64, 16)
    assert round_up(ids).sum() == ids.sum()
    features = round_up(np.ones((3, 5, 2), np.float32))
    assert features.shape == (32, 8, 2)
    assert np.isnan(features[3:]).all() and np.isnan(features[:, 5:]).all()
    assert np.nansum(features) == 3 * 5 * 2
