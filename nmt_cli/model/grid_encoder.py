"""The encoder of pictures: the features of regions to the memory of attention and the first states of the decoder.

Letters: B pictures, R regions, D depth of their features, U units.
Source: Xu et al. (2015), "Show, Attend and Tell", sections 3.1.1 and 3.1.2.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.cells import STATE_NAMES
from nmt_cli.model.config import RnnConfig
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import EncoderOutput


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
