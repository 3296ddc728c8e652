"""From source ids to the memory that attention reads and the state that the decoder starts from.

Letters: B sentences, S source positions, E embedding width, U decoder units (half for each direction).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras

from nmt_cli.model.config import ModelConfig

Tensor = Any


@dataclass(frozen=True)
class Encoded:
    """What the encoder made of a batch of sentences."""

    memory: Tensor  # (B, S, U)
    final: tuple[Tensor, ...]  # one (B, U) a layer: the last forward state beside the last backward state


class BidirectionalEncoder(keras.layers.Layer):
    """Stacked bidirectional GRUs; from the second layer on, a layer's input is added to its output."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = [bidirectional_gru(config.units // 2, f"layer_{index}") for index in range(config.layers)]
        self.dropout = keras.layers.Dropout(config.dropout)
        self.units = config.units
        self.supports_masking = True

    def build(self, embedded_shape: tuple[int | None, ...]) -> None:
        width = embedded_shape[-1]
        for layer in self.layers:
            layer.build((None, None, width))
            width = self.units
        self.built = True

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> Encoded:
        """`embedded` (B, S, E); `mask` (B, S) is true where there is a token. Padding never reaches a state."""
        final = []
        memory = embedded
        for index, layer in enumerate(self.layers):
            output, forward, backward = layer(self.dropout(memory, training=training), mask=mask)
            memory = memory + output if index else output
            final.append(keras.ops.concatenate([forward, backward], axis=-1))
        return Encoded(memory=self.dropout(memory, training=training), final=tuple(final))


def bidirectional_gru(units: int, name: str) -> keras.layers.Bidirectional:
    gru = keras.layers.GRU(units, return_sequences=True, return_state=True, name="gru")
    return keras.layers.Bidirectional(gru, name=name)
