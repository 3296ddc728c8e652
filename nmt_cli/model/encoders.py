"""The recurrent encoder: turns embedded source tokens into the memory of attention and the decoder's first states.

Letters: B sentences, S source positions, E embedding width, U units of the encoder (both directions together)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray
from PIL.Image import DecompressionBombError

from nmt_cli.arrays.types import FloatArray, Tensor
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import require_file
from nmt_cli.model.cells import LAYERS, STATE_NAMES, Dropout
from nmt_cli.model.config import RnnConfig
from nmt_cli.sources.images import IMAGE_WEIGHTS


@dataclass(frozen=True)
class EncoderOutput:
    """An encoder's output for a batch of sentences or pictures.

    `final_states` holds the last states (B, U) of each layer: the hidden state, followed by the cell state of an LSTM.
    """

    memory: Tensor  # (B, S, U), or (B, S, U + E) with the embeddings appended
    final_states: tuple[tuple[Tensor, ...], ...]


class RecurrentEncoder(keras.layers.Layer):
    """Stacked recurrent layers in one or both directions, with residual connections from the second layer on.

    With `attend_embeddings` the embedding of each token is appended to its memory: attention finds a rare word by the
    word itself, not only by its context. Source: Gehring et al. (2017), "Convolutional Sequence to Sequence Learning",
    section 3.3, who add the two.
    """

    def __init__(self, config: RnnConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = [make_recurrent_layer(config, f"layer_{index}") for index in range(config.layers)]
        self.dropout = Dropout(config.dropout)
        self.units = config.encoder_width
        self.bidirectional = config.bidirectional
        self.attends_embeddings = config.attend_embeddings
        self.supports_masking = True

    def build(self, embedded_shape: tuple[int | None, ...]) -> None:
        width = embedded_shape[-1]
        for layer in self.layers:
            layer.build((None, None, width))
            width = self.units
        self.built = True

    @property
    def directions(self) -> list[keras.layers.Layer]:
        """The recurrent layers themselves: one per layer, or two, forward and backward, if bidirectional."""
        if not self.bidirectional:
            return list(self.layers)
        return [direction for layer in self.layers for direction in (layer.forward_layer, layer.backward_layer)]

    def use_vendor_kernels(self) -> None:
        """Switches to Keras' own implementation for training."""
        for layer in self.directions:
            layer.vendor = True

    def call(self, embedded: Tensor, mask: Tensor, training: bool = False) -> EncoderOutput:
        """Encodes `embedded` (B, S, E), after dropout; `mask` (B, S) is true on tokens.

        Padding never reaches a state.
        """
        final_states = []
        memory = embedded
        for index, layer in enumerate(self.layers):
            layer_input = self.dropout(memory, training=training) if index else memory
            output, *states = layer(layer_input, mask=mask, training=training)
            memory = memory + output if index else output
            final_states.append(concat_directions(states) if self.bidirectional else tuple(states))
        memory = self.dropout(memory, training=training)
        if self.attends_embeddings:
            memory = ops.concatenate([memory, ops.cast(embedded, memory.dtype)], axis=-1)
        return EncoderOutput(memory=memory, final_states=tuple(final_states))


def concat_directions(states: list[Tensor]) -> tuple[Tensor, ...]:
    """Concatenates each state of the forward direction with that of the backward direction.

    Keras returns all forward states first: for an LSTM, forward hidden and cell, then backward hidden and cell.
    """
    half = len(states) // 2
    pairs = zip(states[:half], states[half:], strict=True)
    return tuple(ops.concatenate([forward, backward], axis=-1) for forward, backward in pairs)


