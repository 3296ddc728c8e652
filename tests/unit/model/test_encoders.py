"""Tests of encoders: pictures in the network: regions, their mask, and the same numbers with more padding."""

from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops
from PIL import Image

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.encoders import EncoderOutput, GridEncoder, InceptionV3, RecurrentEncoder, read_picture
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.sources.images import IMAGE_WEIGHTS, pad_grids

EMBEDDED = np.random.default_rng(2).normal(size=(2, 4, 6)).astype(np.float32)
MASK = np.array([[True, True, True, True], [True, True, False, False]])


def make_encoder(**options: object) -> RecurrentEncoder:
    keras.utils.set_random_seed(4)
    layer = RecurrentEncoder(ModelConfig.from_options(units=8, **options))
    layer.build((None, None, 6))
    return layer


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_last_states_are_forward_beside_backward_each_of_its_own_kind(cell: str) -> None:
    encoder = make_encoder(cell=cell)
    layer = encoder.layers[0]
    forward = layer.forward_layer(EMBEDDED, mask=MASK)
    backward = layer.backward_layer(EMBEDDED, mask=MASK)
    expected = [np.concatenate([f, b], axis=-1) for f, b in zip(forward[1:], backward[1:], strict=True)]
    final_states = encoder(EMBEDDED, mask=MASK).final_states[0]
    assert len(final_states) == {"gru": 1, "lstm": 2}[cell]
    for state, other in zip(final_states, expected, strict=True):
        np.testing.assert_allclose(np.asarray(state), other, atol=1e-6)


def test_the_hidden_state_comes_before_the_cell_state() -> None:
    encoded = make_encoder(cell="lstm", bidirectional=False)(EMBEDDED, mask=MASK)
    hidden, _ = encoded.final_states[0]
    np.testing.assert_allclose(np.asarray(hidden)[0], np.asarray(encoded.memory)[0, -1], atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"cell": "lstm"}, {"bidirectional": False}, {"layers": 2}], ids=str)
def test_padding_changes_no_last_state(options: dict) -> None:
    encoder = make_encoder(**options)
    together = encoder(EMBEDDED, mask=MASK).final_states
    alone = encoder(EMBEDDED[1:, :2], mask=MASK[1:, :2]).final_states
    for layer, layer_alone in zip(together, alone, strict=True):
        for state, state_alone in zip(layer, layer_alone, strict=True):
            np.testing.assert_allclose(np.asarray(state)[1], np.asarray(state_alone)[0], atol=1e-6)


def test_the_memory_may_have_the_embeddings_beside_it() -> None:
    plain = make_encoder()(EMBEDDED, mask=MASK)
    beside = make_encoder(attend_embeddings=True)(EMBEDDED, mask=MASK)
    np.testing.assert_array_equal(beside.memory, np.concatenate([plain.memory, EMBEDDED], axis=-1))
    np.testing.assert_array_equal(beside.final_states[0][0], plain.final_states[0][0])


@pytest.mark.parametrize("options", [{}, {"attend_embeddings": True}], ids=str)
def test_embeddings_are_not_dropped_out_a_second_time(options: dict) -> None:
    encoder = make_encoder(dropout=0.5, **options)
    learning, reading = (encoder(EMBEDDED, mask=MASK, training=training) for training in (True, False))
    np.testing.assert_allclose(
        np.asarray(learning.final_states[0][0]), np.asarray(reading.final_states[0][0]), atol=1e-6
    )
    assert np.mean(np.asarray(learning.memory)[0, :, :8] == 0) > 0.2
    if options:
        np.testing.assert_array_equal(np.asarray(learning.memory)[..., 8:], EMBEDDED)


TINY = {"embedding": 6, "units": 4, "attention_units": 4}


