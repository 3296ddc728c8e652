from functools import cache

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from support.models import tiny_config

SOURCE = np.array([[5, 6, 7, 3], [8, 3, 0, 0]])
PREVIOUS = np.array([[2, 9, 10, 11], [2, 12, 0, 0]])

slow = pytest.mark.slow
KINDS = [
    pytest.param({}, id="default"),
    pytest.param({"layers": 2}, id="stacked", marks=slow),
    pytest.param({"tied": False}, id="untied", marks=slow),
    pytest.param({"fixed_norm": True}, id="fixed norm", marks=slow),
    pytest.param({"fixed_norm": True, "tied": False, "attention": "dot"}, id="untied, fixed norm"),
    pytest.param({"cell": "lstm"}, id="lstm", marks=slow),
    pytest.param({"cell": "lstm", "layers": 2, "bidirectional": False}, id="stacked one-way lstm"),
    pytest.param({"attention": "none"}, id="none", marks=slow),
    pytest.param({"attention": "dot"}, id="dot", marks=slow),
    pytest.param({"attention": "dot", "bidirectional": False}, id="one-way dot", marks=slow),
    pytest.param({"attention": "general", "cell": "lstm"}, id="general lstm", marks=slow),
    pytest.param({"attention": "concat"}, id="concat", marks=slow),
    pytest.param({"attention": "general", "input_feeding": True}, id="input feeding", marks=slow),
    pytest.param({"attention": "dot", "input_feeding": True, "layers": 2, "cell": "lstm"}, id="stacked, fed, lstm"),
    pytest.param({"attention": "scaled-dot"}, id="scaled-dot", marks=slow),
    pytest.param({"encoder_units": 6}, id="narrow encoder", marks=slow),
    pytest.param(
        {"encoder_units": 12, "layers": 2, "cell": "lstm", "attention": "general"}, id="wide encoder", marks=slow
    ),
    pytest.param({"encoder_units": 12, "attention": "none"}, id="none, wide encoder"),
    pytest.param(
        {"attention": "scaled-dot", "heads": 2, "encoder_units": 12}, id="two heads, wide encoder", marks=slow
    ),
    pytest.param({"readout_units": 10, "tied": False}, id="wide readout", marks=slow),
    pytest.param(
        {"readout_units": 10, "tied": False, "attention": "concat", "input_feeding": True}, id="wide readout, fed"
    ),
    pytest.param({"attention": "scaled-dot", "heads": 2}, id="two heads", marks=slow),
    pytest.param({"attention": "scaled-dot", "heads": 2, "input_feeding": True}, id="two heads, fed"),
    pytest.param({"attention": "scaled-dot", "attend_embeddings": True}, id="embeddings read", marks=slow),
    pytest.param(
        {"attention": "scaled-dot", "attend_embeddings": True, "heads": 2, "layers": 2, "encoder_units": 12},
        id="embeddings read by two heads, stacked",
    ),
    pytest.param({"attention": "additive", "attend_embeddings": True}, id="additive, embeddings read"),
    pytest.param(
        {"attention": "general", "attend_embeddings": True, "input_feeding": True},
        id="fed, embeddings read",
        marks=slow,
    ),
    pytest.param({"architecture": "transformer"}, id="transformer"),
    pytest.param(
        {"architecture": "transformer", "positions": "learned", "tied": False, "heads": 1, "layers": 1},
        id="one layer and head, learned positions",
        marks=slow,
    ),
]


TF_IN_ACTION = {
    "attention": "additive",
    "embedding": 128,
    "units": 256,
    "attention_units": 512,
    "readout_units": 512,
    "tied": False,
}


@cache
def shared_network(**options: object) -> Seq2Seq:
    """A network that tests only read."""
    return network(**options)


def network(joint: bool = True, **options: object) -> Seq2Seq:
    keras.utils.set_random_seed(3)
    config = tiny_config(**{"embedding": 6, **options})
    return Seq2Seq(config, Vocabularies(source=14 if joint else 10, target=14, joint=joint))


@pytest.mark.parametrize("options", KINDS)
def test_teacher_forcing_gives_what_the_steps_give_one_by_one(options: dict) -> None:
    model = shared_network(**options)
    forced = np.asarray(keras.ops.log_softmax(model(SOURCE, PREVIOUS)))  # (T, B, V)
    state = model.encode(SOURCE)
    for position in range(PREVIOUS.shape[1]):
        step = model.step(PREVIOUS[:, position], state)
        state |= step.changed
        stepped = np.asarray(step.log_probabilities)
        # `step` leaves out padding and start of sentence, so the rest is compared after renormalising.
        renormalised = (
            forced[position] - np.logaddexp.reduce(np.delete(forced[position], [0, 2], axis=1), axis=1)[:, None]
        )
        np.testing.assert_allclose(
            np.delete(stepped, [0, 2], axis=1), np.delete(renormalised, [0, 2], axis=1), atol=1e-5
        )


@pytest.mark.parametrize("options", KINDS)
def test_a_sentence_gives_the_same_alone_and_padded_beside_a_longer_one(options: dict) -> None:
    model = shared_network(**options)
    together, alone = model.encode(SOURCE), model.encode(SOURCE[1:, :2])
    for name in together.keys() & {"hidden_0", "memory"}:
        beside, by_itself = np.asarray(together[name])[1], np.asarray(alone[name])[0]
        np.testing.assert_allclose(beside[: len(by_itself)], by_itself, atol=1e-6)
    step, step_alone = model.step(np.array([2, 2]), together), model.step(np.array([2]), alone)
    np.testing.assert_allclose(
        np.asarray(step.log_probabilities)[1], np.asarray(step_alone.log_probabilities)[0], atol=1e-5
    )
    assert np.asarray(step.attention)[1, 2:].tolist() == [0.0, 0.0]


