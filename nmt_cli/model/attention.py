"""Attention of a decoder state to the source.

An attention layer computes its view of the source once (`init_state`), under its own names, and reads it at every step
(`call`). Weights are float32, 0 on padding, and sum to 1.

Letters: N rows (sentences or hypotheses), Q queries per row, which may be all its steps at once, S source positions, M
width of the memory, A width of the comparison, U width of the query, H heads.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import NamedTensors, Tensor
from nmt_cli.model.encoders import EncoderOutput
from nmt_cli.model.recurrence import AttentionTensors

DecoderState = NamedTensors

MASKED = -1e9  # exp(MASKED - anything the network produces) is exactly 0 in float32


class Attention(keras.layers.Layer):
    """The base class: weights are the softmax of energies over tokens; the context is the memory weighted by them."""

    uses_query = True  # whether the context depends on the query

    def __init__(self, units: int, heads: int = 1, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)  # the bias stays in float32
        self.units = units
        self.heads = heads

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        self.built = True

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        """Returns the entries about the source that every step reads.

        These are the memory (N, S, M), `bias` (N, S), which is 0 on tokens and MASKED on padding, and whatever a kind
        of attention computes from them.
        """
        return {"memory": encoded.memory, "bias": bias}

    def compute_energies(self, query: Tensor, state: DecoderState) -> Tensor:
        """Returns the energies (N, Q, S): how well each position matches each query (N, Q, U)."""
        raise NotImplementedError

    def collect_tensors(self, state: DecoderState) -> AttentionTensors | None:
        """Returns the tensors with which `recurrence.py` runs this attention; None for a kind it does not know."""
        return None

    def call(self, query: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        """Returns the contexts (N, Q, M) and weights (N, Q, S) of `query` (N, Q, U)."""
        weights = compute_weights(self.compute_energies(query, state), state)
        return mix_memory(weights, state["memory"]), weights

    def attend(self, query: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        """Returns the context (N, M) and weights (N, S) of `query` (N, U), one for each row."""
        context, weights = self(ops.expand_dims(query, 1), state)
        return ops.squeeze(context, 1), ops.squeeze(weights, 1)


class AdditiveAttention(Attention):
    """Bahdanau's attention: the energy is v . tanh(W q + K m). Also known as Luong's `concat`.

    `recurrence.py` repeats these equations for speed; its docstring names the test that checks that both agree.
    Sources: Bahdanau, Cho, Bengio (2015), "Neural Machine Translation by Jointly Learning to Align and Translate",
    section A.1.2; Luong, Pham, Manning (2015), equation 8.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        self.query_projection = build_dense(self.units, query_shape, "query")
        self.key_projection = build_dense(self.units, memory_shape, "key", use_bias=True)
        self.energy = build_dense(1, (None, None, self.units), "energy")
        self.built = True

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        return {**super().init_state(encoded, bias), "keys": self.key_projection(encoded.memory)}

    def compute_energies(self, query: Tensor, state: DecoderState) -> Tensor:
        queries, keys = ops.expand_dims(self.query_projection(query), 2), ops.expand_dims(state["keys"], 1)
        compared = ops.tanh(queries + keys)  # (N, Q, S, A)
        return ops.squeeze(self.energy(compared), -1)

    def collect_tensors(self, state: DecoderState) -> AttentionTensors | None:
        return AttentionTensors(
            keys=ops.cast(state["keys"], "float32"),
            memory=state["memory"],
            bias=state["bias"],
            query=ops.cast(self.query_projection.kernel, "float32"),
            energy=ops.cast(self.energy.kernel, "float32"),
        )


class DotAttention(Attention):
    """Luong's `dot`: the energy is q . m.

    Source: Luong, Pham, Manning (2015), "Effective Approaches to Attention-based Neural Machine Translation",
    equation 8.
    """

    def compute_energies(self, query: Tensor, state: DecoderState) -> Tensor:
        return compute_dot_products(query, state["memory"])


