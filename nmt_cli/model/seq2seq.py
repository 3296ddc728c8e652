"""The network: `encode` and `step`, and teacher forcing that runs the same decoder over all positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import PAD, START, Tensor
from nmt_cli.errors import OptionError
from nmt_cli.model.attention import MASKED, DecoderState, make_padding_bias
from nmt_cli.model.cells import Dropout
from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig, Vocabularies
from nmt_cli.model.decoders import RecurrentDecoder, make_recurrent_decoder
from nmt_cli.model.encoders import GridEncoder, RecurrentEncoder
from nmt_cli.model.transformer import TransformerDecoder, TransformerEncoder

# The encoder and decoder of each architecture.
#
# An encoder is called with embedded tokens or features (B, S, E) and their mask (B, S), and returns an `EncoderOutput`.
# A decoder has `init_state` (the state before the first token), `step` (one step) and `teacher_force` (all steps, given
# the true tokens).


Encoder = RecurrentEncoder | GridEncoder | TransformerEncoder
Decoder = RecurrentDecoder | TransformerDecoder


def make_encoder(config: ModelConfig, *, reads_pictures: bool, name: str) -> Encoder:
    """Returns the encoder of text or of pictures. Raises OptionError if these settings do not allow pictures."""
    match config:
        case RnnConfig() if not reads_pictures:
            return RecurrentEncoder(config, name=name)
        case RnnConfig() if not config.attend_embeddings:
            return GridEncoder(config, name=name)
        case RnnConfig():
            raise OptionError(
                "--attend-embeddings needs text, but the sources of this corpus are pictures",
                hint="leave --attend-embeddings out",
            )
        case TransformerConfig() if not reads_pictures:
            return TransformerEncoder(config, name=name)
    raise OptionError(
        f"--architecture {config.architecture} needs text, but the sources of this corpus are pictures",
        hint="use --architecture rnn",
    )


def make_decoder(config: ModelConfig, *, name: str) -> Decoder:
    """Returns the decoder of the architecture."""
    if isinstance(config, TransformerConfig):
        return TransformerDecoder(config, name=name)
    if isinstance(config, RnnConfig):
        return make_recurrent_decoder(config, name)
    raise TypeError(f"{type(config).__name__} has no decoder")


# The input of the network: ids or features of the source, as vectors and a mask.
#
# Letters: B sentences or pictures, S positions (tokens or regions), D depth of features.


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
        """Builds nothing, because nothing is learned before the encoder."""

    def embed(self, source: Tensor, training: bool) -> Tensor:
        return ops.where(ops.isnan(source), ops.zeros_like(source), source)

    def mask(self, source: Tensor) -> Tensor:
        return ops.logical_not(ops.isnan(source[..., 0]))


SourceInput = TokenInput | GridInput  # the array that `encode` takes


# The network: `encode` and `step`, and teacher forcing that runs the same decoder over all positions.
#
# Letters: B sentences, S source positions, T target positions, N rows, V target vocabulary, E embedding width, R width
# of the readout. Ids: 0 is padding, 2 starts and 3 ends a sentence (`arrays/types.py`).


TINY = 1e-12  # is added to the square of a length, so that the gradient at zero is finite


@dataclass(frozen=True)
class NetworkStep:
    """One decoding step of N rows."""

    log_probabilities: Tensor  # (N, V), natural logarithm
    attention: Tensor  # (N, S)
    changed: DecoderState  # the entries of the state that this step changed


class Seq2Seq(keras.Model):
    """An encoder and a decoder of any architecture.

    The state is a flat dict of arrays whose axis 0 is the row. Its keys are the names of the graph inputs and outputs
    in the export.
    """

    def __init__(self, config: ModelConfig, vocabularies: Vocabularies, **kwargs: Any) -> None:
        super().__init__(**{"name": "network", **kwargs})  # names of layers are the names of the saved weights
        self.config = config
        rows = vocabularies.source if vocabularies.joint else vocabularies.target
        self.target_embedding = make_embedding(rows, config.embedding, "target_embedding")
        self.dropout = Dropout(config.dropout)
        self.source = self.make_source_input(vocabularies)
        self.encoder = make_encoder(config, reads_pictures=bool(vocabularies.features), name="encoder")
        self.decoder = make_decoder(config, name="decoder")
        tied_to = self.target_embedding if config.tied else None
        self.output_layer = OutputLayer(
            vocabularies.target, tied_to=tied_to, fixed_norm=config.fixed_norm, name="output"
        )
        self.build()

    def make_source_input(self, vocabularies: Vocabularies) -> SourceInput:
        """Returns the input for pictures or text; with a joint vocabulary, its embedding is the target's."""
        if vocabularies.features:
            return GridInput(vocabularies.features)
        if vocabularies.joint:
            return TokenInput(self.target_embedding, self.dropout)
        self.source_embedding = make_embedding(vocabularies.source, self.config.embedding, "source_embedding")
        return TokenInput(self.source_embedding, self.dropout)

    def build(self, input_shape: Any = None) -> None:
        self.target_embedding.build()
        self.source.build()
        self.encoder.build((None, None, self.source.width))
        self.decoder.build((None, None, self.config.memory_width))
        self.output_layer.build((None, self.config.readout_width))
        self.built = True

    def encode(self, source: Tensor, training: bool = False) -> DecoderState:
        """Returns the state before the first target token; `self.source` describes the array `source`."""
        vectors, mask = self.source.embed(source, training), self.source.mask(source)
        encoded = self.encoder(vectors, mask=mask, training=training)
        return self.decoder.init_state(encoded, make_padding_bias(mask))

    def step(self, tokens: Tensor, state: DecoderState) -> NetworkStep:
        """Feeds the previous tokens (N,) and returns the distribution of the next ones."""
        step = self.decoder.step(self.target_embedding(tokens), state)
        logits = ops.cast(self.output_layer(step.readout), "float32")
        return NetworkStep(
            log_probabilities=ops.log_softmax(logits + self.output_layer.make_forbidden_bias(), axis=-1),
            attention=step.weights,
            changed=step.changed,
        )

    def call(self, source: Tensor, previous_ids: Tensor, training: bool = False) -> Tensor:
        """Returns the logits (T, B, V) of all next tokens under teacher forcing, given the previous ones (B, T)."""
        return self.output_layer(self.compute_readouts(source, previous_ids, training=training))

    def compute_readouts(self, source: Tensor, previous_ids: Tensor, training: bool = False) -> Tensor:
        """Returns the readouts (T, B, R) under teacher forcing. Time comes first, as in a recurrence."""
        state = self.encode(source, training=training)
        embedded = self.dropout(self.target_embedding(ops.transpose(previous_ids)), training=training)  # (T, B, E)
        return self.decoder.teacher_force(embedded, state, training)


