"""Tests of precision: however a device computes an update, it is the same update."""

from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training import step as precision
from nmt_cli.training.options import Kernels, TrainOptions
from nmt_cli.training.step import (
    FLOAT32,
    MIXED,
    PROCESSORS,
    Schedule,
    Trainer,
    choose_kernels,
    choose_policy,
    compute_teacher_forced_loss,
    dtype_policy,
    round_up,
)
from support import replicas
from support.models import tiny_config
from support.slow import sample

SOURCE = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
PREVIOUS = np.array([[2, 9, 10, 11], [2, 12, 0, 0]])


KINDS = [
    {},
    {"cell": "lstm", "layers": 2},
    {"attention": "none"},
    {"attention": "dot"},
    {"attention": "general", "input_feeding": True},
    {"attention": "concat"},
    {"attention": "scaled-dot", "heads": 2},
    {"architecture": "transformer"},
    {"architecture": "transformer", "positions": "learned"},
]


def network(policy: str, **options: object) -> Seq2Seq:
    keras.utils.set_random_seed(3)
    with dtype_policy(policy):
        return Seq2Seq(tiny_config(**options), Vocabularies(source=14, target=14, joint=True))


def test_the_policy_holds_within_its_block_alone() -> None:
    with dtype_policy(MIXED):
        assert keras.config.dtype_policy().name == MIXED
    assert keras.config.dtype_policy().name == FLOAT32


@pytest.mark.parametrize(
    ("vendor", "flags", "name"),
    [
        ("GenuineIntel", "fpu amx_bf16 avx512_bf16 sse", MIXED),
        ("GenuineIntel", "amx_tile avx512_bf16", FLOAT32),
        ("AuthenticAMD", "avx512f avx512_bf16", MIXED),
        ("AuthenticAMD", "avx512f avx512_vnni", FLOAT32),
        ("HygonGenuine", "avx512_bf16", FLOAT32),  # nobody has measured it
    ],
)
def test_bfloat16_is_chosen_where_the_processor_is_faster_in_it(
    vendor: str, flags: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\nvendor_id\t: {vendor}\nflags\t\t: {flags}\n")
    monkeypatch.setattr(precision, "PROCESSOR", tmp_path / "cpuinfo")
    assert choose_policy(None) == name
    assert (choose_policy(True), choose_policy(False)) == (MIXED, FLOAT32)


def test_every_row_of_the_table_of_processors_says_what_was_measured() -> None:
    assert all("target tokens per second" in kind.measured for kind in PROCESSORS)


@pytest.mark.parametrize("options", sample(KINDS, 1, 4, 6, 8), ids=str)
def test_attention_stays_a_distribution_in_mixed_precision(options: dict) -> None:
    model = network(MIXED, **options)
    step = model.step(np.array([2, 2]), model.encode(SOURCE))
    total = 0 if options.get("attention") == "none" else 1
    np.testing.assert_allclose(np.asarray(step.attention).sum(axis=1), total, atol=1e-6)
    assert np.asarray(step.attention)[1, 2:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(np.exp(np.asarray(step.log_probabilities)).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("options", sample(KINDS, 1, 4, 6, 8), ids=str)
def test_mixed_precision_keeps_float32_weights_and_nearly_its_gradient(options: dict) -> None:
    def gradients(policy: str) -> np.ndarray:
        model = network(policy, dropout=0.0, **options)
        assert {variable.dtype for variable in model.trainable_variables} == {"float32"}
        with tf.GradientTape() as tape:
            loss = compute_teacher_forced_loss(
                model, SOURCE, PREVIOUS, tf.constant([[9, 10, 11, 3], [12, 3, 0, 0]]), smoothing=0.1
            )
        found = tape.gradient(loss.objective, [variable.value for variable in model.trainable_variables])
        return np.concatenate([np.ravel(tf.convert_to_tensor(gradient)) for gradient in found])

    exact, mixed = gradients(FLOAT32), gradients(MIXED)
    assert mixed.dtype == np.float32
    cosine = exact @ mixed / np.linalg.norm(exact) / np.linalg.norm(mixed)
    # A unit of a ReLU that is nearly 0 may be so in one precision alone, and its gradient with it.
    assert cosine > (0.99 if options.get("architecture") == "transformer" else 0.999)


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
    settings = TrainOptions(learning_rate=0.01, kernels=kernels)
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
