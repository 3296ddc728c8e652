"""The Transformer of Vaswani et al. (2017), with the norm before each part: an encoder and a decoder for `Seq2Seq`.

A part is wrapped as x + dropout(part(norm(x))), with one norm more at the end of each stack: Xiong et al. (2020), "On
Layer Normalization in the Transformer Architecture".

The decoder has one computation: T new positions that look at what was cached and at themselves. Teacher forcing asks
it for all positions behind an empty cache, a step for one position behind those before.

Letters: N rows, T new target positions, P cached ones, S source positions, L positions of either side, E width,
H heads, D width of a head (E / H).
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from nmt_cli.model.attention import MASKED, State
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.decoders import Advance
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import Encoded

Tensor = Any

EPSILON = 1e-6  # of the norms


class HeadedAttention(keras.layers.MultiHeadAttention):
    """Keras' multi-head attention whose keys and values may have been made before, with weights in float32.

    As in the paper (section 3.2.2) the projections have no bias. Keras' own softmax computes in the layer's dtype, and
    rows of bfloat16 do not sum to 1.
    """

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        # Glorot's range of an E x E matrix. Keras takes the kernel (E, H, D) for a convolution: a range far too small.
        limit = (3 / config.embedding) ** 0.5
        super().__init__(
            num_heads=config.heads,
            key_dim=config.embedding // config.heads,
            use_bias=False,
            kernel_initializer=keras.initializers.RandomUniform(-limit, limit),
            **kwargs,
        )
        self.dropout_of_weights = Dropout(config.dropout)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (N, L, H, D) of `memory` (N, L, E)."""
        return self.key_dense(memory), self.value_dense(memory)

    def attend(
        self, asking: Tensor, keys: Tensor, values: Tensor, mask: Tensor, training: bool
    ) -> tuple[Tensor, Tensor]:
        """What `asking` (N, T, E) finds, (N, T, E), and how it weighs, (N, H, T, L); `mask` is as in a call."""
        found, weights = self._compute_attention(self.query_dense(asking), keys, values, mask, training)
        return self.output_dense(found), weights

    def _compute_attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Equation 1 on projected (N, T, H, D) and (N, L, H, D); Keras offers this method to be replaced."""
        energies = ops.einsum("nlhd,nthd->nhtl", key, query * self.key_dim**-0.5)
        # Not ops.softmax, which warns of a single position: the first step has no other.
        weights = ops.exp(ops.log_softmax(masked(ops.cast(energies, "float32"), attention_mask), axis=-1))
        kept = ops.cast(self.dropout_of_weights(weights, training=training), value.dtype)
        return ops.einsum("nhtl,nlhd->nthd", kept, value), weights


def masked(energies: Tensor, mask: Tensor | None) -> Tensor:
    """`energies` (N, H, T, L) with MASKED where `mask` (N or 1, T or 1, L) is false."""
    return energies if mask is None else ops.where(ops.expand_dims(mask, 1), energies, MASKED)


class FeedForward(keras.layers.Layer):
    """max(0, x W1 + b1) W2 + b2 at each position. Source: Vaswani et al. (2017), equation 2."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = keras.layers.Dense(config.feed_forward, activation="relu", name="inner")
        self.outer = keras.layers.Dense(config.embedding, name="outer")
        self.dropout = Dropout(config.dropout)

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.inner.build(input_shape)
        self.outer.build((*input_shape[:-1], self.inner.units))
        self.built = True

    def call(self, value: Tensor, training: bool = False) -> Tensor:
        return self.outer(self.dropout(self.inner(value), training=training))


class Sinusoids(keras.layers.Layer):
    """Position p as sin and cos of p / 10000^(2i/E), in turn. Source: Vaswani et al. (2017), section 3.5."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)
        self.width = config.embedding
        self.rates = np.power(10_000.0, -np.arange(0, config.embedding, 2) / config.embedding).astype(np.float32)

    def call(self, positions: Tensor) -> Tensor:
        """(L, E) in float32, of `positions` (L,)."""
        angles = ops.cast(ops.expand_dims(positions, -1), "float32") * self.rates
        return ops.reshape(ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1), (-1, self.width))


class LearnedPositions(keras.layers.Layer):
    """A vector for each position. Those from `max_positions` on share the last one, which training need never see."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.last = config.max_positions - 1
        deviation = keras.initializers.RandomNormal(stddev=config.embedding**-0.5)
        self.table = keras.layers.Embedding(config.max_positions, config.embedding, deviation, name="table")

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.table.build()
        self.built = True

    def call(self, positions: Tensor) -> Tensor:
        """(L, E), of `positions` (L,)."""
        return self.table(ops.minimum(positions, self.last))


POSITIONS: dict[str, type[keras.layers.Layer]] = {"sinusoidal": Sinusoids, "learned": LearnedPositions}