class OutputLayer(keras.layers.Layer):
    """Scores the tokens of the target vocabulary.

    Tied weights are the first rows of the target embeddings, as many as the vocabulary has tokens. Source: Press and
    Wolf (2017), "Using the Output Embedding to Improve Language Models". With `fixed_norm` a score is the cosine of the
    readout and the token's weights, times a learned scale shared by all tokens, plus the token's bias, so that frequent
    tokens do not gain from longer weights. Source: Nguyen and Chiang (2018), "Improving Lexical Choice in Neural
    Machine Translation", section 3.
    """

    def __init__(
        self, vocabulary: int, tied_to: keras.layers.Embedding | None, fixed_norm: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary = vocabulary
        self.tied_to = tied_to
        self.fixed_norm = fixed_norm

    def build(self, readout_shape: tuple[int | None, ...]) -> None:
        if self.tied_to is None:
            self.kernel = self.add_weight(shape=(self.vocabulary, readout_shape[-1]), name="kernel")
        self.bias = self.add_weight(shape=(self.vocabulary,), initializer="zeros", name="bias")
        if self.fixed_norm:  # random cosines have variance 1 / R: scores start with variance 1
            start = keras.initializers.Constant((readout_shape[-1] or 1) ** 0.5)
            self.scale = self.add_weight(shape=(), initializer=start, name="scale")
        self.built = True

    def call(self, readout: Tensor) -> Tensor:
        """Returns the logits (..., V) of `readout` (..., R); with tied weights R must be E."""
        rows = ops.transpose(ops.cast(self.rows, readout.dtype))
        return ops.matmul(self.prepare_readout(readout), rows) + ops.cast(self.bias, readout.dtype)

    def prepare_readout(self, readout: Tensor) -> Tensor:
        """Returns the vectors (..., R) that multiply the rows: `readout`, scaled to unit length with `fixed_norm`."""
        if not self.fixed_norm:
            return readout
        return ops.cast(scale_to_unit_length(ops.cast(readout, "float32")), readout.dtype)

    @property
    def rows(self) -> Tensor:
        """The weights (V, R), one row per token: the kernel, or the tied embeddings."""
        table = self.kernel if self.tied_to is None else self.tied_to.embeddings
        rows = table.value if table.shape[0] == self.vocabulary else table.value[: self.vocabulary]
        return scale_to_unit_length(rows) * self.scale.value if self.fixed_norm else rows

    def make_forbidden_bias(self) -> Tensor:
        """Returns (V,): MASKED for padding and start of sentence, which never come next; else 0."""
        ids = ops.arange(self.vocabulary)
        is_forbidden = ops.logical_or(ops.equal(ids, PAD), ops.equal(ids, START))
        return ops.cast(is_forbidden, "float32") * MASKED


def scale_to_unit_length(vectors: Tensor) -> Tensor:
    """Divides each of the `vectors` (..., R) by its length; a zero vector is unchanged."""
    return vectors * ops.rsqrt(ops.sum(ops.square(vectors), axis=-1, keepdims=True) + TINY)


def make_embedding(vocabulary: int, width: int, name: str) -> keras.layers.Embedding:
    """Returns token embeddings of variance 1 / width, so that tied output scores start with a variance of about 1."""
    initializer = keras.initializers.RandomNormal(stddev=width**-0.5)
    return keras.layers.Embedding(vocabulary, width, embeddings_initializer=initializer, name=name)
