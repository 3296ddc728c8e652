"""Draws the attention of a caption (PNG, SVG): one panel for each word, with its weights as a grid over the picture.

Takes arrays and strings; must not know models, tokenizers or the terminal.
Letters: T words of the caption, R regions in row-major order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import OptionError
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, GRID, INK, check_suffix, create_figure, write_figure
from nmt_cli.visuals.heatmap import make_colour_map, round_up_weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nmt_cli.arrays.types import FloatArray

PANELS = 6  # side by side
PANEL = 1.5  # inches
GAP = 0.35  # inches, for the word
SHADOW = 0.08  # grey level of the veil: nearly black, so that attended regions are bright whatever their colours
VEIL = 0.8  # opacity of the veil at a weight of 0


def draw_grid(
    attention: FloatArray, words: Sequence[str], path: Path, *, title: str = "", picture: Any | None = None
) -> str:
    """Draws `attention` (T, R), weights 0-1: a panel for each word, with the picture bright in the attended regions.

    `picture` is an array (height, width, 3) for matplotlib; without it the weights are drawn as cells. Returns the
    characters that no installed font can show. Raises OptionError if the number of words does not match the array, or
    for another suffix than .png and .svg.
    """
    check_suffix(path)
    if attention.shape[0] != len(words) or not attention.size:
        raise OptionError(
            f"attention with shape {tuple(attention.shape)} does not match {format_count(len(words), 'word')}"
        )
    return write_figure(
        path, "".join((*words, title)), lambda: build_grid_figure(attention, words, title, picture), title=title
    )


def build_grid_figure(attention: FloatArray, words: Sequence[str], title: str, picture: Any | None) -> Figure:
    """Draws one panel for each word, PANELS side by side."""
    columns = min(PANELS, len(words))
    rows = math.ceil(len(words) / columns)
    width, height = columns * (PANEL + 0.15), rows * (PANEL + GAP)
    figure = create_figure(width, height)
    top = round_up_weight(float(attention.max()))
    for index, (word, weights) in enumerate(zip(words, attention, strict=True)):
        row, column = divmod(index, columns)
        box = (column * (PANEL + 0.15) / width, 1 - (row + 1) * (PANEL + GAP) / height, PANEL / width, PANEL / height)
        draw_panel(figure.add_axes(box), reshape_to_grid(weights), word, top, picture)
    if title:
        size = FONT_SIZE + 1
        figure.text(0, 1 + 0.12 / height, title, fontsize=size, color=INK, va="bottom", parse_math=False)
    return figure


def reshape_to_grid(weights: FloatArray) -> FloatArray:
    """Returns the weights (R,) as a square (rows, columns), or as one row if R is not a square number."""
    side = math.isqrt(len(weights))
    return weights.reshape(side, side) if side * side == len(weights) else weights.reshape(1, -1)


def draw_panel(axes: Axes, weights: FloatArray, word: str, top: float, picture: Any | None) -> None:
    """Draws the panel of one word. `top` is the weight shown at full brightness, or in the darkest colour."""
    rows, columns = weights.shape
    extent = (0.0, float(columns), float(rows), 0.0)
    if picture is None:
        axes.imshow(weights, cmap=make_colour_map(), vmin=0, vmax=top, extent=extent, aspect="auto")
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
