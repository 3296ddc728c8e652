"""From embedded source tokens to the memory that attention reads and the states that the decoder starts from.

Letters: B sentences, S source positions, E embedding width, U units of the encoder (both directions together).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.model.cells import LAYERS
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.dropout import Dropout

Tensor = Any


@dataclass(frozen=True)
class Encoded:
    """What the encoder made of a batch of sentences.

    `final` has, for each layer, its last states (B, U): the hidden state, and for an LSTM the cell state after it.
    """

    memory: Tensor  # (B, S, U), or (B, S, U + E) with the embeddings beside it
    final: tuple[tuple[Tensor, ...], ...]


class RecurrentEncoder(keras.layers.Layer):
    """Stacked recurrent layers, in both directions or one; from the second on with a residual.

    With `attend_embeddings` the memory has the embedding of each token beside it: a rare word is found as itself and
    not only by what stands around it. Source: Gehring et al. (2017), "Convolutional Sequence to Sequence Learning",
    section 3.3, who add the two.
    """

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = [recurrent_layer(config, f"layer_{index}") for index in range(config.layers)]
        self.dropout = Dropout(config.dropout)
        self.units = config.encoder_width
        self.bidirectional = config.bidirectional
        self.attends_embeddings = config.attend_embeddings
        self.supports_masking = True

    def build(self, embedded_shape: tuple[int | None, ...]) -> None:
        width = embedded_shape[-1]
        for layer in self.layers:
            layer.build((None, None, width))
            width = self.units
        self.built = True

    @property
    def directions(self) -> list[keras.layers.Layer]:
        """The recurrences themselves: of each layer one, or one of each direction."""
        if not self.bidirectional:
            return list(self.layers)
        return [one for layer in self.layers for one in (layer.forward_layer, layer.backward_layer)]

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> Encoded:
        """`embedded` (B, S, E), what `inputs` makes of a source, with its dropout; `mask` (B, S) is true where there
        is a token. Padding never reaches a state.
        """
        final = []
        memory = embedded
        for index, layer in enumerate(self.layers):
            given = self.dropout(memory, training=training) if index else memory
            output, *states = layer(given, mask=mask, training=training)
            memory = memory + output if index else output
            final.append(beside_each_other(states) if self.bidirectional else tuple(states))
        memory = self.dropout(memory, training=training)
        if self.attends_embeddings:
            memory = ops.concatenate([memory, ops.cast(embedded, memory.dtype)], axis=-1)
        return Encoded(memory=memory, final=tuple(final))


def beside_each_other(states: list[Tensor]) -> tuple[Tensor, ...]:
    """Each kind of state of the forward direction beside the same kind of the backward one.

    Keras gives all states of the forward direction first: for an LSTM hidden and cell, then hidden and cell backward.
    """
    half = len(states) // 2
    pairs = zip(states[:half], states[half:], strict=True)
    return tuple(ops.concatenate([forward, backward], axis=-1) for forward, backward in pairs)


def recurrent_layer(config: ModelConfig, name: str) -> keras.layers.Layer:
    kind = LAYERS[config.cell]
    if not config.bidirectional:
        return kind(config.encoder_width, return_sequences=True, return_state=True, name=name)
    one_direction = kind(config.encoder_width // 2, return_sequences=True, return_state=True, name=config.cell)
    return keras.layers.Bidirectional(one_direction, name=name)