def test_memory_is_a_dense_relu_and_the_first_state_a_mean_of_true_regions() -> None:
    encoder = GridEncoder(ModelConfig.from_options(embedding=2, units=2, cell="lstm", layers=2))
    encoder.build((None, None, 2))
    encoder.dense.set_weights([np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([0.0, 0.5])])
    features = np.array([[[1.0, 2.0], [3.0, 0.0], [9.0, 9.0]]], np.float32)
    encoded = encoder(features, mask=np.array([[True, True, False]]))
    assert isinstance(encoded, EncoderOutput)
    assert ops.convert_to_numpy(encoded.memory)[0, :2].tolist() == [[1.0, 1.5], [3.0, 0.0]]
    assert [len(states) for states in encoded.final_states] == [2, 2]
    for states in encoded.final_states:
        for state in states:
            assert ops.convert_to_numpy(state).tolist() == [[2.0, 0.75]]


@pytest.mark.parametrize("attention", ["none", "additive", "scaled-dot"])
def test_regions_that_are_not_there_change_nothing(attention: str) -> None:
    config = ModelConfig.from_options(**TINY, attention=attention)
    network = Seq2Seq(config, Vocabularies(source=0, target=9, joint=False, features=3))
    grid = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    tokens = np.array([2])
    alone = network.step(tokens, network.encode(pad_grids([grid])))
    wider = pad_grids([grid, np.ones((5, 3), np.float32)])[:1]
    among = network.step(tokens, network.encode(wider))
    np.testing.assert_allclose(alone.log_probabilities, among.log_probabilities, atol=1e-5)
    assert not np.asarray(among.attention)[0, 2:].any()


# Pictures read by InceptionV3 with random weights: the grid's shape and place, and what cannot be read.


@pytest.fixture(scope="module")
def inception(tmp_path_factory: pytest.TempPathFactory) -> InceptionV3:
    keras.utils.set_random_seed(1)
    path = tmp_path_factory.mktemp("weights") / "random.weights.h5"
    keras.applications.InceptionV3(include_top=False, weights=None, input_shape=(299, 299, 3)).save_weights(path)
    return InceptionV3(path)


@pytest.mark.slow
def test_a_picture_is_64_regions_row_by_row_also_with_saved_weights(inception: InceptionV3, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (299, 299, 3), dtype=np.uint8)
    noise[150:] = 128  # below the middle there is nothing to see
    for name, array in (("upright.png", noise), ("turned.png", noise.swapaxes(0, 1)), ("small.jpg", noise[:20, :30])):
        Image.fromarray(array).save(tmp_path / name)
    paths = [tmp_path / name for name in ("upright.png", "turned.png", "small.jpg")]
    upright, turned, small = inception.read(paths)
    assert (upright.shape, upright.dtype, small.shape) == ((64, 2048), np.float16, (64, 2048))
    assert inception.read_shape(paths[2]) == small.shape
    variety = [grid.reshape(8, 8, 2048).astype(float) for grid in (upright, turned)]
    assert np.ptp(variety[0][7], axis=0).sum() < np.ptp(variety[0][0], axis=0).sum()  # the last row sees nothing
    assert np.ptp(variety[1][:, 7], axis=0).sum() < np.ptp(variety[1][:, 0], axis=0).sum()  # nor the last column
    inception.save(tmp_path)
    (again,) = InceptionV3(tmp_path / IMAGE_WEIGHTS).read(paths[:1])
    np.testing.assert_allclose(again.astype(float), upright.astype(float), atol=1e-3)


@pytest.mark.slow
def test_what_is_no_picture_and_what_are_no_weights_is_named(inception: InceptionV3, tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(DataError, match=r"text.png cannot be read as a picture"):
        inception.read([tmp_path / "text.png"])
    with pytest.raises(NotFoundError, match=r"none.h5"):
        InceptionV3(tmp_path / "none.h5")
    with pytest.raises(DataError, match="has no weights of InceptionV3"):
        InceptionV3(tmp_path / "text.png")


def test_a_damaged_and_an_enormous_picture_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    first, second, *rest = (tmp_path / "whole.png").read_bytes().split(b"IDAT")
    (tmp_path / "damaged.png").write_bytes(first + b"IDAT" + second + b"\x00\x01\x02\x03" + b"IDAT".join(rest))
    with pytest.raises(DataError, match=r"damaged.png cannot be read as a picture"):
        read_picture(tmp_path / "damaged.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(DataError, match=r"whole.png cannot be read as a picture"):
        read_picture(tmp_path / "whole.png")
