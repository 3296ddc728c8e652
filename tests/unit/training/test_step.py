"""An update: from several batches, devices or kernels as from one; its learning rate, loss and precision."""

import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training import step as module
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.options import Kernels, TrainOptions
from nmt_cli.training.step import (
    FLOAT32,
    MIXED,
    PROCESSORS,
    Handover,
    Schedule,
    Trainer,
    TrainingLoss,
    choose_kernels,
    choose_policy,
    compute_teacher_forced_loss,
    compute_token_loss,
    compute_training_loss,
    dtype_policy,
    make_optimizer,
    round_up,
)
from support import replicas
from support.models import tiny_config
from support.slow import sample


def trained(groups: list[list[Batch]], parts: int = 1, dropout: float = 0.0, **options: object) -> Trainer:
    keras.utils.set_random_seed(1)
    config = TrainOptions(learning_rate=0.01, **options)
    network = replicas.make_network(dropout)
    trainer = Trainer(network, Schedule(config, 10), config, parts)
    for group in groups:
        trainer.update(group)
    return trainer


def rows(batch: Batch, start: int, stop: int) -> Batch:
    return Batch(batch.source[start:stop], batch.previous[start:stop], batch.target[start:stop])


def assert_same_state(one: Trainer, other: Trainer) -> None:
    for found, expected in zip(one.state, other.state, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-4, atol=1e-7)


@cache
def make_whole_updates(clip: float) -> Trainer:
    """The updates of three batches of seven rows, each at once."""
    return trained([[replicas.batch(7, seed)] for seed in range(3)], clip=clip)


@pytest.mark.parametrize("clip", sample([1e-2, 1e3], 0), ids=["clipped", "unclipped"])
def test_accumulated_batches_make_the_update_of_the_big_one(clip: float) -> None:
    big = [replicas.batch(7, seed) for seed in range(3)]
    parts = trained(
        [[rows(batch, 0, 2), rows(batch, 2, 3), rows(batch, 3, 7)] for batch in big], clip=clip, accumulate=3
    )
    assert int(parts.optimizer.iterations.numpy()) == 3
    assert_same_state(parts, make_whole_updates(clip))


def test_uneven_parts_of_a_batch_side_by_side_make_the_update_of_the_whole() -> None:
    groups = [[replicas.batch(7, seed)] for seed in range(3)]
    assert_same_state(trained(groups, parts=2, clip=1e-2), make_whole_updates(1e-2))


@pytest.mark.slow
def test_more_parts_than_rows_of_accumulated_batches_make_the_update_of_the_whole() -> None:
    groups = [[replicas.batch(3, seed), replicas.batch(1, seed + 100)] for seed in range(3)]
    settings = {"clip": 1e-2, "accumulate": 2}
    assert_same_state(trained(groups, parts=4, **settings), trained(groups, **settings))


