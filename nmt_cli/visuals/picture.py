"""The picture that a source line names. Knows files and arrays, nothing of attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")
SIDE = 600  # pixels of the longer side at most, which is plenty for a panel


def picture_beside(path: Path) -> Any | None:
    """(height, width, 3), 0-255, of the picture itself or of one with the same name but for its suffix.

    None where there is none: features need no picture.
    """
    own = [path, *(path.with_suffix(suffix) for suffix in SUFFIXES)]
    found = next((each for each in own if each.suffix.lower() in SUFFIXES and each.is_file()), None)
    return None if found is None else pixels(found)


def pixels(path: Path) -> Any | None:
    import numpy as np  # which `nmt --help` does not need
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            image.thumbnail((SIDE, SIDE))
            return np.asarray(image.convert("RGB"))
    except (OSError, UnidentifiedImageError):
        return None
