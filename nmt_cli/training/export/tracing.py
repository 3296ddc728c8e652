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

from nmt_cli.model.attention import Attention, DecoderState, mix_memory
from nmt_cli.model.cells import select_gates
from nmt_cli.model.decoders import LuongDecoder, RecurrentDecoder
from nmt_cli.model.encoders import EncoderOutput, RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.onnx_engine import BIAS

READING = "reading"  # the state's entry (N, S, R): what the readout makes of the memory

# Kernel (I, U) and bias (U,).
Map = tuple[Any, Any]
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

    def attend(query: tf.Tensor, state: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        sentences = tf.shape(state[BIAS])[0]
        by_sentence = tf.reshape(query, tf.stack([sentences, -1, query.shape[-1]]))  # (A, K, U)
        context, weights = attention(by_sentence, state)
        rows = tf.stack([tf.shape(query)[0], -1])
        return tf.reshape(context, (-1, context.shape[-1])), tf.reshape(weights, rows)

    with replace_methods(attention, attend=attend):
        yield True


@contextmanager
def readings_of_memory(network: Seq2Seq) -> Iterator[None]:
    """Within the block the encoder multiplies its memory by the readout's weights for the context.

    The context is a mixture of the memory, so what the readout makes of it is the same mixture of what it makes of the
    memory, which is made once for a sentence. Nothing is done where that is wider: more would be moved in each step.
    """
    decoder, width = network.decoder, network.config.memory_width
    is_simple = isinstance(decoder, LuongDecoder) and decoder.attention.heads == 1
    if not is_simple or network.config.readout_width > width:
        yield
        return
    attention, readout = decoder.attention, decoder.readout
    of_context, of_hidden = np.split(readout.kernel.numpy(), [width])
    own_init_state, own_call = attention.init_state, attention.call

    def init_state(encoded: EncoderOutput, bias: tf.Tensor) -> DecoderState:
        return {**own_init_state(encoded, bias), READING: tf.matmul(encoded.memory, of_context)}

    def call(query: tf.Tensor, state: DecoderState) -> tuple[tf.Tensor, tf.Tensor]:
        _, weights = own_call(query, state)
        return mix_memory(weights, state[READING]), weights

    def compute_readout(hidden: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
        return readout.activation(tf.matmul(hidden, of_hidden) + readout.bias + context)

    with (
        replace_methods(attention, init_state=init_state, call=call),
        replace_methods(decoder, compute_readout=compute_readout),
    ):
        yield


@contextmanager
def plain_lookups(network: Seq2Seq) -> Iterator[None]:
    """Within the block embeddings are looked up under ids as they are: Keras counts negative ones from the end."""
    with ExitStack() as stack:
        for layer in network.layers:
            if isinstance(layer, keras.layers.Embedding):
                stack.enter_context(replace_methods(layer, call=partial(tf.gather, layer.embeddings)))
        yield


@contextmanager
def lean_recurrences(network: Seq2Seq) -> Iterator[None]:
    """Within the block the encoder's recurrences multiply all their inputs before the loop, and mask its steps once.

    Keras multiplies in the loop, and masks outputs apart from states.
    """
    with ExitStack() as stack:
        for layer in network.encoder.directions if isinstance(network.encoder, RecurrentEncoder) else ():
            stack.enter_context(replace_methods(layer, call=trace_lean(layer)))
        yield


def trace_lean(layer: Any) -> Callable[..., tuple[tf.Tensor, ...]]:
    """What `layer` computes, apart from its output at padding, which nothing may read."""
    begin = trace_gru(layer.cell) if isinstance(layer.cell, keras.layers.GRUCell) else trace_lstm(layer.cell)

    def call(
        sequences: tf.Tensor, initial_state: None = None, mask: tf.Tensor = None, training: bool = False
    ) -> tuple[tf.Tensor, ...]:
        inputs = tf.transpose(sequences, (1, 0, 2))  # (S, N, I)
        steps, rows = tf.shape(inputs)[0], tf.shape(inputs)[1]
        advance = begin(inputs, read_sequence(tf.cast(tf.transpose(mask), "float32")[..., tf.newaxis]))

        def step(done: tf.Tensor, made: tf.TensorArray, *states: tf.Tensor) -> tuple[Any, ...]:
            after = advance(steps - 1 - done if layer.go_backwards else done, *states)
            return (done + 1, made.write(done, after[0]), *after)

        starts = [tf.zeros(tf.stack([rows, layer.units])) for _ in select_gates(layer.cell).states]
        empty = tf.TensorArray(tf.float32, size=steps, element_shape=(None, layer.units))
        _, made, *last = tf.while_loop(lambda done, *_: done < steps, step, (0, empty, *starts))
        return tf.transpose(made.stack(), (1, 0, 2)), *last

    return call


@contextmanager
def lean_cells(network: Seq2Seq) -> Iterator[None]:
    """Within the block the decoder's GRUs make each gate on its own, as those of the encoder do."""
    with ExitStack() as stack:
        for cell in network.decoder.cells if isinstance(network.decoder, RecurrentDecoder) else ():
            if isinstance(cell, keras.layers.GRUCell):
                stack.enter_context(replace_methods(cell, call=partial(gru_step, *gru_maps(cell))))
        yield


def gru_step(
    of_input: list[Map], of_hidden: list[Map], inputs: tf.Tensor, states: list[tf.Tensor], training: bool = False
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """What `keras.layers.GRUCell` computes."""
    (before,) = states
    hidden = before + gru_change(apply_lean(of_input, inputs), apply_lean(of_hidden, before), before)
    return hidden, [hidden]


def gru_maps(cell: keras.layers.GRUCell) -> tuple[list[Map], list[Map]]:
    """Returns the kernels of the update gate's complement (the new state's share), the reset gate and the new state.

    Gate by gate: to part what one product makes for all gates takes as long as the product itself.
    """
    signs = np.repeat([-1.0, 1.0, 1.0], cell.units)
    weights = [signs * weight.numpy() for weight in (cell.kernel, cell.recurrent_kernel, cell.bias)]
    kernels, recurrent_kernels, biases = (
        np.split(weight.astype(np.float32), 3, axis=1) for weight in weights
    )  # of a gate
    of_input = [(kernel, bias[0]) for kernel, bias in zip(kernels, biases, strict=True)]
    of_hidden = [(kernel, bias[1]) for kernel, bias in zip(recurrent_kernels, biases, strict=True)]
    return of_input, of_hidden


def gru_change(inputs: list[tf.Tensor], inner: list[tf.Tensor], before: tf.Tensor) -> tf.Tensor:
    """By what a step changes a state (N, U), from what each gate makes (N, U) of the input and of the state.

    The equations of `gates.GruGates`; the parity tests hold both together.
    """
    share, reset = (tf.sigmoid(inputs[gate] + inner[gate]) for gate in (0, 1))
    new = tf.tanh(inputs[2] + reset * inner[2])
    return share * (new - before)


def trace_gru(cell: keras.layers.GRUCell) -> Begin:
    """Each gate on its own."""
    of_input, of_hidden = gru_maps(cell)

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> StepOver:
        gate_inputs = [read_by_step(inputs, *kernel) for kernel in of_input]

        def advance(time: tf.Tensor, before: tf.Tensor) -> tuple[tf.Tensor, ...]:
            now = [reader.read(time) for reader in gate_inputs]
            change = gru_change(now, apply_lean(of_hidden, bound_state(before)), before)
            return (before + valid.read(time) * change,)

        return advance

    return begin


def apply_lean(maps: list[Map], value: tf.Tensor) -> list[tf.Tensor]:
    return [tf.matmul(value, kernel) + bias for kernel, bias in maps]


def trace_lstm(cell: keras.layers.LSTMCell) -> Begin:
    """All gates in one product."""
    kernel, recurrent_kernel, bias, gates = cell.kernel, cell.recurrent_kernel, cell.bias, select_gates(cell)

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> StepOver:
        gate_inputs = read_by_step(inputs, kernel, bias)

        def advance(time: tf.Tensor, *states: tf.Tensor) -> tuple[tf.Tensor, ...]:
            before = dict(zip(gates.states, states, strict=True))
            notes = gates.step(
                gate_inputs.read(time), tf.matmul(bound_state(before["hidden"]), recurrent_kernel), before
            )
            now = valid.read(time)
            return tuple(state + now * (notes[name] - state) for name, state in before.items())

        return advance

    return begin


def read_by_step(inputs: tf.Tensor, kernel: Any, bias: Any) -> tf.TensorArray:
    """Products of `inputs` (S, N, I) with `kernel` (I, U), made at once, to be read a step at a time."""
    products = tf.matmul(tf.reshape(inputs, (-1, inputs.shape[-1])), kernel) + bias
    return read_sequence(tf.reshape(products, tf.concat([tf.shape(inputs)[:2], [products.shape[-1]]], axis=0)))


def bound_state(hidden: tf.Tensor) -> tf.Tensor:
    """A hidden state, which never leaves this range: told to those who make whole numbers of it (`quantise.py`)."""
    return tf.clip_by_value(hidden, -1.0, 1.0)


def read_sequence(values: tf.Tensor) -> tf.TensorArray:
    """To read a step of `values` (S, N, ...) at a time."""
    steps = tf.TensorArray(values.dtype, size=tf.shape(values)[0], element_shape=values.shape[1:])
    return steps.unstack(values)


@contextmanager
def replace_methods(layer: keras.layers.Layer, **methods: Callable[..., Any]) -> Iterator[None]:
    """Within the block `layer` has these `methods` instead of its own."""
    for name, method in methods.items():
        setattr(layer, name, method)
    try:
        yield
    finally:
        for name in methods:
            delattr(layer, name)
