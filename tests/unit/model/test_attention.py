from collections.abc import Callable

import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.attention import (
    MASKED,
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    NoAttention,
    ScaledDotAttention,
    make_padding_bias,
)
from nmt_cli.model.cells import Dropout
from nmt_cli.model.config import ATTENTIONS
from nmt_cli.model.decoders import SYSTEMS
from nmt_cli.model.encoders import EncoderOutput

rng = np.random.default_rng(7)


BIAS = make_padding_bias(np.array([[True, True, True], [True, True, False]]))
LENGTHS = [3, 2]
QUERY, MEMORY = rng.normal(size=(2, 4)).astype(np.float32), rng.normal(size=(2, 3, 4)).astype(np.float32)


def make_attention(kind: type[Attention], **options: int) -> Attention:
    layer = kind(**{"units": 6, **options})
    layer.build((None, 4), (None, None, 4))
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def attend(layer: Attention, query: np.ndarray, memory: np.ndarray, bias: object) -> tuple[np.ndarray, np.ndarray]:
    final = ((memory[:, -1],),)
    state = layer.init_state(EncoderOutput(memory=memory, final_states=final), bias)
    context, weights = layer.attend(query, state) if query.ndim == 2 else layer(query, state)
    return np.asarray(context), np.asarray(weights)


def softmax(energies: list[float]) -> np.ndarray:
    return np.exp(energies) / np.exp(energies).sum()


def additive_energy(layer: Attention, query: np.ndarray, position: np.ndarray) -> float:
    """Bahdanau et al. (2015), A.1.2."""
    w, k, b, v = (np.asarray(weight.value) for weight in layer.weights)
    return float(v[:, 0] @ np.tanh(query @ w + position @ k + b))


def dot_energy(layer: Attention, query: np.ndarray, position: np.ndarray) -> float:
    return float(query @ position)


def general_energy(layer: Attention, query: np.ndarray, position: np.ndarray) -> float:
    return float(query @ (position @ np.asarray(layer.weights[0].value)) / np.sqrt(len(query)))


def scaled_energy(layer: Attention, query: np.ndarray, position: np.ndarray) -> float:
    w, k = (np.asarray(weight.value) for weight in layer.weights)
    return float((query @ w) @ (position @ k) / np.sqrt(6))


KINDS = [
    (AdditiveAttention, additive_energy),
    (DotAttention, dot_energy),
    (GeneralAttention, general_energy),
    (ScaledDotAttention, scaled_energy),
]


@pytest.mark.parametrize(("kind", "energy"), KINDS)
def test_weights_and_context_are_those_worked_by_hand(kind: type[Attention], energy: Callable[..., float]) -> None:
    layer = make_attention(kind)
    context, weights = attend(layer, QUERY, MEMORY, BIAS)
    for n, length in enumerate(LENGTHS):
        expected = softmax([energy(layer, QUERY[n], MEMORY[n, s]) for s in range(length)])
        np.testing.assert_allclose(weights[n, :length], expected, atol=1e-6)
        np.testing.assert_allclose(context[n], sum(expected[s] * MEMORY[n, s] for s in range(length)), atol=1e-6)


def test_each_head_weighs_its_own_part_of_the_memory() -> None:
    layer = make_attention(ScaledDotAttention, heads=2)
    context, weights = attend(layer, QUERY, MEMORY, BIAS)
    w, k = (np.asarray(weight.value) for weight in layer.weights)
    by_head = []
    for part, of_memory in ((slice(0, 3), slice(0, 2)), (slice(3, 6), slice(2, 4))):
        energies = [(QUERY[0] @ w)[part] @ (MEMORY[0, s] @ k)[part] / np.sqrt(3) for s in range(3)]
        by_head.append(softmax(energies))
        np.testing.assert_allclose(context[0, of_memory], by_head[-1] @ MEMORY[0, :, of_memory], atol=1e-6)
    np.testing.assert_allclose(weights[0], np.mean(by_head, axis=0), atol=1e-6)


