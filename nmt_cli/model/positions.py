"""The encodings of positions that a Transformer adds to its embeddings: L positions in, (L, E) out."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.config import TransformerConfig


class Sinusoids(keras.layers.Layer):
    """Encodes position p as sin and cos of p / 10000^(2i/E), alternating.

    Source: Vaswani et al. (2017), section 3.5.
    """

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.width = config.embedding
        self.rates = np.power(10_000.0, -np.arange(0, config.embedding, 2) / config.embedding).astype(np.float32)

    def call(self, positions: Tensor) -> Tensor:
        """Returns the encodings (L, E) of `positions` (L,), in float32."""
        angles = ops.cast(ops.expand_dims(positions, -1), "float32") * self.rates
        return ops.reshape(ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1), (-1, self.width))


class LearnedPositions(keras.layers.Layer):
    """Learns a vector for each position; positions beyond `max_positions` share the last one."""

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.last = config.max_positions - 1
        deviation = keras.initializers.RandomNormal(stddev=config.embedding**-0.5)
        self.table = keras.layers.Embedding(config.max_positions, config.embedding, deviation, name="table")

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.table.build()
        self.built = True

    def call(self, positions: Tensor) -> Tensor:
        """Returns the vectors (L, E) of `positions` (L,)."""
        return self.table(ops.minimum(positions, self.last))


POSITIONS: dict[str, type[keras.layers.Layer]] = {"sinusoidal": Sinusoids, "learned": LearnedPositions}
