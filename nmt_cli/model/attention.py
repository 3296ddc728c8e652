"""How a decoder state looks back at the source.

Letters: N rows (sentences or hypotheses), S source positions, M width of the memory, A width of the comparison,
U width of the query.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

Tensor = Any

MASKED = -1e9  # exp(MASKED - anything the network produces) is exactly 0 in float32


class AdditiveAttention(keras.layers.Layer):
    """Bahdanau's attention: weights softmax_s(v . tanh(W q + K m_s)), context sum_s w_s m_s.

    Source: Bahdanau, Cho, Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and Translate",
    section A.1.2.
    """

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)  # the bias is no number to be rounded
        self.query_projection = keras.layers.Dense(units, use_bias=False, name="query")
        self.key_projection = keras.layers.Dense(units, name="key")
        self.energy = keras.layers.Dense(1, use_bias=False, name="energy")

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        self.query_projection.build(query_shape)
        self.key_projection.build(memory_shape)
        self.energy.build((None, None, self.key_projection.units))
        self.built = True

    def keys(self, memory: Tensor) -> Tensor:
        """What of the memory (N, S, M) does not depend on the query: (N, S, A)."""
        return self.key_projection(memory)

    def distribute(self, query: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
        """Attention weights (N, S) in float32; `query` (N, U), `keys` (N, S, A), `bias` (N, S) is 0 or MASKED."""
        compared = ops.tanh(ops.expand_dims(self.query_projection(query), 1) + keys)  # (N, S, A)
        energies = ops.squeeze(self.energy(compared), -1)
        return ops.softmax(ops.cast(energies, "float32") + bias, axis=-1)

    def call(self, query: Tensor, memory: Tensor, keys: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Context (N, M) and weights (N, S)."""
        weights = self.distribute(query, keys, bias)
        context = ops.squeeze(ops.matmul(ops.expand_dims(ops.cast(weights, memory.dtype), 1), memory), 1)
        return context, weights


def padding_bias(source_ids: Tensor) -> Tensor:
    """0 where `source_ids` (N, S) holds a token and MASKED where it holds padding: what is added to energies."""
    return ops.cast(ops.equal(source_ids, 0), "float32") * MASKED