def test_without_attention_the_context_is_the_encoders_last_state() -> None:
    context, weights = attend(make_attention(NoAttention), QUERY, MEMORY, BIAS)
    np.testing.assert_array_equal(context, MEMORY[:, -1])
    assert weights.shape == (2, 3) and not weights.any()


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS])
def test_padding_gets_weight_exactly_zero_and_the_rest_sums_to_one(kind: type[Attention]) -> None:
    _, weights = attend(make_attention(kind), 5 * QUERY, 5 * MEMORY, BIAS)
    assert weights[1, 2] == 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("kind", [*(kind for kind, _ in KINDS), NoAttention])
def test_all_steps_at_once_are_asked_as_one_by_one(kind: type[Attention]) -> None:
    layer = make_attention(kind)
    queries = rng.normal(size=(2, 5, 4)).astype(np.float32)  # (N, Q, U)
    contexts, weights = attend(layer, queries, MEMORY, BIAS)
    for step in range(5):
        context, weight = attend(layer, queries[:, step], MEMORY, BIAS)
        np.testing.assert_allclose(contexts[:, step], context, atol=1e-6)
        np.testing.assert_allclose(weights[:, step], weight, atol=1e-6)


def test_the_padding_bias_is_zero_on_tokens_alone() -> None:
    assert np.asarray(make_padding_bias(np.array([[True, True, False]]))).tolist() == [[0.0, 0.0, np.float32(MASKED)]]


def test_every_attention_that_can_be_asked_for_has_a_class() -> None:
    assert list(SYSTEMS) == list(ATTENTIONS)


""""""


ONES = np.ones((301, 501), np.float32)  # an odd number of values: the last word is not used up


def test_as_many_are_dropped_as_asked_and_the_rest_makes_up_for_them() -> None:
    outputs = np.asarray(Dropout(0.3, seed=1)(ONES, training=True))
    dropped = 77 / 256  # the nearest to 0.3
    assert set(np.unique(outputs)) == {np.float32(0), np.float32(1 / (1 - dropped))}
    assert np.mean(outputs == 0) == pytest.approx(dropped, abs=5 * (dropped * (1 - dropped) / ONES.size) ** 0.5)


def test_each_is_dropped_by_itself() -> None:
    """Neither neighbours, of which four come from one word, nor rows know of each other."""
    dropped = np.asarray(Dropout(0.5, seed=1)(ONES, training=True)) == 0
    for shift in (1, 2, 3, 4, 501):
        together = np.mean(dropped.flat[shift:] == dropped.flat[:-shift])
        assert together == pytest.approx(0.5, abs=5 * 0.5 / ONES.size**0.5)


def test_each_call_draws_anew_and_a_seed_repeats_all() -> None:
    layer, twin = Dropout(0.5, seed=3), Dropout(0.5, seed=3)
    first, second = (np.asarray(layer(ONES, training=True)) for _ in range(2))
    assert np.mean(first == second) == pytest.approx(0.5, abs=0.01)
    np.testing.assert_array_equal(np.asarray(twin(ONES, training=True)), first)
    np.testing.assert_array_equal(np.asarray(twin(ONES, training=True)), second)


def test_the_gradient_goes_where_the_value_went() -> None:
    value, layer = tf.constant(ONES), Dropout(0.25, seed=1)
    with tf.GradientTape() as tape:
        tape.watch(value)
        outputs = layer(value, training=True)
    np.testing.assert_array_equal(np.asarray(tape.gradient(outputs, value)), np.asarray(outputs))


def test_shapes_known_only_while_running_and_bfloat16() -> None:
    layer = Dropout(0.25, dtype="bfloat16", seed=1)
    run = tf.function(lambda value: layer(value, training=True), input_signature=[tf.TensorSpec([None, None])])
    outputs = run(ONES)
    assert outputs.dtype == tf.bfloat16
    assert np.mean(np.asarray(outputs, np.float32) == 0) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(("rate", "training"), [(0.5, False), (0.0, True), (0.001, True)])
def test_what_drops_nothing_changes_nothing(rate: float, training: bool) -> None:
    np.testing.assert_array_equal(np.asarray(Dropout(rate)(ONES, training=training)), ONES)
