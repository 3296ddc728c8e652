"""The network: `encode` and `step`, and teacher forcing that runs the same decoder over all positions.

Letters: B sentences, S source positions, T target positions, N rows, V target vocabulary,
E embedding width, R width of the readout.
Ids: 0 is padding, 2 starts and 3 ends a sentence (`corpus.tokenizer.Tokenizer`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.special_ids import PAD, START
from nmt_cli.errors import OptionError
from nmt_cli.model.architectures import ARCHITECTURES
from nmt_cli.model.attention import MASKED, State, padding_bias
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.grid_encoder import GridEncoder
from nmt_cli.model.inputs import GridInput, SourceInput, TokenInput

Tensor = Any

TINY = 1e-12  # beside the square of a length: keeps the gradient of zeros finite


@dataclass(frozen=True)
class NetworkStep:
    """One decoding step of N rows."""

    log_probabilities: Tensor  # (N, V), natural logarithm
    attention: Tensor  # (N, S)
    changed: State  # the entries of the state that this step changed


class Seq2Seq(keras.Model):
    """Encoder and decoder of any architecture.

    Its state is a flat dict of arrays, axis 0 the row, under the names of the export.
    """

    def __init__(self, config: ModelConfig, vocabularies: Vocabularies, **kwargs: Any) -> None:
        super().__init__(**{"name": "network", **kwargs})  # names of layers are the names of the saved weights
        self.config = config
        rows = vocabularies.source if vocabularies.joint else vocabularies.target
        self.target_embedding = embedding(rows, config.embedding, "target_embedding")
        self.dropout = Dropout(config.dropout)
        self.source = self.source_input(vocabularies)
        architecture = ARCHITECTURES[config.architecture]
        if vocabularies.features and not architecture.reads_grids:
            raise OptionError(
                f"--architecture {config.architecture} reads text, but the sources of this corpus are pictures",
                hint="take --architecture rnn",
            )
        if vocabularies.features and config.attend_embeddings:
            raise OptionError(
                "--attend-embeddings is about text, but the sources of this corpus are pictures", hint="leave it out"
            )
        self.encoder = (
            GridEncoder(config, name="encoder") if vocabularies.features else architecture.encoder(config, "encoder")
        )
        self.decoder = architecture.decoder(config, "decoder")
        tied_to = self.target_embedding if config.tied else None
        self.output_layer = OutputLayer(
            vocabularies.target, tied_to=tied_to, fixed_norm=config.fixed_norm, name="output"
        )
        self.build()

    def source_input(self, vocabularies: Vocabularies) -> SourceInput:
        if vocabularies.features:
            return GridInput(vocabularies.features)
        if vocabularies.joint:
            return TokenInput(self.target_embedding, self.dropout)
        self.source_embedding = embedding(vocabularies.source, self.config.embedding, "source_embedding")
        return TokenInput(self.source_embedding, self.dropout)

    def build(self, input_shape: Any = None) -> None:
        self.target_embedding.build()
        self.source.build()
        self.encoder.build((None, None, self.source.width))
        self.decoder.build((None, None, self.config.memory_width))
        self.output_layer.build((None, self.config.readout_width))
        self.built = True

    def encode(self, source: Tensor, training: bool = False) -> State:
        """The state before the first target token; `source` is as `self.source` describes it."""
        vectors = self.source.vectors(source, training)
        mask = self.source.mask(source)
        encoded = self.encoder(vectors, mask=mask, training=training)
        return self.decoder.start(encoded, padding_bias(mask))

    def step(self, tokens: Tensor, state: State) -> NetworkStep:
        """Feeds the previous tokens (N,) and gives the distribution of the next."""
        advance = self.decoder.advance(self.target_embedding(tokens), state)
        logits = ops.cast(self.output_layer(advance.read), "float32")
        return NetworkStep(
            log_probabilities=ops.log_softmax(logits + self.output_layer.forbidden(), axis=-1),
            attention=advance.weights,
            changed=advance.changed,
        )

    def call(self, source: Tensor, previous_ids: Tensor, training: bool = False) -> Tensor:
        """Teacher forcing: logits (T, B, V) of every next token, given the true previous ones (B, T)."""
        return self.output_layer(self.read(source, previous_ids, training=training))

    def read(self, source: Tensor, previous_ids: Tensor, training: bool = False) -> Tensor:
        """What the output layer sees (T, B, R) under teacher forcing. Time comes first, as a recurrence leaves it."""
        state = self.encode(source, training=training)
        embedded = self.dropout(self.target_embedding(ops.transpose(previous_ids)), training=training)  # (T, B, E)
        return self.decoder.force(embedded, state, training)


class OutputLayer(keras.layers.Layer):
    """Scores of the target vocabulary, with its embeddings, the first there are, as weights where they are tied.

    Tying is Press and Wolf (2017), "Using the Output Embedding to Improve Language Models".
    With `fixed_norm` a score is the cosine of what is read out and the token's weights, times a scale that is learned
    for all tokens, and the token's bias: no token is likelier for its length alone, as frequent ones are otherwise.
    Source: Nguyen and Chiang (2018), "Improving Lexical Choice in Neural Machine Translation", section 3.
    """

    def __init__(
        self, vocabulary: int, tied_to: keras.layers.Embedding | None, fixed_norm: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary = vocabulary
        self.tied_to = tied_to
        self.fixed_norm = fixed_norm

    def build(self, read_shape: tuple[int | None, ...]) -> None:
        if self.tied_to is None:
            self.kernel = self.add_weight(shape=(self.vocabulary, read_shape[-1]), name="kernel")
        self.bias = self.add_weight(shape=(self.vocabulary,), initializer="zeros", name="bias")
        if self.fixed_norm:  # cosines of R numbers drawn at random have variance 1 / R: the scores begin with one of 1
            start = keras.initializers.Constant((read_shape[-1] or 1) ** 0.5)
            self.scale = self.add_weight(shape=(), initializer=start, name="scale")
        self.built = True

    def call(self, read: Tensor) -> Tensor:
        """Logits (..., V) of `read` (..., R); tied weights want R to be E."""
        rows = ops.transpose(ops.cast(self.rows, read.dtype))
        return ops.matmul(self.compared(read), rows) + ops.cast(self.bias, read.dtype)

    def compared(self, read: Tensor) -> Tensor:
        """What of `read` (..., R) is multiplied with the rows."""
        return ops.cast(of_length_one(ops.cast(read, "float32")), read.dtype) if self.fixed_norm else read

    @property
    def rows(self) -> Tensor:
        """(V, R), whose rows are multiplied with what is read: of the kernel, or of tied embeddings."""
        table = self.kernel if self.tied_to is None else self.tied_to.embeddings
        rows = table.value if table.shape[0] == self.vocabulary else table.value[: self.vocabulary]
        return of_length_one(rows) * self.scale.value if self.fixed_norm else rows

    def forbidden(self) -> Tensor:
        """(V,): MASKED for what is never a next token, the padding and the start of a sentence; 0 for the rest."""
        ids = ops.arange(self.vocabulary)
        never = ops.logical_or(ops.equal(ids, PAD), ops.equal(ids, START))
        return ops.cast(never, "float32") * MASKED


def of_length_one(vectors: Tensor) -> Tensor:
    """`vectors` (..., R), each divided by its length; one of zeros stays so."""
    return vectors * ops.rsqrt(ops.sum(ops.square(vectors), axis=-1, keepdims=True) + TINY)


def embedding(vocabulary: int, width: int, name: str) -> keras.layers.Embedding:
    """Token embeddings of variance 1 / width, so that tied output scores start with variance about 1."""
    initializer = keras.initializers.RandomNormal(stddev=width**-0.5)
    return keras.layers.Embedding(vocabulary, width, embeddings_initializer=initializer, name=name)
