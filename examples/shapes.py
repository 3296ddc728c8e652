"""Makes a small corpus of captions: pictures of two coloured shapes on a grid, what stands where, and their features.

    python examples/shapes.py shapes --pictures 1500
    nmt prepare shapes/captions.tsv --source-type features --tokenizer word --data shapes/prepared

A picture has 3 x 3 cells, two of them with a shape. Its features are those of the simplest network there could be: of
each cell the mean colour, how much is coloured at its top, middle and bottom, and which row and column it is.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CELLS = 3  # rows, and columns
PIXELS = 24  # of a cell's side
COLOURS = {"red": (214, 40, 40), "green": (42, 157, 60), "blue": (38, 84, 204), "yellow": (240, 190, 30)}
ROWS = ("top", "middle", "bottom")
COLUMNS = ("left", "centre", "right")
SHAPES = ("square", "circle", "triangle")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Thing:
    row: int
    column: int
    colour: str
    shape: str

    @property
    def name(self) -> str:
        return f"{self.colour} {self.shape}"

    @property
    def place(self) -> str:
        return f"{ROWS[self.row]} {COLUMNS[self.column]}"


def random_things(generator: random.Random) -> tuple[Thing, Thing]:
    """Two things of different names in different cells, in reading order."""
    places = sorted(generator.sample(range(CELLS * CELLS), 2))
    names = generator.sample([(colour, shape) for colour in COLOURS for shape in SHAPES], 2)
    first, second = (Thing(place // CELLS, place % CELLS, *name) for place, name in zip(places, names, strict=True))
    return first, second


def captions(first: Thing, second: Thing) -> tuple[str, str]:
    """What is said of two things: the one first, or the other."""
    one, other = (f"{thing.name} {thing.place}" for thing in (first, second))
    return f"{one} and {other}", f"{other} and {one}"


def mask(shape: str) -> NDArray[np.bool_]:
    """(PIXELS, PIXELS): true where the shape is, inside a margin."""
    y, x = (np.mgrid[:PIXELS, :PIXELS] + 0.5) / PIXELS * 2 - 1  # -1 to 1
    inside: dict[str, NDArray[np.bool_]] = {
        "square": np.maximum(np.abs(x), np.abs(y)) < 0.75,
        "circle": x**2 + y**2 < 0.75**2,
        "triangle": (np.abs(y) < 0.75) & (np.abs(x) < 0.75 * (y + 0.75) / 1.5),
    }
    return inside[shape]


def picture(things: tuple[Thing, ...]) -> Array:
    """(height, width, 3), 0-255, on white."""
    canvas = np.full((CELLS * PIXELS, CELLS * PIXELS, 3), 255.0)
    for thing in things:
        cell = canvas[thing.row * PIXELS :, thing.column * PIXELS :][:PIXELS, :PIXELS]
        cell[mask(thing.shape)] = COLOURS[thing.colour]
    return canvas


def features(canvas: Array) -> NDArray[np.float32]:
    """(9, 12): of each cell the mean colour of what is not white, its share of three strips, its row and its column."""
    cells = canvas.reshape(CELLS, PIXELS, CELLS, PIXELS, 3).swapaxes(1, 2).reshape(CELLS * CELLS, -1, 3)
    coloured = (cells < 255).any(axis=-1, keepdims=True)
    strips = coloured.reshape(CELLS * CELLS, 3, -1).mean(axis=2)
    colour = (cells * coloured).sum(axis=1) / np.maximum(coloured.sum(axis=1), 1) / 255
    rows, columns = np.divmod(np.arange(CELLS * CELLS), CELLS)
    down, across = np.eye(CELLS)[rows], np.eye(CELLS)[columns]
    return np.concatenate([colour, strips, down, across], axis=1).astype(np.float32)


def write_corpus(directory: Path, pictures: int, seed: int = 1) -> None:
    """Writes captions.tsv, and of each picture a .png and its features as .npy."""
    directory.mkdir(parents=True, exist_ok=True)
    generator = random.Random(seed)
    lines = []
    for number in range(pictures):
        things = random_things(generator)
        canvas = picture(things)
        Image.fromarray(canvas.astype(np.uint8)).save(directory / f"{number:05}.png")
        np.save(directory / f"{number:05}.npy", features(canvas))
        lines += [f"{number:05}.npy\t{caption}\n" for caption in captions(*things)]
    (directory / "captions.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pictures", type=int, default=1500)
    given = parser.parse_args()
    write_corpus(given.directory, given.pictures)