@pytest.mark.slow
def test_parts_side_by_side_learn_the_same_each_time() -> None:
    """Whichever is done first: they take their dropout in turn, and are added in one order."""
    trainer = trained([], parts=3, dropout=0.3)
    before = [variable.numpy() for variable in trainer.state]
    states = []
    for _ in range(2):
        for variable, value in zip(trainer.state, before, strict=True):
            variable.assign(value)
        for seed in range(3):
            trainer.update([replicas.batch(48, seed)])
        states.append([variable.numpy() for variable in trainer.state])
    for found, expected in zip(*states, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_moving_average_is_the_one_of_its_definition() -> None:
    groups = [[replicas.batch(4, seed)] for seed in range(3)]
    trainer = trained(groups[:1], ema=0.9)
    after = [trainer.variables[0].numpy()]
    for group in groups[1:]:
        trainer.update(group)
        after.append(trainer.variables[0].numpy())
    expected = 0.9 * (0.9 * after[0] + 0.1 * after[1]) + 0.1 * after[2]
    assert len(trainer.averages) == len(trainer.variables)
    np.testing.assert_allclose(trainer.averages[0].numpy(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_two_devices_make_the_update_of_one(tmp_path: Path) -> None:
    subprocess.run([sys.executable, replicas.__file__, str(tmp_path)], check=True, capture_output=True)
    one, two = (dict(np.load(tmp_path / f"{count}.npz")) for count in (1, 2))
    assert len(one) == len(two) > 10
    for name, expected in one.items():
        np.testing.assert_allclose(two[name], expected, rtol=2e-4, atol=1e-7, err_msg=name)


RANDOM = np.random.default_rng(1)
READ = RANDOM.normal(size=(3, 2, 4)).astype(np.float32)  # (T, B, R)
WEIGHTS = RANDOM.normal(size=(5, 4)).astype(np.float32)  # (V, R)
BIAS = RANDOM.normal(size=5).astype(np.float32)
TARGETS = np.array([[4, 1], [3, 3], [3, 0]])  # one padded position


def by_hand(smoothing: float) -> tuple[float, float, int]:
    """Sums over the five real tokens, a loop at a time."""
    objective = nats = 0.0
    correct = 0
    for t, b in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]:
        row = WEIGHTS.astype(float) @ READ[t, b] + BIAS
        log_probabilities = row - np.log(np.exp(row).sum())
        true = TARGETS[t, b]
        wanted = np.full(5, smoothing / 5)
        wanted[true] += 1 - smoothing
        objective -= float(wanted @ log_probabilities)
        nats -= float(log_probabilities[true])
        correct += int(row.argmax() == true)
    return objective, nats, correct


def loss(smoothing: float, *tensors: tf.Tensor) -> TrainingLoss:
    return compute_training_loss(*tensors, tf.constant(TARGETS), smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_losses_are_the_cross_entropies_worked_by_hand(smoothing: float) -> None:
    trained = loss(smoothing, *map(tf.constant, (READ, WEIGHTS, BIAS)))
    measured = compute_token_loss(tf.constant(READ @ WEIGHTS.T + BIAS), tf.constant(TARGETS))
    objective, nats, correct = by_hand(smoothing)
    assert float(trained.objective) == pytest.approx(objective, rel=1e-5)
    assert float(trained.nats) == pytest.approx(nats, rel=1e-5)
    assert float(measured.nats) == pytest.approx(nats, rel=1e-5)
    assert (float(measured.correct), float(measured.tokens)) == (correct, 5)


def test_an_even_guess_costs_the_logarithm_of_the_vocabulary() -> None:
    nothing = compute_training_loss(tf.zeros((1, 1, 2)), tf.zeros((7, 2)), tf.zeros(7), tf.constant([[3]]), 0.1)
    assert float(nothing.objective) == pytest.approx(np.log(7))


def test_what_is_all_but_impossible_has_a_finite_loss() -> None:
    far = compute_training_loss(tf.ones((1, 1, 1)), tf.constant([[0.0], [500.0]]), tf.zeros(2), tf.constant([[0]]), 0.1)
    assert np.isfinite(float(far.objective))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_gradient_is_that_of_the_plain_formula(smoothing: float) -> None:
    variables = [tf.Variable(array) for array in (READ, WEIGHTS, BIAS)]
    with tf.GradientTape(persistent=True) as tape:
        written_out = 3.0 * loss(smoothing, *variables).objective
        read, weights, bias = variables
        log_probabilities = tf.nn.log_softmax(tf.einsum("tbr,vr->tbv", read, weights) + bias)
        wanted = (1 - smoothing) * tf.one_hot(TARGETS, 5) + smoothing / 5
        real = tf.cast(TARGETS != 0, tf.float32)
        plain = -3.0 * tf.reduce_sum(tf.reduce_sum(wanted * log_probabilities, -1) * real)
    for found, expected in zip(tape.gradient(written_out, variables), tape.gradient(plain, variables), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_padding_has_neither_loss_nor_gradient() -> None:
    read = tf.Variable(READ)
    with tf.GradientTape() as tape:
        objective = loss(0.1, read, tf.constant(WEIGHTS), tf.constant(BIAS)).objective
    gradient = np.asarray(tape.gradient(objective, read))
    assert not gradient[2, 1].any()
    assert gradient[2, 0].any()


def test_bfloat16_gives_the_gradient_within_its_precision() -> None:
    exact, rough = ([tf.Variable(tf.cast(READ, dtype)), tf.Variable(WEIGHTS)] for dtype in (tf.float32, tf.bfloat16))
    gradients = []
    for read, weights in (exact, rough):
        with tf.GradientTape() as tape:
            objective = loss(0.1, read, weights, tf.constant(BIAS)).objective
        gradients.append(tape.gradient(objective, [read, weights]))
    assert gradients[1][0].dtype == tf.bfloat16
    assert gradients[1][1].dtype == tf.float32
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_allclose(np.asarray(tf.cast(other, tf.float32)), one, atol=0.03)


def rate(config: TrainOptions, steps: int, step: int, handover: Handover | None = None) -> float:
    return float(Schedule(config, steps, handover)(step))


def test_the_rate_rises_to_its_peak_and_falls_to_zero_over_the_run() -> None:
    config = TrainOptions(learning_rate=1e-3, warmup=0.1)
    assert rate(config, 100, 0) == 0
    assert rate(config, 100, 5) == pytest.approx(5e-4)
    assert rate(config, 100, 10) == pytest.approx(1e-3)
    assert rate(config, 100, 55) == pytest.approx(5e-4)  # half of the cosine
    assert rate(config, 100, 100) == pytest.approx(0, abs=1e-9)


def test_without_warm_up_the_first_step_has_the_peak_rate() -> None:
    assert rate(TrainOptions(learning_rate=1e-3, warmup=0.0), 100, 0) == pytest.approx(1e-3)


def test_a_run_of_one_step_learns_something() -> None:
    assert rate(TrainOptions(warmup=0.5), 1, 0) > 0


def test_a_longer_schedule_is_reached_from_the_rate_of_the_shorter_one() -> None:
    config, handover = TrainOptions(learning_rate=1e-3, warmup=0.1), Handover(step=100, rate=1e-5)
    assert rate(config, 200, 100, handover) == pytest.approx(1e-5)
    assert rate(config, 200, 105, handover) == pytest.approx((1e-5 + rate(config, 200, 105)) / 2)
    assert rate(config, 200, 110, handover) == pytest.approx(rate(config, 200, 110))
    assert rate(config, 200, 200, handover) == pytest.approx(0, abs=1e-9)


def test_the_factor_scales_the_whole_schedule() -> None:
    schedule = Schedule(TrainOptions(learning_rate=1e-3), 100)
    schedule.factor.assign(0.25)
    assert float(schedule(10)) == pytest.approx(2.5e-4)
    assert float(schedule.compute_rate(10)) == pytest.approx(1e-3)


def test_the_default_peak_suits_the_architecture_and_fine_tuning() -> None:
    assert TrainOptions().fit_to("transformer").learning_rate == 2e-3
    assert TrainOptions().fit_to("rnn").learning_rate == TrainOptions().peak_rate == 5e-3
    assert TrainOptions(init_from="model").fit_to("rnn").learning_rate == 5e-4
    given = TrainOptions(learning_rate=0.0, init_from="model")
    assert given.fit_to("rnn") == given and given.peak_rate == 0.0


@pytest.mark.parametrize("clip", [0.5, 1e6])
def test_an_update_is_that_of_adam_as_keras_has_it(clip: float) -> None:
    config = TrainOptions(learning_rate=1e-2, warmup=0.5, clip=clip)
    ours, theirs = ([keras.Variable([[1.0, -2.0], [3.0, 0.5]]), keras.Variable([0.3])] for _ in range(2))
    adam = keras.optimizers.Adam(Schedule(config, 10), beta_2=0.98, epsilon=1e-8, global_clipnorm=clip)
    for optimizer_, variables in ((make_optimizer(config, Schedule(config, 10)), ours), (adam, theirs)):
        for step in range(1, 8):
            gradients = [tf.constant([[0.1, -2.0], [0.0, 1e-3]]) * step, tf.constant([1.0]) / step]
            optimizer_.apply(gradients, variables)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)
    assert ours[0].numpy()[0, 1] > -2.0  # it has moved


# Tests of precision: however a device computes an update, it is the same update.

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
    monkeypatch.setattr(module, "PROCESSOR", tmp_path / "cpuinfo")
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
