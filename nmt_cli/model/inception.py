"""Turns pictures into grids of features with InceptionV3 without its top: 8 x 8 regions of 2,048 numbers.

Sources: Szegedy et al. (2016), "Rethinking the Inception Architecture for Computer Vision"; Xu et al. (2015), "Show,
Attend and Tell", section 3.1.1, for attention over the output of a convolutional layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops
from numpy.typing import NDArray
from PIL.Image import DecompressionBombError

from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import require_file
from nmt_cli.sources.images import IMAGE_WEIGHTS

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

    Raises NotFoundError if the weights do not exist or cannot be downloaded, and DataError if they are others.
    """
    hint = "name a file with the weights with --image-weights, or use features with --source-type features"
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
            raise DataError(f"{weights} does not hold the weights of InceptionV3 without its top", hint=hint) from error
    return network


def read_picture(path: Path) -> NDArray[np.float32]:
    """Returns the pixels (299, 299, 3), 0-255. Raises NotFoundError, or DataError if the file is not a picture."""
    require_file(path)
    try:
        image = keras.utils.load_img(path, target_size=(SIDE, SIDE), interpolation="bilinear")
    except (OSError, ValueError, SyntaxError, DecompressionBombError) as error:  # the last two are Pillow's own
        raise DataError(
            f"{path} is not a picture that can be read", hint="it reads PNG, JPEG, BMP, GIF and WebP"
        ) from error
    pixels: NDArray[np.float32] = keras.utils.img_to_array(image, dtype="float32")
    return pixels