class GeneralAttention(Attention):
    """Luong's `general`: the energy is q . W m (2015, equation 8), where W = V / sqrt(U) and V is learned.

    If the widths are equal, W starts as the identity, so that training begins with `dot`: the state that emits a word
    is near the memory of that word, since both are made from the same embeddings. The scale keeps them near. An energy
    sums U^2 products; without the scale, an Adam step that moved each weight of W by 0.002 could change it by dozens.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        width = query_shape[-1] or 0
        self.scale = width**-0.5
        start = keras.initializers.Orthogonal(1 / self.scale)
        if width == memory_shape[-1]:
            start = keras.initializers.Identity(1 / self.scale)
        self.key_projection = build_dense(width, memory_shape, "key", start=start)
        self.built = True

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        return {**super().init_state(encoded, bias), "keys": self.key_projection(encoded.memory) * self.scale}

    def compute_energies(self, query: Tensor, state: DecoderState) -> Tensor:
        return compute_dot_products(query, state["keys"])


class ScaledDotAttention(Attention):
    """The Transformer's attention: energies are q W_Q . m W_K / sqrt(A / H), for H heads.

    Each head weighs its own part of the memory; the weights returned are the mean over all heads. Like `general` it
    starts from the dot product: if the widths are equal, both projections start as the same matrix, whose gain makes
    up for the scale. Source: Vaswani et al. (2017), "Attention Is All You Need", equation 1.
    """

    def build(self, query_shape: tuple[int | None, ...], memory_shape: tuple[int | None, ...]) -> None:
        start = keras.initializers.Orthogonal((self.units // self.heads) ** 0.25)
        self.query_projection = build_dense(self.units, query_shape, "query", start=start)
        self.key_projection = build_dense(self.units, memory_shape, "key", start=start)
        if query_shape[-1] == memory_shape[-1]:
            self.key_projection.kernel.assign(self.query_projection.kernel)
        self.built = True

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        state = super().init_state(encoded, bias)
        state["keys"] = self.split_heads(self.key_projection(encoded.memory), bias)
        return state if self.heads == 1 else {**state, "values": self.split_heads(encoded.memory, bias)}

    def call(self, query: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        """Returns contexts and weights as `Attention.call` does.

        Keys (N, H, S, A / H) and values (N, H, S, M / H) of several heads are split, so that one product serves all.
        """
        scale = (self.units // self.heads) ** -0.5
        queries = self.split_heads(self.query_projection(query), state["bias"])
        weights = compute_weights(ops.cast(compute_dot_products(queries, state["keys"]), "float32") * scale, state)
        if self.heads == 1:
            return mix_memory(weights, state["memory"]), weights
        contexts = ops.transpose(mix_memory(weights, state["values"]), (0, 2, 1, 3))  # (N, Q, H, M / H)
        shape = (ops.shape(state["bias"])[0], query.shape[1] or -1, self.heads * contexts.shape[-1])
        return ops.reshape(contexts, shape), ops.mean(weights, axis=1)

    def split_heads(self, values: Tensor, bias: Tensor) -> Tensor:
        """Splits `values` (N, L, W) into the parts (N, H, L, W / H) of the heads; a single head keeps (N, L, W).

        N is read from `bias`, not `values`: tf2onnx 1.17 turns a three-dimensional product into a two-dimensional one,
        and then uses the latter's shape for the former. A known length stays known: `attend` has one query.
        """
        if self.heads == 1:
            return values
        width = values.shape[-1] // self.heads
        parts = ops.reshape(values, (ops.shape(bias)[0], values.shape[1] or -1, self.heads, width))
        return ops.transpose(parts, (0, 2, 1, 3))


class NoAttention(Attention):
    """The plain encoder-decoder: the context is the encoder's last state, whatever the query. All weights are 0.

    Sources: Cho et al. (2014); Sutskever, Vinyals, Le (2014), "Sequence to Sequence Learning with Neural Networks".
    """

    uses_query = False

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        return {"summary": encoded.final_states[-1][0], "bias": bias}

    def call(self, query: Tensor, state: DecoderState) -> tuple[Tensor, Tensor]:
        zeros = ops.zeros_like(query[..., :1])  # (N, Q, 1)
        summary, bias = (ops.expand_dims(state[name], 1) for name in ("summary", "bias"))
        return summary + zeros, ops.zeros_like(bias) + ops.cast(zeros, "float32")


def build_dense(
    units: int,
    input_shape: tuple[int | None, ...],
    name: str,
    *,
    use_bias: bool = False,
    start: str | keras.initializers.Initializer = "glorot_uniform",
) -> keras.layers.Dense:
    """Returns a dense layer with its weights already built; `start` initialises its kernel."""
    layer = keras.layers.Dense(units, use_bias=use_bias, kernel_initializer=start, name=name)
    layer.build(input_shape)
    return layer


def compute_dot_products(query: Tensor, keys: Tensor) -> Tensor:
    """Returns the dot products (..., Q, S) of `query` (..., Q, U) with `keys` (..., S, U)."""
    return ops.matmul(ops.cast(query, keys.dtype), ops.swapaxes(keys, -2, -1))


def compute_weights(energies: Tensor, state: DecoderState) -> Tensor:
    """Returns the weights of `energies` (N, ..., Q, S): their softmax over tokens, in float32."""
    middle_axes = tuple(range(1, len(energies.shape) - 1))
    return ops.softmax(ops.cast(energies, "float32") + ops.expand_dims(state["bias"], middle_axes), axis=-1)


def mix_memory(weights: Tensor, memory: Tensor) -> Tensor:
    """Returns the contexts (..., Q, M): sums of `memory` (..., S, M), weighted by `weights` (..., Q, S)."""
    return ops.matmul(ops.cast(weights, memory.dtype), memory)


def make_padding_bias(mask: Tensor) -> Tensor:
    """Returns the term added to energies (N, S): 0 on tokens, where `mask` is true, and MASKED on padding."""
    return ops.cast(ops.logical_not(mask), "float32") * MASKED
