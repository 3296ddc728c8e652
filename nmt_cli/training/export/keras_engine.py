"""The Keras network as a step model for search during training, and the attention of each of its heads.

    engine = KerasEngine(network)
    state = engine.encode(source)                                   # ids (B, S)
    step = engine.step(tokens, state, candidates=5)                 # the five likeliest next tokens of each row

The exported graphs keep only the mean attention of the last layer; `measure_heads` returns the attention of every head
in every Transformer layer. Letters: L layers, H heads, T target tokens, S source tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from nmt_cli.arrays.types import START, FloatArray, IntArray, SourceArray
from nmt_cli.errors import NotFoundError
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import WEIGHTS, ModelCard
from nmt_cli.search.step_model import Step
from nmt_cli.training.checkpoints import load_weights


def make_source_spec(network: Seq2Seq) -> tf.TensorSpec:
    """Returns the shape and type of the input of `network.encode`, with its name in the export."""
    return tf.TensorSpec(network.source.shape, network.source.dtype, name=network.source.name)


@dataclass(frozen=True)
class KerasState:
    """The state of the network; axis 0 of every tensor is the row."""

    entries: dict[str, tf.Tensor]

    def select(self, rows: IntArray) -> KerasState:
        return KerasState({name: tf.gather(entry, rows) for name, entry in self.entries.items()})


class KerasEngine:
    """Implements `search.step_model.StepModel`."""

    def __init__(self, network: Seq2Seq) -> None:
        self.network = network
        self.compiled_encode = tf.function(network.encode, input_signature=[make_source_spec(network)], autograph=False)
        self.compiled_step = tf.function(self.find_best, reduce_retracing=True, autograph=False)

    def encode(self, source: SourceArray) -> KerasState:
        return KerasState(self.compiled_encode(tf.convert_to_tensor(source, self.network.source.dtype)))

    def step(self, tokens: IntArray, state: KerasState, candidates: int, *, scored: bool = True) -> Step[KerasState]:
        best = self.compiled_step(tf.convert_to_tensor(tokens, tf.int32), tf.constant(candidates), state.entries)
        return Step(
            tokens=np.asarray(best["best_tokens"]),
            log_probabilities=np.asarray(best["log_probabilities"]),
            attention=np.asarray(best["attention"]),
            state=KerasState({**state.entries, **best["changed"]}),
        )

    def find_best(self, tokens: tf.Tensor, candidates: tf.Tensor, state: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Runs one step of the network and returns only the likeliest tokens of each row, like the exported graph."""
        after = self.network.step(tokens, state)
        log_probabilities, best_tokens = tf.math.top_k(after.log_probabilities, candidates)
        return {
            "best_tokens": best_tokens,
            "log_probabilities": log_probabilities,
            "attention": after.attention,
            "changed": after.changed,
        }


def load_network(directory: Path, card: ModelCard) -> Seq2Seq:
    """Returns a model's network with its weights. Raises NotFoundError for a directory without them."""
    if not (directory / WEIGHTS).is_file():
        raise NotFoundError(
            f"{directory}/ has no {WEIGHTS}, which --heads needs", hint="copy the whole directory of the model"
        )
    keras.mixed_precision.set_dtype_policy("float32")
    network = Seq2Seq(ModelConfig.from_options(**card.network), Vocabularies(**card.vocabularies))
    load_weights(network, directory / WEIGHTS)
    return network


def measure_heads(network: Any, source: SourceArray, target_ids: Sequence[int]) -> FloatArray:
    """Returns the attention weights (L, H, T, S) of one sentence (1, S) and its translation, END included."""
    previous = ops.convert_to_tensor([[START, *target_ids[:-1]]], "int32")
    state = network.encode(ops.convert_to_tensor(source, "int32"))
    weights = network.decoder.run(network.target_embedding(previous), state, training=False)[2]
    return np.stack([np.asarray(layer)[0] for layer in weights])
