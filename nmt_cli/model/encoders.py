"""The recurrent encoder: embedded source tokens to the memory of attention and the first states of the decoder.

Letters: B sentences, S source positions, E embedding width, U units of the encoder (both directions together)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.cells import LAYERS, STATE_NAMES, Dropout
from nmt_cli.model.config import RnnConfig


@dataclass(frozen=True)
class EncoderOutput:
    """An encoder's output for a batch of sentences or pictures.

    `final_states` holds the last states (B, U) of each layer: the hidden state, followed by the cell state of an LSTM.
    """

    memory: Tensor  # (B, S, U), or (B, S, U + E) with the embeddings appended
    final_states: tuple[tuple[Tensor, ...], ...]


class RecurrentEncoder(keras.layers.Layer):
    """Stacked recurrent layers in one or both directions, with residual connections from the second layer on.

    With `attend_embeddings` the embedding of each token is appended to its memory: attention finds a rare word by the
    word itself, not only by its context. Source: Gehring et al. (2017), "Convolutional Sequence to Sequence Learning",
    section 3.3, who add the two.
    """

    def __init__(self, config: RnnConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = [make_recurrent_layer(config, f"layer_{index}") for index in range(config.layers)]
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
        """The recurrent layers themselves: one per layer, or two, forward and backward, if bidirectional."""
        if not self.bidirectional:
            return list(self.layers)
        return [direction for layer in self.layers for direction in (layer.forward_layer, layer.backward_layer)]

    def use_vendor_kernels(self) -> None:
        """Trains by Keras' own implementation from now on."""
        for layer in self.directions:
            layer.vendor = True

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> EncoderOutput:
        """Encodes `embedded` (B, S, E), after dropout; `mask` (B, S) is true on tokens.

        Padding never reaches a state.
        """
        final_states = []
        memory = embedded
        for index, layer in enumerate(self.layers):
            layer_input = self.dropout(memory, training=training) if index else memory
            output, *states = layer(layer_input, mask=mask, training=training)
            memory = memory + output if index else output
            final_states.append(concat_directions(states) if self.bidirectional else tuple(states))
        memory = self.dropout(memory, training=training)
        if self.attends_embeddings:
            memory = ops.concatenate([memory, ops.cast(embedded, memory.dtype)], axis=-1)
        return EncoderOutput(memory=memory, final_states=tuple(final_states))


def concat_directions(states: list[Tensor]) -> tuple[Tensor, ...]:
    """Concatenates each state of the forward direction with that of the backward direction.

    Keras returns all forward states first: for an LSTM hidden and cell, then hidden and cell backward.
    """
    half = len(states) // 2
    pairs = zip(states[:half], states[half:], strict=True)
    return tuple(ops.concatenate([forward, backward], axis=-1) for forward, backward in pairs)


def make_recurrent_layer(config: RnnConfig, name: str) -> keras.layers.Layer:
    """Returns a layer of the encoder, in one or both directions."""
    layer_class = LAYERS[config.cell]
    if not config.bidirectional:
        return layer_class(config.encoder_width, return_sequences=True, return_state=True, name=name)
    one_direction = layer_class(config.encoder_width // 2, return_sequences=True, return_state=True, name=config.cell)
    return keras.layers.Bidirectional(one_direction, name=name)


# The encoder of pictures: the features of regions to the memory of attention and the first states of the decoder.
#
# Letters: B pictures, R regions, D depth of their features, U units. Source: Xu et al. (2015), "Show, Attend and Tell",
# sections 3.1.1 and 3.1.2.


class GridEncoder(keras.layers.Layer):
    """Passes each region through a dense layer with ReLU; the decoder starts from the mean of the regions."""

    def __init__(self, config: RnnConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.dense = keras.layers.Dense(config.encoder_width, activation="relu", name="dense")
        self.dropout = Dropout(config.dropout)
        self.supports_masking = True

    def build(self, features_shape: tuple[int | None, ...]) -> None:
        self.dense.build(features_shape)
        self.built = True

    def call(self, features: Tensor, mask: Tensor, training: bool = False) -> EncoderOutput:
        """Encodes `features` (B, R, D); `mask` (B, R) is true where the picture has a region."""
        memory = self.dropout(self.dense(features), training=training)  # (B, R, U)
        is_region = ops.expand_dims(ops.cast(mask, memory.dtype), -1)
        mean = ops.sum(memory * is_region, axis=1) / ops.maximum(ops.sum(is_region, axis=1), 1)
        states = (mean,) * len(STATE_NAMES[self.config.cell])
        return EncoderOutput(memory=memory, final_states=(states,) * self.config.layers)