def test_padding_and_start_of_sentence_are_never_a_next_token() -> None:
    model = shared_network()
    step = model.step(np.array([2, 2]), model.encode(SOURCE))
    assert (np.asarray(step.log_probabilities)[:, [0, 2]] < -1e8).all()
    np.testing.assert_allclose(np.exp(np.asarray(step.log_probabilities)).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("options", KINDS)
def test_a_gradient_reaches_every_weight(options: dict) -> None:
    model = network(joint=False, **options)
    with tf.GradientTape() as tape:
        loss = keras.ops.mean(keras.ops.log_softmax(model(SOURCE, PREVIOUS, training=True))[..., 5])
    gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
    without = [
        variable.path
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True)
        if gradient is None or not np.asarray(tf.convert_to_tensor(gradient)).any()
    ]
    assert not without


@pytest.mark.parametrize(("activation", "lowest"), [("relu", 0.0), ("tanh", -1.0)])
def test_the_readout_applies_its_activation(activation: str, lowest: float) -> None:
    model = network(readout_units=64, readout_activation=activation, tied=False)
    for weight in model.decoder.readout.weights:
        weight.assign(30 * np.asarray(weight) - 1)  # far from 0 on both sides
    tokens, state = np.array([2, 2]), model.encode(SOURCE)
    readout = np.asarray(model.decoder.step(model.target_embedding(tokens), state).readout)
    assert readout.shape == (2, 64)
    assert lowest <= readout.min() < lowest + 0.1


def test_widths_of_their_own_give_the_published_number_of_weights() -> None:
    """A GRU's are 3 (in u + u u + 2 u); those of the decoder see token and context.

    The sizes are those of TensorFlow in Action, chapter 12, whose notebook prints 484,864 weights for an encoder of
    2,240 words and 755,712 for attention and decoder; its energies have no bias, ours have one of 512.
    """
    model = Seq2Seq(ModelConfig.from_options(**TF_IN_ACTION), Vocabularies(source=2000, target=2400, joint=False))
    embeddings = (2000 + 2400) * 128
    encoder = 2 * 3 * (128 * 128 + 128 * 128 + 2 * 128)
    bridge, attention = 256 * 256 + 256, 256 * 512 + 256 * 512 + 512 + 512
    decoder = 3 * ((128 + 256) * 256 + 256 * 256 + 2 * 256)
    assert encoder == 484_864 - 2240 * 128
    assert attention - 512 + decoder == 755_712
    readout, output = (256 + 256 + 128) * 512 + 512, 2400 * 512 + 2400
    assert model.count_params() == embeddings + encoder + bridge + attention + decoder + readout + output


def test_tied_and_joint_embeddings_are_one_matrix() -> None:
    wide, narrow = network(tied=False).count_params(), network().count_params()
    assert wide - narrow == 14 * 6
    assert network(joint=False).count_params() - narrow == 10 * 6


def test_a_target_may_have_the_beginning_of_the_joint_vocabulary() -> None:
    model = Seq2Seq(tiny_config(embedding=6), Vocabularies(source=14, target=11, joint=True))
    assert network().count_params() - model.count_params() == 14 - 11  # biases of the output layer
    ids = SOURCE % 11
    logits = np.asarray(model(ids, PREVIOUS % 11))
    read = np.asarray(model.compute_readouts(ids, PREVIOUS % 11))
    table = np.asarray(model.target_embedding.embeddings.value)
    np.testing.assert_allclose(logits, read @ table[:11].T, atol=1e-5)
    assert np.asarray(model.step(ids[:, 0], model.encode(ids)).log_probabilities).shape == (len(ids), 11)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_with_a_fixed_norm_directions_alone_are_compared(tied: bool) -> None:
    """Nguyen and Chiang (2018), section 3, where the product of both lengths is the scale, which is not learned."""
    model = network(tied=tied, fixed_norm=True)
    layer = model.output_layer
    layer.scale.assign(3.0)
    layer.bias.assign(np.linspace(-1, 1, 14))
    table = model.target_embedding.embeddings if tied else layer.kernel
    table.assign(np.asarray(table) * np.linspace(0.1, 9, 14)[:, np.newaxis])
    read = np.random.default_rng(1).normal(size=(2, 5, 6)).astype(np.float32)
    rows = np.asarray(table)
    cosines = np.einsum("abr,vr->abv", read, rows) / np.linalg.norm(read, axis=-1)[..., None]
    expected = 3 * cosines / np.linalg.norm(rows, axis=-1) + np.linspace(-1, 1, 14)
    np.testing.assert_allclose(np.asarray(layer(read)), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.asarray(layer(7 * read)), expected, rtol=1e-5, atol=1e-5)


def test_what_is_all_zeros_has_a_score_and_a_gradient() -> None:
    """Dropout may leave nothing of what is read out."""
    layer = network(fixed_norm=True).output_layer
    read = tf.zeros((1, 6))
    with tf.GradientTape() as tape:
        tape.watch(read)
        logits = layer(read)
    assert np.asarray(logits).tolist() == [[0.0] * 14]
    assert np.isfinite(np.asarray(tape.gradient(logits, read))).all()


def test_pictures_have_no_embeddings_to_attend_to() -> None:
    with pytest.raises(OptionError, match="the sources of this corpus are pictures"):
        Seq2Seq(tiny_config(attend_embeddings=True), Vocabularies(source=0, target=14, joint=False, features=4))


@pytest.mark.parametrize("options", KINDS)
def test_names_of_weights_do_not_depend_on_what_was_made_before(options: dict) -> None:
    names = [weight.path for weight in shared_network(**options).weights]
    assert names == [weight.path for weight in network(**options).weights]
    assert len(set(names)) == len(names)
