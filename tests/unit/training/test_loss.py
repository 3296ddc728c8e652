from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.training.loss import token_loss

LOGITS = np.random.default_rng(1).normal(size=(3, 2, 5)).astype(np.float32)  # (T, B, V)
TARGETS = np.array([[4, 1], [3, 3], [3, 0]])  # one padded position


def by_hand(smoothing: float) -> tuple[float, float, int]:
    """Sums over the five real tokens, a loop at a time."""
    objective = nats = 0.0
    correct = 0
    for t, b in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]:
        row = LOGITS[t, b].astype(float)
        log_probabilities = row - np.log(np.exp(row).sum())
        true = TARGETS[t, b]
        wanted = np.full(5, smoothing / 5)
        wanted[true] += 1 - smoothing
        objective -= float(wanted @ log_probabilities)
        nats -= float(log_probabilities[true])
        correct += int(row.argmax() == true)
    return objective, nats, correct


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_is_the_cross_entropy_worked_by_hand(smoothing: float) -> None:
    loss = token_loss(tf.constant(LOGITS), tf.constant(TARGETS), smoothing)
    objective, nats, correct = by_hand(smoothing)
    assert float(loss.objective) == pytest.approx(objective, rel=1e-5)
    assert float(loss.nats) == pytest.approx(nats, rel=1e-5)
    assert (float(loss.correct), float(loss.tokens)) == (correct, 5)


def test_an_even_guess_costs_the_logarithm_of_the_vocabulary() -> None:
    loss = token_loss(tf.zeros((1, 1, 7)), tf.constant([[3]]), 0.1)
    assert float(loss.objective) == pytest.approx(np.log(7))


def test_padding_has_neither_loss_nor_gradient() -> None:
    logits = tf.Variable(LOGITS)
    with tf.GradientTape() as tape:
        objective = token_loss(logits, tf.constant(TARGETS), 0.1).objective
    gradient = np.asarray(tape.gradient(objective, logits))
    assert not gradient[2, 1].any()
    assert gradient[2, 0].any()


def test_the_gradient_is_probability_less_smoothed_target() -> None:
    logits = tf.Variable(LOGITS[:1, :1])
    with tf.GradientTape() as tape:
        objective = token_loss(logits, tf.constant([[4]]), 0.1).objective
    wanted = np.array([0.02, 0.02, 0.02, 0.02, 0.92])
    probability = np.exp(LOGITS[0, 0]) / np.exp(LOGITS[0, 0]).sum()
    np.testing.assert_allclose(np.asarray(tape.gradient(objective, logits))[0, 0], probability - wanted, atol=1e-6)