class Stack(keras.layers.Layer):
    """What encoder and decoder share: positions at the start, layers, a norm at the end."""

    def __init__(self, config: ModelConfig, kind: type[TransformerLayer], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.positions = POSITIONS[config.positions](config, name="positions")
        self.layers = [kind(config, name=f"layer_{index}") for index in range(config.layers)]
        self.norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="norm")
        self.supports_masking = True

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        self.positions.build((None,))
        for layer in (*self.layers, self.norm):
            layer.build((None, None, self.config.embedding))
        self.built = True

    def placed(self, embedded: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (N, L, E), scaled to variance 1 as in the paper (section 3.4), plus their positions (L,)."""
        scaled = embedded * self.config.embedding**0.5
        return scaled + ops.cast(self.positions(positions), scaled.dtype)


class TransformerLayer(keras.layers.Layer):
    """Self-attention and a feed-forward network, each between a norm and a residual."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
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

    def add(self, value: Tensor, found: Tensor, training: bool) -> Tensor:
        return value + self.dropout(found, training=training)

    def fed_forward(self, value: Tensor, training: bool) -> Tensor:
        return self.add(value, self.feed_forward(self.feed_forward_norm(value), training=training), training)


class EncoderLayer(TransformerLayer):
    def call(self, value: Tensor, mask: Tensor, training: bool = False) -> Tensor:
        """`value` (N, S, E); `mask` (N, 1, S) is true where there is a token."""
        normed = self.self_norm(value)
        found = self.self_attention(normed, normed, attention_mask=mask, training=training)
        return self.fed_forward(self.add(value, found, training), training)


class DecoderLayer(TransformerLayer):
    """Between the two parts of an encoder layer, attention to the source."""

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(config, **kwargs)
        self.source_attention = HeadedAttention(config, name="source_attention")
        self.source_norm = keras.layers.LayerNormalization(epsilon=EPSILON, name="source_norm")

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        super().build(input_shape)
        self.source_attention.build(input_shape, input_shape)
        self.source_norm.build(input_shape)

    def look_back(
        self, value: Tensor, cache: tuple[Tensor, Tensor], mask: Tensor, training: bool
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """`value` (N, T, E) after self-attention, and the cache (N, P, H, D) with the T new positions behind it."""
        normed = self.self_norm(value)
        new = self.self_attention.remember(normed)
        keys, values = (ops.concatenate(both, axis=1) for both in zip(cache, new, strict=True))
        found, _ = self.self_attention.attend(normed, keys, values, mask, training)
        return self.add(value, found, training), (keys, values)

    def look_at_source(
        self, value: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, training: bool
    ) -> tuple[Tensor, Tensor]:
        """`value` (N, T, E) after attention to the source's keys and values, and its weights (N, H, T, S)."""
        found, weights = self.source_attention.attend(self.source_norm(value), *source, mask, training)
        return self.add(value, found, training), weights


class TransformerEncoder(Stack):
    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(config, EncoderLayer, **kwargs)

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> Encoded:
        """`embedded` (N, S, E); `mask` (N, S) is true where there is a token."""
        value = self.placed(embedded, ops.arange(ops.shape(embedded)[1]))
        for layer in self.layers:
            value = layer(value, ops.expand_dims(mask, 1), training=training)
        return Encoded(memory=self.norm(value), final=())


class TransformerDecoder(Stack):
    """Its state: of every layer the keys and values of the source, which no step changes, and those of the target.

    `keys_I` and `values_I` (N, P, H, D) of layer I begin with P = 0 and grow by one position a step.
    """

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(config, DecoderLayer, **kwargs)

    def start(self, encoded: Encoded, bias: Tensor) -> State:
        """The state before the first token. `memory` is for whoever wants the encoder's output; no step reads it."""
        state: State = {"memory": encoded.memory, "bias": bias}
        for index, layer in enumerate(self.layers):
            keys, values = layer.source_attention.remember(encoded.memory)
            nothing = ops.zeros_like(keys[:, :0])
            state |= {f"source_keys_{index}": keys, f"source_values_{index}": values}
            state |= {f"keys_{index}": nothing, f"values_{index}": nothing}
        return state

    def advance(self, embedded: Tensor, state: State) -> Advance:
        """One step: `embedded` (N, E) is the previous token. Weights are the last layer's, the mean of its heads."""
        read, changed, weights = self.run(ops.expand_dims(embedded, 1), state, training=False)
        return Advance(changed, read[:, 0], ops.mean(weights[:, :, 0], axis=1))

    def force(self, embedded: Tensor, state: State, training: bool) -> Tensor:
        """What the output layer sees (T, N, E) of all steps at once, given all previous tokens (T, N, E)."""
        read, _, _ = self.run(ops.transpose(embedded, (1, 0, 2)), state, training)
        return ops.transpose(read, (1, 0, 2))

    def run(self, embedded: Tensor, state: State, training: bool) -> tuple[Tensor, State, Tensor]:
        """T positions (N, T, E) behind the cached ones: what is read out of them, the new cache, and the last layer's
        weights (N, H, T, S) on the source."""
        cached, new = ops.shape(state["keys_0"])[1], ops.shape(embedded)[1]
        positions = ops.arange(cached + new)
        past = ops.expand_dims(positions[cached:], -1) >= positions  # (T, P + T): none looks at a later one
        true = ops.expand_dims(ops.equal(state["bias"], 0), 1)  # (N, 1, S)
        value = self.placed(embedded, positions[cached:])
        changed: State = {}
        weights = None
        for index, layer in enumerate(self.layers):
            cache, source = entries(state, "", index), entries(state, "source_", index)
            value, grown = layer.look_back(value, cache, ops.expand_dims(past, 0), training)
            value, weights = layer.look_at_source(value, source, true, training)
            value = layer.fed_forward(value, training)
            changed |= {f"keys_{index}": grown[0], f"values_{index}": grown[1]}
        return self.norm(value), changed, weights


def entries(state: State, kind: str, index: int) -> tuple[Tensor, Tensor]:
    """Keys and values of layer `index` in the state."""
    return state[f"{kind}keys_{index}"], state[f"{kind}values_{index}"]
