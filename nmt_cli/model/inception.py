"""Pictures to grids of features by InceptionV3 without its top: 8 x 8 regions of 2,048 numbers.

Sources: Szegedy et al. (2016), "Rethinking the Inception Architecture for Computer Vision"; Xu et al. (2015), "Show,
Attend and Tell", section 3.1.1, for the use of a convolutional layer's output as what attention looks at.
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

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.files import require_file
from nmt_cli.sources.images import IMAGE_WEIGHTS

FloatArray = NDArray[np.floating]

SIDE = 299  # pixels of the square that a picture is brought to
REGIONS, DEPTH = 64, 2048
TOGETHER = 16  # pictures read at once


class InceptionV3:
    """Implements `corpus.grids.PictureReader`. `weights` is a file as `save` writes it; None is ImageNet's."""

    def __init__(self, weights: Path | None = None) -> None:
        self.network = network_of(weights)

    def save(self, directory: Path) -> None:
        self.network.save_weights(directory / IMAGE_WEIGHTS)

    def shape(self, path: Path) -> tuple[int, int]:
        read_picture(path)
        return REGIONS, DEPTH

    def read(self, paths: Sequence[Path]) -> list[FloatArray]:
        """Grids (64, 2048) in float16: of every picture the 8 rows of 8 regions, from the top left."""
        grids: list[FloatArray] = []
        for start in range(0, len(paths), TOGETHER):
            pixels = np.stack([read_picture(path) for path in paths[start : start + TOGETHER]])
            scaled = keras.applications.inception_v3.preprocess_input(pixels)  # -1 to 1
            features = ops.convert_to_numpy(self.network(scaled, training=False))  # (B, 8, 8, 2048)
            grids += list(features.reshape(len(pixels), REGIONS, DEPTH).astype(np.float16))
        return grids


def network_of(weights: Path | None) -> Any:
    """InceptionV3 without its top. Raises NotFoundError or DataError for weights that cannot be had."""
    hint = "name a file of them with --image-weights, or give features with --source-type features"
    keras.utils.disable_interactive_logging()  # Keras would tell of the download on standard output
    if weights is not None:
        require_file(weights)
    try:
        name = "imagenet" if weights is None else None
        network = keras.applications.InceptionV3(include_top=False, weights=name, input_shape=(SIDE, SIDE, 3))
    except Exception as error:  # Keras raises a bare Exception where a download fails
        reason = str(error).rpartition(": ")[2].strip() or type(error).__name__
        raise NotFoundError(f"ImageNet's weights of InceptionV3 cannot be downloaded: {reason}", hint=hint) from error
    if weights is not None:
        try:
            network.load_weights(weights)
        except (ValueError, OSError, KeyError) as error:
            raise DataError(f"{weights} holds no weights of InceptionV3 without its top", hint=hint) from error
    return network


def read_picture(path: Path) -> NDArray[np.float32]:
    """(299, 299, 3), 0-255. Raises NotFoundError, or DataError for a file that is no picture."""
    require_file(path)
    try:
        image = keras.utils.load_img(path, target_size=(SIDE, SIDE), interpolation="bilinear")
    except (OSError, ValueError, SyntaxError, DecompressionBombError) as error:  # the last two are Pillow's own
        raise DataError(f"{path} is no picture that can be read", hint="PNG, JPEG, BMP, GIF and WebP can") from error
    pixels: NDArray[np.float32] = keras.utils.img_to_array(image, dtype="float32")
    return pixels
