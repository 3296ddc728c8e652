"""An update from several batches, and on several devices, against the update from one batch on one device."""

import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.training.data.batches import Batch
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.step import Schedule, Trainer, TrainingLoss, compute_token_loss, compute_training_loss
from support import replicas
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


@pytest.mark.parametrize("clip", sample([1e-2, 1e3], 0), ids=["clipped", "unclipped"])
def test_accumulated_batches_make_the_update_of_the_big_one(clip: float) -> None:
    big = [replicas.batch(7, seed) for seed in range(3)]
    whole = trained([[batch] for batch in big], clip=clip)
    parts = trained(
        [[rows(batch, 0, 2), rows(batch, 2, 3), rows(batch, 3, 7)] for batch in big], clip=clip, accumulate=3
    )
    assert int(parts.optimizer.iterations.numpy()) == 3
    assert_same_state(parts, whole)


@pytest.mark.parametrize("division", sample([(2, 1), (4, 2)], 0), ids=["uneven", "more than rows of any"])
def test_parts_of_a_batch_side_by_side_make_the_update_of_the_whole(division: tuple[int, int]) -> None:
    parts, accumulate = division
    groups = [[replicas.batch(3, seed), replicas.batch(1, seed + 100)][:accumulate] for seed in range(3)]
    settings = {"clip": 1e-2, "accumulate": accumulate}
    assert_same_state(trained(groups, parts, **settings), trained(groups, **settings))


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
