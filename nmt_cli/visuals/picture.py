"""Finds and loads the picture that a source line names. Knows files and arrays, nothing of attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")
SIDE = 600  # maximum pixels of the longer side, which is plenty for a panel


def find_picture(path: Path) -> Any | None:
    """Returns the pixels (height, width, 3), 0-255, of the picture at `path`, or of one with another suffix.

    Returns None if there is no picture, since features need none.
    """
    candidates = [path, *(path.with_suffix(suffix) for suffix in SUFFIXES)]
    picture = next((file for file in candidates if file.suffix.lower() in SUFFIXES and file.is_file()), None)
    return None if picture is None else load_pixels(picture)


def load_pixels(path: Path) -> Any | None:
    """Returns the pixels (height, width, 3), 0-255, scaled down to SIDE; None if the file is not a picture."""
    import numpy as np  # `nmt --help` does not need it
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            image.thumbnail((SIDE, SIDE))
            return np.asarray(image.convert("RGB"))
    except (OSError, UnidentifiedImageError):
        return None
