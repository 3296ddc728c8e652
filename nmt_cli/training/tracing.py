"""How parts of the network are traced for export, where tracing them as Keras runs them makes slower graphs.

Letters: A sentences, K rows of each, N = A * K rows, S source positions, U units, I width of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from nmt_cli.inference.onnx_engine import MEMORY
from nmt_cli.model.attention import Attention
from nmt_cli.model.cells import gates_of
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq

# From a step's number and the states (N, U) before it to those after it.
StepOver = Callable[..., tuple[tf.Tensor, ...]]
# From all inputs (S, N, I), and for each step (N, 1) what is 1 at true positions and else 0, to what goes over a step.
Begin = Callable[[tf.Tensor, tf.TensorArray], StepOver]


@contextmanager
def rows_share_sentences(network: Seq2Seq) -> Iterator[bool]:
    """Within the block attention reads the entries of A sentences for N = A * K rows, K of each sentence in turn.

    So beam search need not repeat them. Yields false, and changes nothing, for a network without such an attention.
    """
    attention = getattr(network.decoder, "attention", None)
    if not isinstance(attention, Attention):
        yield False
        return
    own = attention.call

    def call(query: tf.Tensor, state: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        sentences = tf.shape(state["bias"])[0]
        by_sentence = tf.reshape(query, tf.stack([sentences, -1, query.shape[-1]]))  # (A, K, U)
        context, weights = own(tf.transpose(by_sentence, (1, 0, 2)), state)  # an attention takes axes before its rows
        weights = tf.transpose(weights, (1, 0, 2))  # (A, K, S)
        if MEMORY in state and attention.heads == 1:  # mixed for all rows of a sentence in one product
            context = tf.matmul(weights, state[MEMORY])
        else:
            context = tf.transpose(context, (1, 0, 2))
        rows = tf.stack([tf.shape(query)[0], -1])
        return tf.reshape(context, (-1, context.shape[-1])), tf.reshape(weights, rows)

    with instead(attention, call):
        yield True


@contextmanager
def plain_lookups(network: Seq2Seq) -> Iterator[None]:
    """Within the block embeddings are looked up under ids as they are: Keras counts negative ones from the end."""
    with ExitStack() as stack:
        for layer in network.layers:
            if isinstance(layer, keras.layers.Embedding):
                stack.enter_context(instead(layer, partial(tf.gather, layer.embeddings)))
        yield


@contextmanager
def lean_recurrences(network: Seq2Seq) -> Iterator[None]:
    """Within the block the encoder's recurrences multiply all their inputs before the loop, and mask its steps once.

    Keras multiplies in the loop, and masks outputs apart from states.
    """
    with ExitStack() as stack:
        for layer in network.encoder.directions if isinstance(network.encoder, RecurrentEncoder) else ():
            stack.enter_context(instead(layer, lean(layer)))
        yield


def lean(layer: Any) -> Callable[..., tuple[tf.Tensor, ...]]:
    """What `layer` computes, apart from its output at padding, which nothing may read."""
    begin = gru(layer.cell) if isinstance(layer.cell, keras.layers.GRUCell) else lstm(layer.cell)

    def call(
        sequences: tf.Tensor, initial_state: None = None, mask: tf.Tensor = None, training: bool = False
    ) -> tuple[tf.Tensor, ...]:
        inputs = tf.transpose(sequences, (1, 0, 2))  # (S, N, I)
        steps, rows = tf.shape(inputs)[0], tf.shape(inputs)[1]
        advance = begin(inputs, sequence(tf.cast(tf.transpose(mask), "float32")[..., tf.newaxis]))

        def step(done: tf.Tensor, made: tf.TensorArray, *states: tf.Tensor) -> tuple[Any, ...]:
            after = advance(steps - 1 - done if layer.go_backwards else done, *states)
            return (done + 1, made.write(done, after[0]), *after)

        starts = [tf.zeros(tf.stack([rows, layer.units])) for _ in gates_of(layer.cell).states]
        empty = tf.TensorArray(tf.float32, size=steps, element_shape=(None, layer.units))
        _, made, *last = tf.while_loop(lambda done, *_: done < steps, step, (0, empty, *starts))
        return tf.transpose(made.stack(), (1, 0, 2)), *last

    return call


def gru(cell: keras.layers.GRUCell) -> Begin:
    """Gate by gate: to part what one product makes for all gates takes as long as the product itself.

    The equations of `gates.GruGates`, with the complement of the update gate; the parity tests hold both together.
    """
    signs = np.repeat([-1.0, 1.0, 1.0], cell.units)  # of the update gate the complement: the share of what is new
    weights = [signs * one.numpy() for one in (cell.kernel, cell.recurrent_kernel, cell.bias)]
    kernels, recurrent_kernels, biases = (np.split(one.astype(np.float32), 3, axis=1) for one in weights)  # of a gate
    of_input = [(kernel, bias[0]) for kernel, bias in zip(kernels, biases, strict=True)]
    of_hidden = [(kernel, bias[1]) for kernel, bias in zip(recurrent_kernels, biases, strict=True)]

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> StepOver:
        given = [read_by_step(inputs, *one) for one in of_input]

        def advance(time: tf.Tensor, before: tf.Tensor) -> tuple[tf.Tensor, ...]:
            hidden = bounded(before)
            inner = [tf.matmul(hidden, kernel) + bias for kernel, bias in of_hidden]
            change, reset = (tf.sigmoid(given[gate].read(time) + inner[gate]) for gate in (0, 1))
            new = tf.tanh(given[2].read(time) + reset * inner[2])
            return (before + change * valid.read(time) * (new - before),)

        return advance

    return begin


def lstm(cell: keras.layers.LSTMCell) -> Begin:
    """All gates in one product."""
    kernel, recurrent_kernel, bias, gates = cell.kernel, cell.recurrent_kernel, cell.bias, gates_of(cell)

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> StepOver:
        given = read_by_step(inputs, kernel, bias)

        def advance(time: tf.Tensor, *states: tf.Tensor) -> tuple[tf.Tensor, ...]:
            before = dict(zip(gates.states, states, strict=True))
            notes = gates.step(given.read(time), tf.matmul(bounded(before["hidden"]), recurrent_kernel), before)
            now = valid.read(time)
            return tuple(state + now * (notes[name] - state) for name, state in before.items())

        return advance

    return begin


def read_by_step(inputs: tf.Tensor, kernel: Any, bias: Any) -> tf.TensorArray:
    """Products of `inputs` (S, N, I) with `kernel` (I, U), made at once, to be read a step at a time."""
    products = tf.matmul(tf.reshape(inputs, (-1, inputs.shape[-1])), kernel) + bias
    return sequence(tf.reshape(products, tf.concat([tf.shape(inputs)[:2], [products.shape[-1]]], axis=0)))


def bounded(hidden: tf.Tensor) -> tf.Tensor:
    """A hidden state, which never leaves this range: told to those who make whole numbers of it (`quantise.py`)."""
    return tf.clip_by_value(hidden, -1.0, 1.0)


def sequence(values: tf.Tensor) -> tf.TensorArray:
    """To read a step of `values` (S, N, ...) at a time."""
    steps = tf.TensorArray(values.dtype, size=tf.shape(values)[0], element_shape=values.shape[1:])
    return steps.unstack(values)


@contextmanager
def instead(layer: keras.layers.Layer, call: Callable[..., Any]) -> Iterator[None]:
    """Within the block `layer` runs `call`."""
    layer.call = call
    try:
        yield
    finally:
        del layer.call
