"""The Keras network as a step model: its `encode` and `step`, compiled, for search during training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from nmt_cli.arrays.types import IntArray, SourceArray
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.search.step_model import Step


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
        """Makes a step of the network and returns only the likeliest tokens of each row, like the export."""
        after = self.network.step(tokens, state)
        log_probabilities, best_tokens = tf.math.top_k(after.log_probabilities, candidates)
        return {
            "best_tokens": best_tokens,
            "log_probabilities": log_probabilities,
            "attention": after.attention,
            "changed": after.changed,
        }
