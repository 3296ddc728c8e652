"""From the features of a picture's regions to what attention reads and the states that the decoder starts from.

Letters: B pictures, R regions, D depth of their features, U units.
Source: Xu et al. (2015), "Show, Attend and Tell", sections 3.1.1 and 3.1.2.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from nmt_cli.model.cells import STATES
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import Encoded

Tensor = Any


class GridEncoder(keras.layers.Layer):
    """Each region for itself through a dense layer with ReLU; the decoder starts from the mean of the regions."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.dense = keras.layers.Dense(config.encoder_width, activation="relu", name="dense")
        self.dropout = Dropout(config.dropout)
        self.supports_masking = True

    def build(self, features_shape: tuple[int | None, ...]) -> None:
        self.dense.build(features_shape)
        self.built = True

    def call(self, features: Tensor, mask: Tensor, training: bool = False) -> Encoded:
        """`features` (B, R, D); `mask` (B, R) is true where the picture has a region."""
        memory = self.dropout(self.dense(features), training=training)  # (B, R, U)
        true = ops.expand_dims(ops.cast(mask, memory.dtype), -1)
        mean = ops.sum(memory * true, axis=1) / ops.maximum(ops.sum(true, axis=1), 1)
        states = (mean,) * len(STATES[self.config.cell])
        return Encoded(memory=memory, final=(states,) * self.config.layers)
