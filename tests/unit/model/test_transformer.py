import keras
import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.model.attention import make_padding_bias
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.transformer import (
    FeedForward,
    HeadedAttention,
    LearnedPositions,
    Sinusoids,
    TransformerDecoder,
    TransformerEncoder,
)
from support.models import tiny_config

rng = np.random.default_rng(7)


def config(**options: object) -> ModelConfig:
    return tiny_config("transformer", **{"embedding": 4, **options})


def numbers(*shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def softmax(energies: np.ndarray) -> np.ndarray:
    return np.exp(energies) / np.exp(energies).sum(axis=-1, keepdims=True)


def normed(value: np.ndarray) -> np.ndarray:
    return (value - value.mean(axis=-1, keepdims=True)) / value.std(axis=-1, keepdims=True)


QUERIES, MEMORY = numbers(2, 3, 4), numbers(2, 5, 4)
MASK = np.arange(5) < np.array([[[5]], [[2]]])  # (2, 1, 5): the second sentence has two tokens


def attention(heads: int) -> HeadedAttention:
    layer = HeadedAttention(config(heads=heads))
    layer.build((None, None, 4), (None, None, 4))
    return layer


def test_one_head_is_the_equation() -> None:
    layer = attention(heads=1)
    query, key, value, projection = (np.asarray(weight.value).reshape(4, 4) for weight in layer.weights)
    output, weights = layer.attend(QUERIES, *layer.project_memory(MEMORY), MASK, training=False)
    for n, length in enumerate([5, 2]):
        memory = MEMORY[n, :length]
        expected = softmax((QUERIES[n] @ query) @ (memory @ key).T / 2)  # 2 is the root of the width, 4
        np.testing.assert_allclose(np.asarray(weights)[n, 0, :, :length], expected, atol=1e-6)
        np.testing.assert_allclose(np.asarray(output)[n], expected @ memory @ value @ projection, atol=1e-6)
    assert not np.asarray(weights)[1, :, :, 2:].any()


def test_several_heads_are_those_of_keras_with_the_same_weights() -> None:
    ours, reference = attention(heads=2), keras.layers.MultiHeadAttention(2, 2, use_bias=False)
    reference.build((None, None, 4), (None, None, 4))
    reference.set_weights(ours.get_weights())
    expected, expected_weights = reference(QUERIES, MEMORY, attention_mask=MASK, return_attention_scores=True)
    np.testing.assert_allclose(ours(QUERIES, MEMORY, attention_mask=MASK), expected, atol=1e-6)
    output, weights = ours.attend(QUERIES, *ours.project_memory(MEMORY), MASK, training=False)
    np.testing.assert_allclose(output, expected, atol=1e-6)
    np.testing.assert_allclose(weights, expected_weights, atol=1e-6)


def test_projections_start_in_glorots_range() -> None:
    layer = HeadedAttention(config(embedding=64, heads=4))
    layer.build((None, None, 64), (None, None, 64))
    for weight in layer.weights:
        assert np.abs(weight.value).max() <= np.sqrt(6 / 128)
        assert np.std(weight.value) == pytest.approx(np.sqrt(2 / 128), rel=0.05)


def is_noisy(layer: FeedForward | HeadedAttention) -> bool:
    """Whether training computes something else than inference, on 64 rows."""
    rows = (numbers(8, 8, 4),) * (1 if isinstance(layer, FeedForward) else 2)
    return not np.allclose(layer(*rows, training=True), layer(*rows, training=False))


def test_attention_and_feed_forward_networks_have_dropouts_of_their_own() -> None:
    quiet = config(dropout=0.5, attention_dropout=0.0, feed_forward_dropout=0.0)
    for kind in (HeadedAttention, FeedForward):
        assert is_noisy(kind(config(dropout=0.5)))
        assert not is_noisy(kind(quiet))
    assert is_noisy(HeadedAttention(config(dropout=0.0, attention_dropout=0.5)))
    assert is_noisy(FeedForward(config(dropout=0.0, feed_forward_dropout=0.5)))
    assert TransformerEncoder(quiet).layers[0].dropout.rate == 0.5  # of residuals


def test_sinusoids_are_those_of_the_equation() -> None:
    table = np.asarray(Sinusoids(config())(np.arange(3)))
    expected = [[0, 1, 0, 1], [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)]]
    np.testing.assert_allclose(table[:2], expected, atol=1e-6)
    np.testing.assert_allclose(table[2], [0.909297, -0.416147, 0.0199987, 0.9998], atol=1e-6)


def test_positions_behind_the_last_learned_one_share_it() -> None:
    layer = LearnedPositions(config(max_positions=3))
    layer.build((None,))
    table = np.asarray(layer(np.array([0, 2, 3, 90])))
    assert (table[1] == table[2]).all() and (table[1] == table[3]).all()
    assert (table[0] != table[1]).all()


