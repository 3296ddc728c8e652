"""How parts of the network are traced for export, where tracing them as Keras runs them makes slower graphs.

Letters: A sentences, K rows of each, N = A * K rows, S source positions, U units, I width of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import keras
import tensorflow as tf

from nmt_cli.inference.onnx_engine import MEMORY
from nmt_cli.model.attention import Attention
from nmt_cli.model.cells import biases, gates_of
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq


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
    gates, cell = gates_of(layer.cell), layer.cell

    def call(
        sequences: tf.Tensor, initial_state: None = None, mask: tf.Tensor = None, training: bool = False
    ) -> tuple[tf.Tensor, ...]:
        input_bias, recurrent_bias = biases(cell)
        inputs = tf.transpose(sequences, (1, 0, 2))  # (S, N, I)
        steps, rows = tf.shape(inputs)[0], tf.shape(inputs)[1]
        from_inputs = tf.matmul(tf.reshape(inputs, (-1, inputs.shape[-1])), cell.kernel) + input_bias
        given = sequence(tf.reshape(from_inputs, tf.stack([steps, rows, from_inputs.shape[-1]])))
        valid = sequence(tf.cast(tf.transpose(mask), "float32")[..., tf.newaxis])

        def step(done: tf.Tensor, made: tf.TensorArray, *states: tf.Tensor) -> tuple[Any, ...]:
            time = steps - 1 - done if layer.go_backwards else done
            before = dict(zip(gates.states, states, strict=True))
            # A hidden state never leaves this range: it is told to those who make whole numbers of it (`quantise.py`).
            hidden = tf.clip_by_value(before["hidden"], -1.0, 1.0)
            from_hidden = tf.matmul(hidden, cell.recurrent_kernel) + recurrent_bias
            notes = gates.step(given.read(time), from_hidden, before)
            now = valid.read(time)
            after = [state + now * (notes[name] - state) for name, state in before.items()]
            return (done + 1, made.write(done, after[0]), *after)

        starts = [tf.zeros(tf.stack([rows, layer.units])) for _ in gates.states]
        empty = tf.TensorArray(tf.float32, size=steps, element_shape=(None, layer.units))
        _, made, *last = tf.while_loop(lambda done, *_: done < steps, step, (0, empty, *starts))
        return tf.transpose(made.stack(), (1, 0, 2)), *last

    return call


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
