import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.training.step import TrainingLoss, compute_token_loss, compute_training_loss

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
