"""The attention of one caption as a picture (PNG, SVG): a panel a word, its weights as a grid over what was described.

Takes arrays and strings; must not know models, tokenizers or the terminal.
Letters: T produced words, R regions, of which the first row comes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import OptionError
from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, GRID, INK, check_suffix, new_figure, write_figure
from nmt_cli.visuals.heatmap import ceiling, colour_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nmt_cli.arrays.types import FloatArray

PANELS = 6  # side by side
PANEL = 1.5  # inches
GAP = 0.35  # inches, for the word
SHADOW = 0.08  # grey, nearly black, so that what was looked at is bright whatever its colours
VEIL = 0.8  # how much of the picture a weight of 0 hides


def draw_grid(
    attention: FloatArray, words: Sequence[str], path: Path, *, title: str = "", picture: Any | None = None
) -> str:
    """Draws `attention` (T, R), weights 0-1: for each word a panel with the picture, bright where it looked.

    `picture` is an array (height, width, 3) as matplotlib takes it; without one the weights are drawn as cells.
    Returns the characters that no installed font can show. Raises OptionError for words that do not fit the array.
    """
    check_suffix(path)
    if attention.shape[0] != len(words) or not attention.size:
        raise OptionError(f"attention of shape {tuple(attention.shape)} does not fit {len(words)} words")
    return write_figure(
        path, "".join((*words, title)), lambda: grid_figure(attention, words, title, picture), title=title
    )


def grid_figure(attention: FloatArray, words: Sequence[str], title: str, picture: Any | None) -> Figure:
    columns = min(PANELS, len(words))
    rows = math.ceil(len(words) / columns)
    width, height = columns * (PANEL + 0.15), rows * (PANEL + GAP)
    figure = new_figure(width, height)
    top = ceiling(float(attention.max()))
    for place, (word, weights) in enumerate(zip(words, attention, strict=True)):
        row, column = divmod(place, columns)
        box = (column * (PANEL + 0.15) / width, 1 - (row + 1) * (PANEL + GAP) / height, PANEL / width, PANEL / height)
        draw_panel(figure.add_axes(box), grid_of(weights), word, top, picture)
    if title:
        size = FONT_SIZE + 1
        figure.text(0, 1 + 0.12 / height, title, fontsize=size, color=INK, va="bottom", parse_math=False)
    return figure


def grid_of(weights: FloatArray) -> FloatArray:
    """(rows, columns): the weights (R,) as a square, or as one row where R is no square."""
    side = math.isqrt(len(weights))
    return weights.reshape(side, side) if side * side == len(weights) else weights.reshape(1, -1)


def draw_panel(axes: Axes, weights: FloatArray, word: str, top: float, picture: Any | None) -> None:
    """One word. `top` is the weight that leaves the picture as it is, or that has the darkest colour."""
    rows, columns = weights.shape
    extent = (0.0, float(columns), float(rows), 0.0)
    if picture is None:
        axes.imshow(weights, cmap=colour_map(), vmin=0, vmax=top, extent=extent, aspect="auto")
        axes.set_xticks(range(1, columns), minor=True)
        axes.set_yticks(range(1, rows), minor=True)
        axes.grid(which="minor", color=GRID, linewidth=0.8)
    else:
        axes.imshow(picture, extent=extent, aspect="auto")
        veil = weights[..., None].repeat(4, axis=2)
        veil[..., :3], veil[..., 3] = SHADOW, VEIL * (1 - (weights / top).clip(0, 1))
        axes.imshow(veil, extent=extent, aspect="auto", interpolation="nearest")
    axes.set_title(word, fontsize=FONT_SIZE, color=INK, pad=4, parse_math=False)
    axes.tick_params(which="both", length=0, labelleft=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
        spine.set_linewidth(0.5)
