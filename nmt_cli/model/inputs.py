"""What the network is given as its source: ids or features, as vectors and a mask.

Letters: B sentences or pictures, S positions (tokens or regions), D depth of features.
"""

from __future__ import annotations

from typing import Any, Protocol

import keras
from keras import ops

from nmt_cli.model.dropout import Dropout

Tensor = Any


class SourceInput(Protocol):
    """The array that `encode` takes, under the name that it has in the export."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]

    @property
    def width(self) -> int:
        """Of the vectors."""
        ...

    def build(self) -> None: ...

    def vectors(self, source: Tensor, training: bool) -> Tensor:
        """(B, S, width): what the encoder reads."""
        ...

    def mask(self, source: Tensor) -> Tensor:
        """(B, S): true where there is something."""
        ...


class TokenInput:
    """Sources that are ids: looked up in an embedding."""

    name = "source_ids"
    dtype = "int32"
    shape: tuple[int | None, ...] = (None, None)

    def __init__(self, embedding: keras.layers.Embedding, dropout: Dropout) -> None:
        self.embedding = embedding
        self.dropout = dropout
        self.width: int = embedding.output_dim

    def build(self) -> None:
        self.embedding.build()

    def vectors(self, source: Tensor, training: bool) -> Tensor:
        return self.dropout(self.embedding(source), training=training)

    def mask(self, source: Tensor) -> Tensor:
        return ops.not_equal(source, 0)


class GridInput:
    """Sources that are features, taken as they are.

    Regions that a picture does not have are NaN (`corpus.grids.padded_grids`).
    """

    name = "source_features"
    dtype = "float32"

    def __init__(self, depth: int) -> None:
        self.shape: tuple[int | None, ...] = (None, None, depth)
        self.width = depth

    def build(self) -> None:
        """Nothing is learned before the encoder."""

    def vectors(self, source: Tensor, training: bool) -> Tensor:
        return ops.where(ops.isnan(source), ops.zeros_like(source), source)

    def mask(self, source: Tensor) -> Tensor:
        return ops.logical_not(ops.isnan(source[..., 0]))
