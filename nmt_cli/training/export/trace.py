"""Traces the network's `encode` and `step` into two ONNX graphs (their interface is in `runtime/onnx_engine.py`).

    export(network, Path("model"))     # model/encoder.onnx and model/decoder.onnx, with free batch sizes and lengths

During tracing, parts of the network are replaced where Keras' own parts make slower graphs. Attention reads the entries
of a sentence once for all hypotheses, recurrences multiply their inputs before the loop, and each gate of a GRU has its
own product. The parity tests check that nothing else changes.

Letters: A sentences, K rows of each, N = A * K rows, S source positions, U units, I width of an input.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from onnx import ModelProto, save

from nmt_cli.model.attention import Attention, DecoderState, mix_memory
from nmt_cli.model.cells import select_gates
from nmt_cli.model.decoders import LuongDecoder, RecurrentDecoder
from nmt_cli.model.encoders import EncoderOutput, RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import FLOAT, name_graphs
from nmt_cli.runtime.onnx_engine import BIAS, CANDIDATES, NEXT, SHARED, TOKENS
from nmt_cli.training.export.graph import simplify_model
from nmt_cli.training.export.keras_engine import KerasEngine, make_source_spec

READING = "reading"  # the entry (N, S, R) of the state: the memory multiplied by the readout's weights

# A kernel (I, U) and a bias (U,).
AffineMap = tuple[Any, Any]
# Computes the states (N, U) after a step from its number and the states before it.
RecurrentStep = Callable[..., tuple[tf.Tensor, ...]]
# Returns a `RecurrentStep` for all inputs (S, N, I) and a mask, which has (N, 1) for each step, 1 at true positions.
StepMaker = Callable[[tf.Tensor, tf.TensorArray], RecurrentStep]


@contextmanager
def share_sentences(network: Seq2Seq) -> Iterator[bool]:
    """Within the block, attention reads the entries of A sentences for N = A * K rows, K consecutive rows per sentence.

    Beam search then need not repeat the entries. Yields False, and changes nothing, for a network without a suitable
    attention.
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
def precompute_readings(network: Seq2Seq) -> Iterator[None]:
    """Within the block, the encoder multiplies its memory by the readout's weights for the context.

    The context is a weighted sum of the memory, and its product with the readout's weights is linear, so it can be
    computed once per sentence. Nothing changes if the product is wider than the memory, since each step would then move
    more numbers.
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
def use_plain_lookups(network: Seq2Seq) -> Iterator[None]:
    """Within the block, embeddings are looked up without Keras' code for negative ids."""
    with ExitStack() as stack:
        for layer in network.layers:
            if isinstance(layer, keras.layers.Embedding):
                stack.enter_context(replace_methods(layer, call=partial(tf.gather, layer.embeddings)))
        yield


@contextmanager
def use_lean_recurrences(network: Seq2Seq) -> Iterator[None]:
    """Within the block, the encoder's recurrences multiply all their inputs before the loop, and mask each step once.

    Keras multiplies inside the loop, and masks outputs and states separately.
    """
    with ExitStack() as stack:
        for layer in network.encoder.directions if isinstance(network.encoder, RecurrentEncoder) else ():
            stack.enter_context(replace_methods(layer, call=make_lean_call(layer)))
        yield


def make_lean_call(layer: Any) -> Callable[..., tuple[tf.Tensor, ...]]:
    """Returns a function equal to `layer`, except for its output at padding, which nothing may read."""
    begin = make_gru_steps(layer.cell) if isinstance(layer.cell, keras.layers.GRUCell) else make_lstm_steps(layer.cell)

    def call(
        sequences: tf.Tensor, initial_state: None = None, mask: tf.Tensor = None, training: bool = False
    ) -> tuple[tf.Tensor, ...]:
        inputs = tf.transpose(sequences, (1, 0, 2))  # (S, N, I)
        steps, rows = tf.shape(inputs)[0], tf.shape(inputs)[1]
        advance = begin(inputs, unstack_steps(tf.cast(tf.transpose(mask), "float32")[..., tf.newaxis]))

        def step(done: tf.Tensor, made: tf.TensorArray, *states: tf.Tensor) -> tuple[Any, ...]:
            after = advance(steps - 1 - done if layer.go_backwards else done, *states)
            return (done + 1, made.write(done, after[0]), *after)

        starts = [tf.zeros(tf.stack([rows, layer.units])) for _ in select_gates(layer.cell).states]
        empty = tf.TensorArray(tf.float32, size=steps, element_shape=(None, layer.units))
        _, made, *last = tf.while_loop(lambda done, *_: done < steps, step, (0, empty, *starts))
        return tf.transpose(made.stack(), (1, 0, 2)), *last

    return call


