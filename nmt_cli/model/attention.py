"""How a decoder state looks back at the source.

Letters: N rows (sentences or hypotheses), Q queries of each, which may be all its steps at once, S source positions, M
width of the memory, A width of the comparison, U width of the query, H heads.

An attention remembers what it needs of the source under names of its own (`remember`), and reads it again (`call`).
Weights are float32, 0 on padding, and sum to 1.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from nmt_cli.model.encoders import Encoded
from nmt_cli.model.fast.recurrence import Attended

Tensor = Any
State = dict[str, Tensor]

MASKED = -1e9  # exp(MASKED - anything the network produces) is exactly 0 in float32


class Attention(keras.layers.Layer):
    """Base of all: weights are the softmax of energies over true positions, the context is their sum of memory."""

    asks = True  # whether the context depends on the query

    def __init__(self, units: int, heads: int = 1, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)  # the bias is no number to be rounded
        self.units = units
        self.heads = heads

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        self.built = True

    def remember(self, encoded: Encoded, bias: Tensor) -> State:
        """What of the source every step reads: memory (N, S, M), bias (N, S), 0 or MASKED, and what is made of them."""
        return {"memory": encoded.memory, "bias": bias}

    def energies(self, query: Tensor, state: State) -> Tensor:
        """How well each position answers each query, (N, Q, S)."""
        raise NotImplementedError

    def written_out(self, state: State) -> Attended | None:
        """What `recurrence.py` needs to run this attention over time, if it knows it."""
        return None

    def call(self, query: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Context (N, Q, M) and weights (N, Q, S) of `query` (N, Q, U)."""
        weights = weigh(self.energies(query, state), state)
        return mix(weights, state["memory"]), weights

    def ask(self, query: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """The same of one query a row: context (N, M) and weights (N, S) of `query` (N, U)."""
        context, weights = self(ops.expand_dims(query, 1), state)
        return ops.squeeze(context, 1), ops.squeeze(weights, 1)


class AdditiveAttention(Attention):
    """Bahdanau's: v . tanh(W q + K m), which is also Luong's `concat`.

    Sources: Bahdanau, Cho, Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and Translate",
    section A.1.2; Luong, Pham, Manning (2015), equation 8.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        self.query_projection = dense(self.units, query_shape, "query")
        self.key_projection = dense(self.units, memory_shape, "key", use_bias=True)
        self.energy = dense(1, (None, None, self.units), "energy")
        self.built = True

    def remember(self, encoded: Encoded, bias: Tensor) -> State:
        return {**super().remember(encoded, bias), "keys": self.key_projection(encoded.memory)}

    def energies(self, query: Tensor, state: State) -> Tensor:
        queries, keys = ops.expand_dims(self.query_projection(query), 2), ops.expand_dims(state["keys"], 1)
        compared = ops.tanh(queries + keys)  # (N, Q, S, A)
        return ops.squeeze(self.energy(compared), -1)

    def written_out(self, state: State) -> Attended | None:
        return Attended(
            keys=ops.cast(state["keys"], "float32"),
            memory=state["memory"],
            bias=state["bias"],
            query=ops.cast(self.query_projection.kernel, "float32"),
            energy=ops.cast(self.energy.kernel, "float32"),
        )


class DotAttention(Attention):
    """Luong's `dot`: q . m. Source: Luong, Pham, Manning (2015), "Effective Approaches to Attention", equation 8."""

    def energies(self, query: Tensor, state: State) -> Tensor:
        return compare(query, state["memory"])


class GeneralAttention(Attention):
    """Luong's `general`: q . W m (2015, equation 8), where W = V / sqrt(U) and V is learned.

    Where widths are equal W starts as the identity, so that it begins as `dot`: the state that emits a word is near
    the memory of that word, since both come of the same embeddings. The scale keeps it near: U^2 products enter an
    energy, and a step of Adam that moves each weight of W itself by 0.002 may move the energy by dozens.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        width = query_shape[-1] or 0
        self.scale = width**-0.5
        start = keras.initializers.Orthogonal(1 / self.scale)
        if width == memory_shape[-1]:
            start = keras.initializers.Identity(1 / self.scale)
        self.key_projection = dense(width, memory_shape, "key", start=start)
        self.built = True

    def remember(self, encoded: Encoded, bias: Tensor) -> State:
        return {**super().remember(encoded, bias), "keys": self.key_projection(encoded.memory) * self.scale}

    def energies(self, query: Tensor, state: State) -> Tensor:
        return compare(query, state["keys"])


class ScaledDotAttention(Attention):
    """q W_Q . m W_K / sqrt(A / H), with H heads that each weigh their own part of the memory.

    Source: Vaswani et al. (2017), "Attention Is All You Need", equation 1. The weights told are the heads' mean.
    It starts, as `general` does, from the dot product: where widths are equal both projections start as one, and its
    gain makes up for the scale.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        start = keras.initializers.Orthogonal((self.units // self.heads) ** 0.25)
        self.query_projection = dense(self.units, query_shape, "query", start=start)
        self.key_projection = dense(self.units, memory_shape, "key", start=start)
        if query_shape[-1] == memory_shape[-1]:
            self.key_projection.kernel.assign(self.query_projection.kernel)
        self.built = True

    def remember(self, encoded: Encoded, bias: Tensor) -> State:
        state = super().remember(encoded, bias)
        state["keys"] = self.apart(self.key_projection(encoded.memory), bias)
        return state if self.heads == 1 else {**state, "values": self.apart(encoded.memory, bias)}

    def call(self, query: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Keys and values of several heads stand apart, (N, H, S, A / H) and (N, H, S, M / H), to be asked at once."""
        scale = (self.units // self.heads) ** -0.5
        queries = self.apart(self.query_projection(query), state["bias"])
        weights = weigh(ops.cast(compare(queries, state["keys"]), "float32") * scale, state)
        if self.heads == 1:
            return mix(weights, state["memory"]), weights
        contexts = ops.transpose(mix(weights, state["values"]), (0, 2, 1, 3))  # (N, Q, H, M / H)
        together = (ops.shape(state["bias"])[0], query.shape[1] or -1, self.heads * contexts.shape[-1])
        return ops.reshape(contexts, together), ops.mean(weights, axis=1)

    def apart(self, values: Tensor, bias: Tensor) -> Tensor:
        """Of each head its part (N, H, L, W / H) of `values` (N, L, W); of a single one all. N is that of `bias`.

        N is not read off `values`: tf2onnx 1.17 takes the shape of a product in three dimensions for that of the one in
        two that it makes of it. A length that is known stays known: `ask` has one query.
        """
        if self.heads == 1:
            return values
        width = values.shape[-1] // self.heads
        parts = ops.reshape(values, (ops.shape(bias)[0], values.shape[1] or -1, self.heads, width))
        return ops.transpose(parts, (0, 2, 1, 3))


class NoAttention(Attention):
    """The plain encoder-decoder: the context is the encoder's last state, whatever is asked. No weights: all are 0.

    Sources: Cho et al. (2014); Sutskever, Vinyals, Le (2014), "Sequence to Sequence Learning with Neural Networks".
    """

    asks = False

    def remember(self, encoded: Encoded, bias: Tensor) -> State:
        return {"summary": encoded.final[-1][0], "bias": bias}

    def call(self, query: Tensor, state: State) -> tuple[Tensor, Tensor]:
        nothing = ops.zeros_like(query[..., :1])  # (N, Q, 1)
        summary, bias = (ops.expand_dims(state[name], 1) for name in ("summary", "bias"))
        return summary + nothing, ops.zeros_like(bias) + ops.cast(nothing, "float32")


def dense(
    units: int,
    input_shape: tuple[int | None, ...],
    name: str,
    *,
    use_bias: bool = False,
    start: str | keras.initializers.Initializer = "glorot_uniform",
) -> keras.layers.Dense:
    layer = keras.layers.Dense(units, use_bias=use_bias, kernel_initializer=start, name=name)
    layer.build(input_shape)
    return layer


def compare(query: Tensor, keys: Tensor) -> Tensor:
    """Dot products (..., Q, S) of `query` (..., Q, U) with `keys` (..., S, U)."""
    return ops.matmul(ops.cast(query, keys.dtype), ops.swapaxes(keys, -2, -1))


def weigh(energies: Tensor, state: State) -> Tensor:
    """The softmax of `energies` (N, ..., Q, S) over true positions, in float32."""
    between = tuple(range(1, len(energies.shape) - 1))
    return ops.softmax(ops.cast(energies, "float32") + ops.expand_dims(state["bias"], between), axis=-1)


def mix(weights: Tensor, memory: Tensor) -> Tensor:
    """The sums (..., Q, M) of `memory` (..., S, M) with `weights` (..., Q, S)."""
    return ops.matmul(ops.cast(weights, memory.dtype), memory)


def padding_bias(mask: Tensor) -> Tensor:
    """0 where `mask` (N, S) is true and MASKED where there is padding: what is added to energies."""
    return ops.cast(ops.logical_not(mask), "float32") * MASKED