def make_recurrent_layer(config: RnnConfig, name: str) -> keras.layers.Layer:
    """Returns a layer of the encoder, in one or both directions."""
    layer_class = LAYERS[config.cell]
    if not config.bidirectional:
        return layer_class(config.encoder_width, return_sequences=True, return_state=True, name=name)
    one_direction = layer_class(config.encoder_width // 2, return_sequences=True, return_state=True, name=config.cell)
    return keras.layers.Bidirectional(one_direction, name=name)


# The encoder of pictures: the features of regions to the memory of attention and the first states of the decoder.
#
# Letters: B pictures, R regions, D depth of their features, U units. Source: Xu et al. (2015), "Show, Attend and Tell",
# sections 3.1.1 and 3.1.2.


class GridEncoder(keras.layers.Layer):
    """Passes each region through a dense layer with ReLU; the decoder starts from the mean of the regions."""

    def __init__(self, config: RnnConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.dense = keras.layers.Dense(config.encoder_width, activation="relu", name="dense")
        self.dropout = Dropout(config.dropout)
        self.supports_masking = True

    def build(self, features_shape: tuple[int | None, ...]) -> None:
        self.dense.build(features_shape)
        self.built = True

    def call(self, features: Tensor, mask: Tensor, training: bool = False) -> EncoderOutput:
        """Encodes `features` (B, R, D); `mask` (B, R) is true where the picture has a region."""
        memory = self.dropout(self.dense(features), training=training)  # (B, R, U)
        is_region = ops.expand_dims(ops.cast(mask, memory.dtype), -1)
        mean = ops.sum(memory * is_region, axis=1) / ops.maximum(ops.sum(is_region, axis=1), 1)
        states = (mean,) * len(STATE_NAMES[self.config.cell])
        return EncoderOutput(memory=memory, final_states=(states,) * self.config.layers)


# Turns pictures into grids of features with InceptionV3 without its top: 8 x 8 regions of 2,048 numbers.
#
# Sources: Szegedy et al. (2016), "Rethinking the Inception Architecture for Computer Vision"; Xu et al. (2015), "Show,
# Attend and Tell", section 3.1.1, for attention over the output of a convolutional layer.

SIDE = 299  # pixels of the square to which a picture is scaled
REGIONS, DEPTH = 64, 2048
BATCH = 16  # pictures that go through the network at once


class InceptionV3:
    """A `sources.source.PictureReader`. `weights` is a file that `save` wrote; None means ImageNet's."""

    def __init__(self, weights: Path | None = None) -> None:
        self.network = load_network(weights)

    def save(self, directory: Path) -> None:
        self.network.save_weights(directory / IMAGE_WEIGHTS)

    def read_shape(self, path: Path) -> tuple[int, int]:
        read_picture(path)
        return REGIONS, DEPTH

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        """Returns the grid (64, 2048) of each picture in float16: 8 rows of 8 regions, from the top left."""
        grids: list[FloatArray] = []
        for start in range(0, len(paths), BATCH):
            pixels = np.stack([read_picture(path) for path in paths[start : start + BATCH]])
            scaled = keras.applications.inception_v3.preprocess_input(pixels)  # -1 to 1
            features = ops.convert_to_numpy(self.network(scaled, training=False))  # (B, 8, 8, 2048)
            grids += list(features.reshape(len(pixels), REGIONS, DEPTH).astype(np.float16))
        return grids


def load_network(weights: Path | None) -> Any:
    """Returns InceptionV3 without its top.

    Raises NotFoundError if the weights do not exist or cannot be downloaded, and DataError if the file has other
    weights.
    """
    hint = "give a file of these weights with --image-weights, or use features with --source-type features"
    keras.utils.disable_interactive_logging()  # Keras would report the download on standard output
    if weights is not None:
        require_file(weights)
    try:
        name = "imagenet" if weights is None else None
        network = keras.applications.InceptionV3(include_top=False, weights=name, input_shape=(SIDE, SIDE, 3))
    except Exception as error:  # Keras raises a bare Exception where a download fails
        reason = str(error).rpartition(": ")[2].strip() or type(error).__name__
        raise NotFoundError(f"the ImageNet weights of InceptionV3 cannot be downloaded: {reason}", hint=hint) from error
    if weights is not None:
        try:
            network.load_weights(weights)
        except (ValueError, OSError, KeyError) as error:
            raise DataError(
                (f"{weights} does not contain the weights of InceptionV3 without its top layer"), hint=hint
            ) from error
    return network


def read_picture(path: Path) -> NDArray[np.float32]:
    """Returns the pixels (299, 299, 3), 0-255. Raises NotFoundError, or DataError if the file is not a picture."""
    require_file(path)
    try:
        image = keras.utils.load_img(path, target_size=(SIDE, SIDE), interpolation="bilinear")
    except (OSError, ValueError, SyntaxError, DecompressionBombError) as error:  # the last two are Pillow's own
        raise DataError(f"{path} cannot be read as a picture", hint="nmt reads PNG, JPEG, BMP, GIF and WebP") from error
    pixels: NDArray[np.float32] = keras.utils.img_to_array(image, dtype="float32")
    return pixels