@contextmanager
def use_lean_cells(network: Seq2Seq) -> Iterator[None]:
    """Within the block, the decoder's GRUs compute each gate in its own product, as the encoder's do."""
    with ExitStack() as stack:
        for cell in network.decoder.cells if isinstance(network.decoder, RecurrentDecoder) else ():
            if isinstance(cell, keras.layers.GRUCell):
                stack.enter_context(replace_methods(cell, call=partial(step_gru, *split_gru_weights(cell))))
        yield


def step_gru(
    of_input: list[AffineMap],
    of_hidden: list[AffineMap],
    inputs: tf.Tensor,
    states: list[tf.Tensor],
    training: bool = False,
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Computes the same step as `keras.layers.GRUCell`."""
    (before,) = states
    hidden = before + compute_gru_change(apply_maps(of_input, inputs), apply_maps(of_hidden, before), before)
    return hidden, [hidden]


def split_gru_weights(cell: keras.layers.GRUCell) -> tuple[list[AffineMap], list[AffineMap]]:
    """Returns the maps of the inputs, and those of the hidden state, gate by gate.

    The gates are the complement of the update gate (the share of the new state), the reset gate and the new state.
    Splitting the result of one product for all gates would take as long as the product itself.
    """
    signs = np.repeat([-1.0, 1.0, 1.0], cell.units)
    weights = [signs * weight.numpy() for weight in (cell.kernel, cell.recurrent_kernel, cell.bias)]
    by_gate = [np.split(weight.astype(np.float32), 3, axis=1) for weight in weights]
    kernels, recurrent_kernels, biases = by_gate
    of_input = [(kernel, bias[0]) for kernel, bias in zip(kernels, biases, strict=True)]
    of_hidden = [(kernel, bias[1]) for kernel, bias in zip(recurrent_kernels, biases, strict=True)]
    return of_input, of_hidden


def compute_gru_change(inputs: list[tf.Tensor], inner: list[tf.Tensor], before: tf.Tensor) -> tf.Tensor:
    """Returns the change (N, U) of the state `before`, from the maps (N, U) of the input and of the state per gate.

    The equations are those of `recurrence.GruGates`; the parity tests check that both agree.
    """
    share, reset = (tf.sigmoid(inputs[gate] + inner[gate]) for gate in (0, 1))
    new = tf.tanh(inputs[2] + reset * inner[2])
    return share * (new - before)


def make_gru_steps(cell: keras.layers.GRUCell) -> StepMaker:
    """Returns a maker of steps that compute each gate in its own product."""
    of_input, of_hidden = split_gru_weights(cell)

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> RecurrentStep:
        gate_inputs = [project_steps(inputs, *kernel) for kernel in of_input]

        def advance(time: tf.Tensor, before: tf.Tensor) -> tuple[tf.Tensor, ...]:
            now = [reader.read(time) for reader in gate_inputs]
            change = compute_gru_change(now, apply_maps(of_hidden, bound_state(before)), before)
            return (before + valid.read(time) * change,)

        return advance

    return begin


def apply_maps(maps: list[AffineMap], value: tf.Tensor) -> list[tf.Tensor]:
    """Returns the result (N, U) of each map for `value` (N, I)."""
    return [tf.matmul(value, kernel) + bias for kernel, bias in maps]


def make_lstm_steps(cell: keras.layers.LSTMCell) -> StepMaker:
    """Returns a maker of steps that compute all gates in one product."""
    kernel, recurrent_kernel, bias, gates = cell.kernel, cell.recurrent_kernel, cell.bias, select_gates(cell)

    def begin(inputs: tf.Tensor, valid: tf.TensorArray) -> RecurrentStep:
        gate_inputs = project_steps(inputs, kernel, bias)

        def advance(time: tf.Tensor, *states: tf.Tensor) -> tuple[tf.Tensor, ...]:
            before = dict(zip(gates.states, states, strict=True))
            notes = gates.step(
                gate_inputs.read(time), tf.matmul(bound_state(before["hidden"]), recurrent_kernel), before
            )
            now = valid.read(time)
            return tuple(state + now * (notes[name] - state) for name, state in before.items())

        return advance

    return begin


def project_steps(inputs: tf.Tensor, kernel: Any, bias: Any) -> tf.TensorArray:
    """Multiplies all of `inputs` (S, N, I) by `kernel` (I, U) at once, and returns the results (N, U) step by step."""
    products = tf.matmul(tf.reshape(inputs, (-1, inputs.shape[-1])), kernel) + bias
    return unstack_steps(tf.reshape(products, tf.concat([tf.shape(inputs)[:2], [products.shape[-1]]], axis=0)))


def bound_state(hidden: tf.Tensor) -> tf.Tensor:
    """Clips a hidden state to a range that it never leaves, only to tell `quantise.py` this range."""
    return tf.clip_by_value(hidden, -1.0, 1.0)


def unstack_steps(values: tf.Tensor) -> tf.TensorArray:
    """Returns `values` (S, N, ...) as an array from which one step at a time is read."""
    steps = tf.TensorArray(values.dtype, size=tf.shape(values)[0], element_shape=values.shape[1:])
    return steps.unstack(values)


@contextmanager
def replace_methods(layer: keras.layers.Layer, **methods: Callable[..., Any]) -> Iterator[None]:
    """Within the block, `layer` has these methods instead of its own."""
    for name, method in methods.items():
        setattr(layer, name, method)
    try:
        yield
    finally:
        for name in methods:
            delattr(layer, name)


OPSET = 17


def export(network: Seq2Seq, directory: Path) -> None:
    """Writes the graphs of the encoder and the decoder into `directory`; both have free batch sizes and lengths."""
    encoder, decoder = trace_network(network)
    simplify_model(encoder, decoder)
    for name, model in zip(name_graphs(FLOAT), (encoder, decoder), strict=True):
        save(model, directory / name)


def trace_network(network: Seq2Seq) -> tuple[ModelProto, ModelProto]:
    """Returns the graphs of the encoder and the decoder, not simplified yet."""
    engine = KerasEngine(network)

    def step(tokens: tf.Tensor, candidates: tf.Tensor, state: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        best = engine.find_best(tokens, candidates, state)
        changed = best.pop("changed")
        return {**best, **{NEXT + name: entry for name, entry in changed.items()}}

    tokens = tf.TensorSpec((None,), tf.int32, name=TOKENS)
    candidates = tf.TensorSpec((), tf.int32, name=CANDIDATES)
    with use_plain_lookups(network), precompute_readings(network):
        with use_lean_recurrences(network):
            encoder = convert(network.encode, [make_source_spec(network)])
        with use_lean_cells(network), share_sentences(network) as shared:
            decoder = convert(step, [tokens, candidates, make_state_signature(network)])
    decoder.metadata_props.add(key=SHARED, value=str(int(shared)))
    return encoder, decoder


def make_state_signature(network: Seq2Seq) -> dict[str, tf.TensorSpec]:
    """Returns the shape and type of each entry of the state by name; rows and source positions are free, widths fixed.

    An axis of length 0 grows from step to step, and is free too.
    """
    trace = tf.function(network.encode, autograph=False).get_concrete_function(make_source_spec(network))
    return {
        name: tf.TensorSpec([length or None for length in entry.shape], entry.dtype, name=name)
        for name, entry in trace.structured_outputs.items()
    }


def convert(function: Any, signature: list[Any]) -> ModelProto:
    """Traces a TensorFlow function and returns it as an ONNX model."""
    import tf2onnx  # slow to import, and only needed once training is over

    logging.getLogger("tf2onnx").setLevel(logging.ERROR)
    compiled = tf.function(function, input_signature=signature, autograph=False)
    with collect_garbage_often():
        model, _ = tf2onnx.convert.from_function(compiled, input_signature=signature, opset=OPSET)
    return model


@contextmanager
def collect_garbage_often() -> Iterator[None]:
    """Within the block, Python collects cyclic garbage often, but only among new objects.

    tf2onnx copies the graph with all its weights in each of its passes, and the copies contain reference cycles. With
    the usual thresholds, the copies grow to fifty times the size of the weights before the collector runs.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.collect()  # finds nothing, and so records that there are few old objects to compare new ones with
    gc.set_threshold(200, 1, 1)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        gc.collect()
