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
    precompute_readings,
    share_sentences,
    use_lean_cells,
    use_lean_recurrences,
    use_plain_lookups,
)
from nmt_cli.training.keras_engine import KerasEngine, make_source_spec

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
    """Traces a function of TensorFlow and returns it as an ONNX model."""
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
    the usual thresholds they grow to fifty times the weights before the collector runs.
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
