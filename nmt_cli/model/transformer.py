"""The Transformer of Vaswani et al. (2017) with layer normalisation before each sublayer: encoder and decoder.

A sublayer computes x + dropout(sublayer(norm(x))), and each stack ends with one more norm. Source: Xiong et al. (2020),
"On Layer Normalization in the Transformer Architecture".

The decoder has a single computation: T new positions attend to the cached ones and to themselves. Teacher forcing runs
it on all positions with an empty cache; a search step runs it on one position, with its predecessors in the cache.

Letters: N rows, T new target positions, P cached ones, S source positions, L positions of either side, E width, H
heads, D width of a head (E / H)."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.attention import MASKED, DecoderState
from nmt_cli.model.cells import Dropout
from nmt_cli.model.config import TransformerConfig
from nmt_cli.model.decoders import DecoderStep
from nmt_cli.model.encoders import EncoderOutput

# The encodings of positions that a Transformer adds to its embeddings: L positions in, (L, E) out.


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


EPSILON = 1e-6  # of the norms


def choose_rate(rate: float | None, config: TransformerConfig) -> float:
    """Returns a dropout's own rate or, by default, that of embeddings and residuals."""
    return config.dropout if rate is None else rate


class HeadedAttention(keras.layers.MultiHeadAttention):
    """Keras' multi-head attention for precomputed keys and values, with weights in float32.

    As in the paper (section 3.2.2), the projections have no bias. Keras' own softmax computes in the layer's dtype, but
    in bfloat16 the weights of a row do not sum to 1.
    """

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        # Glorot's range for an E x E matrix. Keras takes the kernel (E, H, D) for a convolution's: a far smaller range.
        limit = (3 / config.embedding) ** 0.5
        super().__init__(
            num_heads=config.heads,
            key_dim=config.embedding // config.heads,
            use_bias=False,
            kernel_initializer=keras.initializers.RandomUniform(-limit, limit),
            **kwargs,
        )
        self.dropout_of_weights = Dropout(choose_rate(config.attention_dropout, config))

    def project_memory(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the keys and values (N, L, H, D) of `memory` (N, L, E)."""
        return self.key_dense(memory), self.value_dense(memory)

    def attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor, training: bool
    ) -> tuple[Tensor, Tensor]:
        """Returns the output (N, T, E) for `queries` (N, T, E) and the weights (N, H, T, L).

        `mask` (N or 1, T or 1, L) is true where a query may attend to a position.
        """
        contexts, weights = self._compute_attention(self.query_dense(queries), keys, values, mask, training)
        return self.output_dense(contexts), weights

    def _compute_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Computes equation 1 on projected queries (N, T, H, D), keys and values (N, L, H, D).

        Keras calls this method and documents that it may be overridden.
        """
        energies = ops.einsum("nlhd,nthd->nhtl", key, query * self.key_dim**-0.5)
        energies = ops.cast(energies, "float32")
        if attention_mask is not None:
            energies = ops.where(ops.expand_dims(attention_mask, 1), energies, MASKED)
        # Not ops.softmax: it warns about a single position, which is all that the first step has.
        weights = ops.exp(ops.log_softmax(energies, axis=-1))
        dropped_out = ops.cast(self.dropout_of_weights(weights, training=training), value.dtype)
        return ops.einsum("nhtl,nlhd->nthd", dropped_out, value), weights


class FeedForward(keras.layers.Layer):
    """Computes max(0, x W1 + b1) W2 + b2 at each position. Source: Vaswani et al. (2017), equation 2."""

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = keras.layers.Dense(config.feed_forward, activation="relu", name="inner")
        self.outer = keras.layers.Dense(config.embedding, name="outer")
        self.dropout = Dropout(choose_rate(config.feed_forward_dropout, config))

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.inner.build(input_shape)
        self.outer.build((*input_shape[:-1], self.inner.units))
        self.built = True

    def call(self, value: Tensor, training: bool = False) -> Tensor:
        return self.outer(self.dropout(self.inner(value), training=training))


class Stack(keras.layers.Layer):
    """Shared by encoder and decoder: positions at the start, a stack of layers, a norm at the end."""

    def __init__(self, config: TransformerConfig, layer_class: type[TransformerLayer], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.positions = POSITIONS[config.positions](config, name="positions")
        self.layers = [layer_class(config, name=f"layer_{index}") for index in range(config.layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="norm")
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.positions.build((None,))
        for layer in (*self.layers, self.norm):
            layer.build((None, None, self.config.embedding))
        self.built = True

    def add_positions(self, embedded: Tensor, positions: Tensor) -> Tensor:
        """Adds the `positions` (L,) to embeddings (N, L, E), scaled to variance 1 as in the paper (section 3.4)."""
        scaled = embedded * self.config.embedding**0.5
        return scaled + ops.cast(self.positions(positions), scaled.dtype)


class TransformerLayer(keras.layers.Layer):
    """Self-attention and a feed-forward network, each with a norm before it and a residual connection around it."""

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.self_attention = HeadedAttention(config, name="self_attention")
        self.feed_forward = FeedForward(config, name="feed_forward")
        self.self_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="self_norm")
        self.feed_forward_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="feed_forward_norm")
        self.dropout = Dropout(config.dropout)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.self_attention.build(input_shape, input_shape)
        for layer in (self.feed_forward, self.self_norm, self.feed_forward_norm):
            layer.build(input_shape)
        self.built = True

    def add_residual(self, value: Tensor, output: Tensor, training: bool) -> Tensor:
        """Adds the output of a sublayer, with its dropout, to the sublayer's input `value`."""
        return value + self.dropout(output, training=training)

    def run_feed_forward(self, value: Tensor, training: bool) -> Tensor:
        """Runs the sublayer with the feed-forward network on `value` (N, L, E)."""
        return self.add_residual(value, self.feed_forward(self.feed_forward_norm(value), training=training), training)


class EncoderLayer(TransformerLayer):
    """A layer of the encoder: both of its sublayers see the whole sentence."""

    def call(self, value: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """Runs the layer on `value` (N, S, E); `mask` (N, 1, S) is true on tokens."""
        normed = self.self_norm(value)
        output = self.self_attention(normed, normed, attention_mask=mask, training=training)
        return self.run_feed_forward(self.add_residual(value, output, training), training)


class DecoderLayer(TransformerLayer):
    """A layer of the decoder: it attends to the source between the two sublayers of an encoder layer."""

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.source_attention = HeadedAttention(config, name="source_attention")
        self.source_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="source_norm")

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        super().build(input_shape)
        self.source_attention.build(input_shape, input_shape)
        self.source_norm.build(input_shape)

    def attend_to_target(
        self, value: Tensor, cache: tuple[Tensor, Tensor], mask: Tensor, training: bool
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Runs self-attention on `value` (N, T, E).

        Returns the sublayer's output, and the cache: keys and values (N, P, H, D), with the T new positions appended.
        """
        normed = self.self_norm(value)
        new = self.self_attention.project_memory(normed)
        keys, values = (ops.concatenate(tensors, axis=1) for tensors in zip(cache, new, strict=True))
        output, _ = self.self_attention.attend(normed, keys, values, mask, training)
        return self.add_residual(value, output, training), (keys, values)

    def attend_to_source(
        self, value: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, training: bool
    ) -> tuple[Tensor, Tensor]:
        """Runs attention from `value` (N, T, E) to the keys and values of the source.

        Returns the sublayer's output and the weights (N, H, T, S).
        """
        output, weights = self.source_attention.attend(self.source_norm(value), *source, mask, training)
        return self.add_residual(value, output, training), weights


class TransformerEncoder(Stack):
    """The encoder, which returns a memory and no final states."""

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(config, EncoderLayer, **kwargs)

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> EncoderOutput:
        """Encodes `embedded` (N, S, E); `mask` (N, S) is true on tokens."""
        value = self.add_positions(embedded, ops.arange(ops.shape(embedded)[1]))
        for layer in self.layers:
            value = layer(value, ops.expand_dims(mask, 1), training=training)
        return EncoderOutput(memory=self.norm(value), final_states=())


class TransformerDecoder(Stack):
    """The decoder. Its state holds the keys and values of every layer, for source and target.

    No step changes the source's. The target's, `keys_I` and `values_I` (N, P, H, D) of layer I, start with P = 0 and
    grow by one position at each step.
    """

    def __init__(self, config: TransformerConfig, **kwargs: Any) -> None:
        super().__init__(config, DecoderLayer, **kwargs)

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        """Returns the state before the first token.

        No step reads `memory`, which serves callers that want the output of the encoder.
        """
        state: DecoderState = {"memory": encoded.memory, "bias": bias}
        for index, layer in enumerate(self.layers):
            keys, values = layer.source_attention.project_memory(encoded.memory)
            empty = ops.zeros_like(keys[:, :0])
            state |= {f"source_keys_{index}": keys, f"source_values_{index}": values}
            state |= {f"keys_{index}": empty, f"values_{index}": empty}
        return state

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        """Runs one step on the previous token `embedded` (N, E).

        The weights are those of the last layer, averaged over its heads.
        """
        readout, changed, weights = self.run(ops.expand_dims(embedded, 1), state, training=False)
        return DecoderStep(changed, readout[:, 0], ops.mean(weights[-1][:, :, 0], axis=1))

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        """Returns the readouts (T, N, E) of all steps at once, given all previous tokens (T, N, E)."""
        readouts, _, _ = self.run(ops.transpose(embedded, (1, 0, 2)), state, training)
        return ops.transpose(readouts, (1, 0, 2))

    def run(self, embedded: Tensor, state: DecoderState, training: bool) -> tuple[Tensor, DecoderState, list[Tensor]]:
        """Runs T new positions (N, T, E) after the cached ones.

        Returns the readouts (N, T, E), the new cache, and the weights (N, H, T, S) of each layer on the source.
        """
        cached, new = ops.shape(state["keys_0"])[1], ops.shape(embedded)[1]
        positions = ops.arange(cached + new)
        # A position attends to itself and to those before it, and to all tokens of the source.
        is_past = ops.expand_dims(ops.expand_dims(positions[cached:], -1) >= positions, 0)  # (1, T, P + T)
        is_token = ops.expand_dims(ops.equal(state["bias"], 0), 1)  # (N, 1, S)
        value = self.add_positions(embedded, positions[cached:])
        changed: DecoderState = {}
        weights: list[Tensor] = []
        for index, layer in enumerate(self.layers):
            cache, source = select_keys_and_values(state, "", index), select_keys_and_values(state, "source_", index)
            value, cache = layer.attend_to_target(value, cache, is_past, training)
            value, layer_weights = layer.attend_to_source(value, source, is_token, training)
            weights.append(layer_weights)
            value = layer.run_feed_forward(value, training)
            changed |= {f"keys_{index}": cache[0], f"values_{index}": cache[1]}
        return self.norm(value), changed, weights


def select_keys_and_values(state: DecoderState, kind: str, index: int) -> tuple[Tensor, Tensor]:
    """Returns the keys and values of layer `index` in the state; `kind` is "source_", or "" for the target."""
    return state[f"{kind}keys_{index}"], state[f"{kind}values_{index}"]
