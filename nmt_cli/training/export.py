"""Traces the network's `encode` and `step` into two ONNX graphs (their interface is in `inference/onnx_engine.py`)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import tensorflow as tf

from nmt_cli.inference.bundle import DECODER, ENCODER
from nmt_cli.inference.onnx_engine import NEXT
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.engine import KerasEngine, source_spec

OPSET = 17


def export(network: Seq2Seq, directory: Path) -> None:
    """Writes `encoder.onnx` and `decoder.onnx` into `directory`; batch and length stay free in both."""
    engine = KerasEngine(network)
    convert(network.encode, [source_spec(network)], directory / ENCODER)

    def step(tokens: tf.Tensor, candidates: tf.Tensor, state: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        best = engine.best(tokens, candidates, state)
        changed = best.pop("changed")
        return {**best, **{NEXT + name: entry for name, entry in changed.items()}}

    tokens = tf.TensorSpec((None,), tf.int32, name="tokens")
    candidates = tf.TensorSpec((), tf.int32, name="candidates")
    convert(step, [tokens, candidates, state_signature(network)], directory / DECODER)


def state_signature(network: Seq2Seq) -> dict[str, tf.TensorSpec]:
    """Shape and type of every entry of the state, by its name: rows and source positions free, widths fixed.

    An axis of length 0 is one that grows from step to step, and free too.
    """
    trace = tf.function(network.encode).get_concrete_function(source_spec(network))
    return {
        name: tf.TensorSpec([length or None for length in entry.shape], entry.dtype, name=name)
        for name, entry in trace.structured_outputs.items()
    }


def convert(function: Any, signature: list[Any], path: Path) -> None:
    import tf2onnx  # slow to import, and only needed once training is over

    logging.getLogger("tf2onnx").setLevel(logging.ERROR)
    traced = tf.function(function, input_signature=signature)
    tf2onnx.convert.from_function(traced, input_signature=signature, opset=OPSET, output_path=str(path))
