"""The recurrences with hand-written gradients, held to Keras' own cells and to TensorFlow's own gradients."""

from dataclasses import replace
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.model.cells import CELLS, GRU, LAYERS, LSTM, STATE_NAMES, run_cell
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.decoders import BahdanauDecoder, LuongDecoder, RecurrentDecoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.step import compute_teacher_forced_loss
from support.slow import sample

VOCABULARIES = Vocabularies(source=11, target=13, joint=False)
CONFIG = ModelConfig.from_options(attention="additive", embedding=4, units=6, attention_units=5, dropout=0.0)
SOURCE = np.array([[4, 5, 6, 3], [7, 8, 3, 0], [9, 3, 0, 0]], dtype=np.int32)
PREVIOUS = np.array([[2, 5, 6, 7, 8], [2, 9, 10, 0, 0], [2, 11, 12, 4, 0]], dtype=np.int32)
TARGET = np.array([[5, 6, 7, 8, 3], [9, 10, 3, 0, 0], [11, 12, 4, 3, 0]], dtype=np.int32)


def make_network(config: ModelConfig) -> Seq2Seq:
    keras.utils.set_random_seed(7)
    network = Seq2Seq(config, VOCABULARIES)
    generator = np.random.default_rng(7)
    for weight in network.trainable_variables:  # biases too are to differ from 0
        weight.assign(generator.normal(scale=0.5, size=weight.shape))
    return network


def teacher_force_step_by_step(decoder: RecurrentDecoder, embedded: Any, state: dict[str, Any], training: bool) -> Any:
    return decoder.run_steps(embedded, state)


def loss_and_gradients(network: Seq2Seq, *, written_out: bool, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    if not written_out:
        monkeypatch.setattr(GRU, "call", keras.layers.GRU.call)
        monkeypatch.setattr(LSTM, "call", keras.layers.LSTM.call)
        for decoder in (BahdanauDecoder, LuongDecoder):
            monkeypatch.setattr(decoder, "teacher_force", teacher_force_step_by_step)

    def run(source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            objective = compute_teacher_forced_loss(network, source, previous, target, smoothing=0.1).objective
        gradients = tape.gradient(objective, [variable.value for variable in network.trainable_variables])
        return [objective, *map(tf.convert_to_tensor, gradients)]

    # As in training; to trace takes far longer than to run, so one network stands for the others.
    signature = [tf.TensorSpec((None, None), tf.int32)] * 3
    is_compiled = written_out and network.config == CONFIG
    compiled = tf.function(run, input_signature=signature) if is_compiled else run
    return [np.asarray(value) for value in compiled(*map(tf.constant, (SOURCE, PREVIOUS, TARGET)))]


@pytest.mark.parametrize(
    "config",
    sample(
        [
            CONFIG,
            replace(CONFIG, bidirectional=False),
            replace(CONFIG, layers=2),
            replace(CONFIG, attention="general"),
            replace(CONFIG, attention="dot", layers=2),
            replace(CONFIG, attention="none"),
            replace(CONFIG, attention="none", layers=2, cell="lstm"),
            replace(CONFIG, cell="lstm"),
            replace(CONFIG, cell="lstm", bidirectional=False, layers=2),
            replace(CONFIG, cell="lstm", attention="dot", layers=2),
            replace(CONFIG, cell="lstm", layers=2),
            replace(CONFIG, attention="general", input_feeding=True, layers=2),
            replace(CONFIG, attention="concat", input_feeding=True, cell="lstm", readout_units=7, tied=False),
            replace(CONFIG, attention="scaled-dot", input_feeding=True, cell="lstm", layers=3, bidirectional=False),
        ],
        *(0, 4, 12),
    ),
    ids=lambda config: " ".join(
        f"{part}" for part in (config.cell, config.attention, config.input_feeding, config.layers, config.bidirectional)
    ),
)
def test_written_out_gradients_are_those_of_tensorflow(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    network = make_network(config)
    fast = loss_and_gradients(network, written_out=True, monkeypatch=monkeypatch)
    slow = loss_and_gradients(network, written_out=False, monkeypatch=monkeypatch)
    assert len(fast) == 1 + len(network.trainable_variables)
    for name, gradient, expected in zip(
        ["loss", *(v.path for v in network.trainable_variables)], fast, slow, strict=True
    ):
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5, err_msg=name)
    assert all(np.abs(gradient).max() > 1e-6 for gradient in slow)  # nothing is compared that is zero anyway


def test_one_layer_trains_with_the_additive_attention_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("step by step")

    monkeypatch.setattr(BahdanauDecoder, "run_steps", refuse)
    make_network(CONFIG)(SOURCE, PREVIOUS, training=True)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_run_over_time_is_the_cell_step_by_step(kind: str, reverse: bool) -> None:
    keras.utils.set_random_seed(3)
    cell = CELLS[kind](4, bias_initializer="normal")
    cell.build((None, 3))
    inputs = np.random.default_rng(3).normal(size=(5, 2, 3)).astype(np.float32)
    states = starts = [np.full((2, 4), 0.3 + number, dtype=np.float32) for number in range(len(STATE_NAMES[kind]))]
    slow = {}
    for time in reversed(range(5)) if reverse else range(5):
        _, states = cell(inputs[time], states)
        states = states if isinstance(states, list | tuple) else [states]
        slow[time] = [np.asarray(state) for state in states]
    fast = run_cell(cell, tf.constant(inputs), [tf.constant(start) for start in starts], reverse=reverse)
    for number, states_over_time in enumerate(fast):
        np.testing.assert_allclose(states_over_time, np.stack([slow[time][number] for time in range(5)]), atol=1e-6)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("backwards", [False, True])
def test_padding_leaves_the_state_alone_as_keras_does(kind: str, backwards: bool) -> None:
    keras.utils.set_random_seed(3)
    layer = LAYERS[kind](4, return_sequences=True, return_state=True, go_backwards=backwards)
    inputs = np.random.default_rng(3).normal(size=(3, 5, 2)).astype(np.float32)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    slow, fast = ([np.asarray(output) for output in layer(inputs, mask=mask, training=training)] for training in (0, 1))
    assert len(fast) == 1 + len(STATE_NAMES[kind])
    for expected, output in zip(slow, fast, strict=True):
        np.testing.assert_allclose(output, expected, atol=1e-6)
