"""The input of the network: ids or features of the source, as vectors and a mask.

Letters: B sentences or pictures, S positions (tokens or regions), D depth of features.
"""

from __future__ import annotations

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.dropout import Dropout


class TokenInput:
    """Token ids, looked up in an embedding. `name` is the name of the graph input in the export."""

    name = "source_ids"
    dtype = "int32"
    shape: tuple[int | None, ...] = (None, None)

    def __init__(self, embedding: keras.layers.Embedding, dropout: Dropout) -> None:
        self.embedding = embedding
        self.dropout = dropout
        self.width: int = embedding.output_dim

    def build(self) -> None:
        self.embedding.build()

    def embed(self, source: Tensor, training: bool) -> Tensor:
        """Returns the vectors (B, S, width) that the encoder reads."""
        return self.dropout(self.embedding(source), training=training)

    def mask(self, source: Tensor) -> Tensor:
        """Returns (B, S): true on tokens or regions, false on padding."""
        return ops.not_equal(source, 0)


class GridInput:
    """Features of regions, used unchanged.

    The padding of a picture with fewer regions is NaN (`sources.images.pad_grids`).
    """

    name = "source_features"
    dtype = "float32"

    def __init__(self, depth: int) -> None:
        self.shape: tuple[int | None, ...] = (None, None, depth)
        self.width = depth

    def build(self) -> None:
        """Nothing is learned before the encoder."""

    def embed(self, source: Tensor, training: bool) -> Tensor:
        return ops.where(ops.isnan(source), ops.zeros_like(source), source)

    def mask(self, source: Tensor) -> Tensor:
        return ops.logical_not(ops.isnan(source[..., 0]))


SourceInput = TokenInput | GridInput  # the array that `encode` takes
