from __future__ import annotations

import keras
import numpy as np
import pytest

from nmt_cli.model.attention import MASKED, AdditiveAttention, padding_bias

rng = np.random.default_rng(7)


@pytest.fixture
def attention() -> AdditiveAttention:
    layer = AdditiveAttention(units=5)
    layer.build((None, 4), (None, None, 6))
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    return layer


def by_hand(layer: AdditiveAttention, query: np.ndarray, memory: np.ndarray, lengths: list[int]) -> tuple:
    """Bahdanau et al. (2015), A.1.2, a loop for every sum."""
    w, k, b, v = (np.asarray(weight) for weight in layer.weights)
    weights = np.zeros(memory.shape[:2])
    context = np.zeros((len(memory), memory.shape[2]))
    for n, length in enumerate(lengths):
        energies = [float(v[:, 0] @ np.tanh(query[n] @ w + memory[n, s] @ k + b)) for s in range(length)]
        weights[n, :length] = np.exp(energies) / np.exp(energies).sum()
        context[n] = sum(weights[n, s] * memory[n, s] for s in range(length))
    return context, weights


def test_weights_and_context_are_those_worked_by_hand(attention: AdditiveAttention) -> None:
    query, memory = rng.normal(size=(2, 4)), rng.normal(size=(2, 3, 6))
    bias = padding_bias(np.array([[5, 6, 3], [5, 3, 0]]))
    context, weights = attention(query, memory, attention.keys(memory), bias)
    expected_context, expected_weights = by_hand(attention, query, memory, [3, 2])
    np.testing.assert_allclose(np.asarray(weights), expected_weights, atol=1e-6)
    np.testing.assert_allclose(np.asarray(context), expected_context, atol=1e-6)


def test_padding_gets_weight_exactly_zero_and_the_rest_sums_to_one(attention: AdditiveAttention) -> None:
    memory = 50 * rng.normal(size=(2, 4, 6))
    bias = padding_bias(np.array([[5, 3, 0, 0], [5, 6, 7, 3]]))
    _, weights = attention(50 * rng.normal(size=(2, 4)), memory, attention.keys(memory), bias)
    assert np.asarray(weights)[0, 2:].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(np.asarray(weights).sum(axis=1), 1, atol=1e-6)


def test_the_padding_bias_is_zero_on_tokens_alone() -> None:
    assert np.asarray(padding_bias(np.array([[4, 3, 0]]))).tolist() == [[0.0, 0.0, keras.ops.cast(MASKED, "float32")]]
