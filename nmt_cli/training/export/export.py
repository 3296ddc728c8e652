"""Traces the network's `encode` and `step` into two ONNX graphs (their interface is in `runtime/onnx_engine.py`)."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tensorflow as tf
from onnx import ModelProto, save

from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import FLOAT, name_graphs
from nmt_cli.runtime.onnx_engine import CANDIDATES, NEXT, SHARED, TOKENS
from nmt_cli.training.export.simplify import simplify_model
from nmt_cli.training.export.tracing import (
    lean_cells,
    lean_recurrences,
    plain_lookups,
    readings_of_memory,
    rows_share_sentences,
)
from nmt_cli.training.keras_engine import KerasEngine, source_spec

OPSET = 17


def export(network: Seq2Seq, directory: Path) -> None:
    """Writes the graphs of the encoder and of the decoder into `directory`; batch and length stay free in both."""
    encoder, decoder = trace_network(network)
    simplify_model(encoder, decoder)
    for name, model in zip(name_graphs(FLOAT), (encoder, decoder), strict=True):
        save(model, directory / name)


def trace_network(network: Seq2Seq) -> tuple[ModelProto, ModelProto]:
    """Encoder and decoder as they stand in Keras."""
    engine = KerasEngine(network)

    def step(tokens: tf.Tensor, candidates: tf.Tensor, state: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        best = engine.find_best(tokens, candidates, state)
        changed = best.pop("changed")
        return {**best, **{NEXT + name: entry for name, entry in changed.items()}}

    tokens = tf.TensorSpec((None,), tf.int32, name=TOKENS)
    candidates = tf.TensorSpec((), tf.int32, name=CANDIDATES)
    with plain_lookups(network), readings_of_memory(network):
        with lean_recurrences(network):
            encoder = convert(network.encode, [source_spec(network)])
        with lean_cells(network), rows_share_sentences(network) as shared:
            decoder = convert(step, [tokens, candidates, state_signature(network)])
    decoder.metadata_props.add(key=SHARED, value=str(int(shared)))
    return encoder, decoder


def state_signature(network: Seq2Seq) -> dict[str, tf.TensorSpec]:
    """Shape and type of every entry of the state, by its name: rows and source positions free, widths fixed.

    An axis of length 0 is one that grows from step to step, and free too.
    """
    trace = tf.function(network.encode, autograph=False).get_concrete_function(source_spec(network))
    return {
        name: tf.TensorSpec([length or None for length in entry.shape], entry.dtype, name=name)
        for name, entry in trace.structured_outputs.items()
    }


def convert(function: Any, signature: list[Any]) -> ModelProto:
    import tf2onnx  # slow to import, and only needed once training is over

    logging.getLogger("tf2onnx").setLevel(logging.ERROR)
    compiled = tf.function(function, input_signature=signature, autograph=False)
    with garbage_at_once():
        model, _ = tf2onnx.convert.from_function(compiled, input_signature=signature, opset=OPSET)
    return model


@contextmanager
def garbage_at_once() -> Iterator[None]:
    """Within the block Python looks for garbage that refers to itself often, among new objects alone.

    tf2onnx copies the graph, with all its weights, for each of its passes, and the copies refer to themselves: by the
    usual thresholds they come to fifty times the weights before anything looks for them.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.collect()  # looks at nothing, and so learns that there are few objects to compare new ones with
    gc.set_threshold(200, 1, 1)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        gc.collect()