def test_the_feed_forward_network_is_the_equation() -> None:
    layer = FeedForward(config(feed_forward=3))
    layer.build((None, None, 4))
    for weight in layer.weights:
        weight.assign(numbers(*weight.shape))
    inner, inner_bias, outer, outer_bias = layer.get_weights()
    expected = np.maximum(0, QUERIES @ inner + inner_bias) @ outer + outer_bias
    np.testing.assert_allclose(layer(QUERIES), expected, atol=1e-5)


def test_the_norm_stands_before_each_part_and_once_at_the_end() -> None:
    """Parts that give nothing leave what came in: it is normed once, not once a layer."""
    encoder = TransformerEncoder(config(), name="encoder")
    encoder.build((None, None, 4))
    for weight in encoder.weights:
        if "attention_output" in weight.path or "outer" in weight.path:
            weight.assign(np.zeros(weight.shape))
    positioned = 2 * MEMORY + np.asarray(Sinusoids(config())(np.arange(5)))  # 2 is the root of the width, 4
    memory = encoder(MEMORY, mask=np.ones((2, 5), bool)).memory
    np.testing.assert_allclose(memory, normed(positioned), atol=1e-4)


@pytest.fixture
def network() -> Seq2Seq:
    keras.utils.set_random_seed(3)
    return Seq2Seq(config(embedding=8), Vocabularies(source=14, target=14, joint=True))


SOURCE = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
PREVIOUS = np.array([[2, 9, 10, 11], [2, 12, 5, 0]])


def test_a_later_token_changes_nothing_before_it(network: Seq2Seq) -> None:
    other = PREVIOUS.copy()
    other[:, 2] = [4, 13]
    before, after = np.asarray(network(SOURCE, PREVIOUS)), np.asarray(network(SOURCE, other))  # (T, B, V)
    np.testing.assert_array_equal(before[:2], after[:2])
    assert (np.abs(before[2:] - after[2:]).max(axis=(1, 2)) > 1e-3).all()


def test_what_a_source_token_is_beside_may_stand_on_either_side(network: Seq2Seq) -> None:
    first, last = SOURCE.copy(), SOURCE.copy()
    first[0, 0], last[0, 2] = 12, 12
    memory = [np.asarray(network.encode(source)["memory"])[0, 1] for source in (SOURCE, first, last)]
    assert np.abs(memory[0] - memory[1]).max() > 1e-3
    assert np.abs(memory[0] - memory[2]).max() > 1e-3


def test_a_step_changes_the_cache_of_the_target_alone(network: Seq2Seq) -> None:
    state = network.encode(SOURCE)
    cache = {"keys_0", "values_0", "keys_1", "values_1"}
    for position in range(3):
        assert {state[name].shape[1] for name in cache} == {position}
        changed = network.step(PREVIOUS[:, position], state).changed
        assert changed.keys() == cache
        for name in cache:
            np.testing.assert_array_equal(changed[name][:, :position], state[name])
        state |= changed


def test_the_attention_told_is_the_mean_of_the_last_layers_heads(network: Seq2Seq) -> None:
    state = network.encode(SOURCE)
    embedded = network.target_embedding(PREVIOUS[:, :1])
    *_, (_, weights) = network.decoder.run(embedded, state, training=False)  # of two layers
    expected = (np.asarray(weights)[:, 0, 0] + np.asarray(weights)[:, 1, 0]) / 2
    np.testing.assert_allclose(network.step(PREVIOUS[:, 0], state).attention, expected, atol=1e-6)


def test_several_positions_behind_a_cache_are_as_one_by_one() -> None:
    decoder = TransformerDecoder(config(), name="decoder")
    encoder = TransformerEncoder(config(), name="encoder")
    for layer in (decoder, encoder):
        layer.build((None, None, 4))
    encoded = encoder(MEMORY, mask=MASK[:, 0])
    state = decoder.init_state(encoded, make_padding_bias(MASK[:, 0]))
    whole, _, _ = decoder.run(QUERIES, state, training=False)
    first, cache, _ = decoder.run(QUERIES[:, :1], state, training=False)
    others, _, _ = decoder.run(QUERIES[:, 1:], {**state, **cache}, training=False)
    np.testing.assert_allclose(np.concatenate([first, others], axis=1), whole, atol=1e-5)


def test_pictures_are_told_to_go_with_the_other_architecture() -> None:
    with pytest.raises(OptionError, match="the sources of this corpus are pictures") as caught:
        Seq2Seq(config(), Vocabularies(source=0, target=14, joint=False, features=5))
    assert "--architecture rnn" in caught.value.hint
