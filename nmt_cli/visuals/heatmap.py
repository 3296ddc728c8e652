"""The attention of one translation as a picture (PNG, SVG) or as lines of text.

Takes arrays and strings; must not know models, tokenizers or the terminal.
Letters: T produced target tokens, S source tokens.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import OptionError
from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, GRID, INK, check_suffix, new_figure, write_figure
from nmt_cli.visuals.labels import cell_width, graphemes, isolated, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nmt_cli.arrays.types import FloatArray

SHADES = ((0.8, "█"), (0.55, "▓"), (0.3, "▒"), (0.1, "░"))  # from this share of the largest weight on
BELOW = "·"
LONGEST_LABEL = 20  # columns or lines of a terminal
CELLS_AS_VECTORS = 10_000  # beyond, an SVG of one path a cell is slow to open


def draw(
    attention: FloatArray,
    source: Sequence[str],
    target: Sequence[str],
    path: Path,
    *,
    title: tuple[str, str] = ("", ""),
) -> str:
    """Draws `attention` (T, S), weights 0-1, to a PNG or SVG file: source tokens downwards, target tokens across.

    `title` is the sentence and its translation. The same input gives the same SVG, byte for byte.
    Returns the characters that no installed font can show (boxes in a PNG; an SVG leaves fonts to the viewer).
    Raises OptionError for another suffix or for labels that do not fit the array's shape.
    """
    check_suffix(path)
    attention = plane(attention)
    check_shape(attention, source, target)
    return write_figure(
        path,
        "".join((*source, *target, *title)),
        lambda: heatmap_figure(attention, source, target, title),
        title=" / ".join(filter(None, title)),
    )


def plane(attention: FloatArray) -> FloatArray:
    """(T, S): itself, or the mean over layers and heads of (L, H, T, S)."""
    return attention.mean(axis=(0, 1)) if attention.ndim == 4 else attention


def check_shape(attention: FloatArray, source: Sequence[str], target: Sequence[str]) -> None:
    """Raises OptionError unless `attention` is (T, S) of these labels, with at least one of each."""
    if attention.shape != (len(target), len(source)) or not attention.size:
        raise OptionError(
            f"attention of shape {tuple(attention.shape)} does not fit "
            f"{len(target)} target and {len(source)} source tokens"
        )


def heatmap_figure(
    attention: FloatArray, source: Sequence[str], target: Sequence[str], title: tuple[str, str]
) -> Figure:
    """The figure, one square cell a weight; what stands outside the cells is left to the tight bounding box."""
    cell = min(0.55, max(0.27, 7 / max(attention.shape)))  # inches
    width, height = cell * len(target), cell * len(source)
    figure = new_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1))
    mesh = axes.pcolormesh(
        attention.T,  # (S, T)
        cmap=colour_map(),
        vmin=0,
        vmax=ceiling(float(attention.max())),
        edgecolors=GRID,
        linewidth=0.8,
        rasterized=attention.size > CELLS_AS_VECTORS,
    )
    label_axes(axes, source, target, cell)
    add_colour_bar(figure, mesh, width, height)
    add_title(figure, axes, title, width)
    return figure


def colour_map() -> Any:
    """White to navy, with CIE lightness falling evenly: it reads the same in grey and to the colour-blind."""
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colours = colormaps["Blues"](np.arange(256))[:, :3]  # (256, RGB), of uneven lightness
    colours += (1 - colours[0]) * np.linspace(1, 0, 256)[:, None]  # begins at white itself
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lightness = np.cbrt(linear @ (0.2126, 0.7152, 0.0722))  # falls from first to last
    even = np.linspace(lightness[0], lightness[-1], 256)
    return ListedColormap(np.stack([np.interp(-even, -lightness, channel) for channel in colours.T], axis=1))


def ceiling(largest: float) -> float:
    """The weight of the darkest colour: the largest one, rounded up to a tenth."""
    return min(1.0, max(0.1, math.ceil(largest * 10 - 1e-6) / 10))


def label_axes(axes: Axes, source: Sequence[str], target: Sequence[str], cell: float) -> None:
    """Source tokens at the left, target tokens on top: upright if each fits over its cell (inches), else slanted."""
    size = min(FONT_SIZE, cell * 72 * 0.52)
    fits = max(map(cell_width, target)) * size * 0.65 / 72 < cell
    slant: dict[str, Any] = {} if fits else {"rotation": 45, "ha": "left", "va": "bottom", "rotation_mode": "anchor"}
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    axes.set_xticks([position + 0.5 for position in range(len(target))], target, fontsize=size, **slant)
    axes.set_yticks([position + 0.5 for position in range(len(source))], source, fontsize=size)
    axes.tick_params(length=0, pad=4, labelcolor=INK)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)  # "$5 and $6" is no formula
    for spine in axes.spines.values():
        spine.set_visible(False)


def add_colour_bar(figure: Figure, mesh: Any, width: float, height: float) -> None:
    """A slim scale at the right of the cells, from their top: slanted labels are all above it. Inches."""
    from matplotlib.ticker import MaxNLocator

    tall = min(height, 2.6)
    bar = figure.add_axes((1 + 0.3 / width, 1 - tall / height, 0.13 / width, tall / height))
    scale = figure.colorbar(mesh, cax=bar, ticks=MaxNLocator(5))
    scale.outline.set_visible(False)
    scale.set_label("attention weight", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=8)
    scale.ax.tick_params(length=0, pad=4, labelsize=FONT_SIZE - 2, labelcolor=FAINT)


def add_title(figure: Figure, axes: Axes, title: tuple[str, str], width: float) -> None:
    """The sentence and, below it, its translation, above all labels and left-aligned with them."""
    if not any(title):
        return
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    to_figure = figure.transFigure.inverted()
    box = axes.get_tightbbox(renderer) or axes.bbox  # pixels
    labels = box.transformed(to_figure)
    inch = 1 / figure.get_size_inches()[1]
    bottom = labels.y1 + 0.22 * inch
    columns = max(36, int((width * labels.width + 0.8) / 0.09))
    for text, size, colour in ((title[1], FONT_SIZE + 1, INK), (title[0], FONT_SIZE + 1, FAINT)):
        wrapped = "\n".join(textwrap.wrap(text, columns)) or " "
        drawn = figure.text(
            labels.x0, bottom, wrapped, fontsize=size, color=colour, va="bottom", linespacing=1.3, parse_math=False
        )
        bottom = drawn.get_window_extent(renderer).transformed(to_figure).y1 + 0.07 * inch


def terminal_lines(attention: FloatArray, source: Sequence[str], target: Sequence[str], width: int = 80) -> list[str]:
    """`attention` (T, S), weights 0-1, as lines of at most `width` columns: source tokens downwards, target across.

    Headings that do not fit side by side are written downwards; columns that do not fit at all follow in another
    band below. The last line explains the shades. Raises OptionError for labels that do not fit the array's shape.
    """
    attention = plane(attention)
    check_shape(attention, source, target)
    rows = [shortened(label, min(LONGEST_LABEL, max(4, width // 2))) for label in source]
    margin = max(map(cell_width, rows))
    top = ceiling(float(attention.max()))
    lines: list[str] = []
    for columns in bands(target, width - margin):
        lines += [" " * margin + heading for heading in headings(target, columns)]
        for row, label in enumerate(rows):
            cells = "".join(cell(float(attention[t, row]) / top, size) for t, size in columns.items())
            lines.append(" " * (margin - cell_width(label)) + isolated(label) + cells)
        lines.append("")
    return [line.rstrip() for line in (*lines, legend(top))]


def bands(target: Sequence[str], width: int) -> list[dict[int, int]]:
    """Which target tokens stand side by side, with the columns that each takes: gap, then label or shade."""
    upright = {t: 2 + max(2, cell_width(label)) for t, label in enumerate(target)}
    if sum(upright.values()) <= width:
        return [upright]
    per_band = max(1, width // 3)
    return [
        dict.fromkeys(range(first, min(first + per_band, len(target))), 3) for first in range(0, len(target), per_band)
    ]


def headings(target: Sequence[str], columns: dict[int, int]) -> list[str]:
    """The lines above the cells: one where the labels fit their columns, else as many as the longest has letters."""
    labels = [target[t] for t in columns]
    if all(cell_width(label) + 2 <= size for label, size in zip(labels, columns.values(), strict=True)):
        return ["".join(centred(label, size) for label, size in zip(labels, columns.values(), strict=True))]
    letters = [graphemes(shortened(label, LONGEST_LABEL)) for label in labels]
    height = max(map(len, letters))
    padded = [[" "] * (height - len(own)) + own for own in letters]  # bottom-aligned
    return ["".join(centred(own[line], 3) for own in padded) for line in range(height)]


def centred(label: str, size: int) -> str:
    """The label in the middle of `size` columns, of which the first is a gap."""
    free = size - cell_width(label)
    left = min(free, (free + 1) // 2)
    return " " * left + isolated(label) + " " * (free - left)


def cell(share: float, size: int) -> str:
    """The shade of a weight that is this share of the largest, in the middle of `size` columns."""
    shade = next((shade * 2 for least, shade in SHADES if share >= least), BELOW)
    return centred(shade, size)


def legend(top: float) -> str:
    """What the shades stand for, in per cent of a produced token's attention."""
    shades = "   ".join(f"{shade} {100 * least * top:.0f} %" for least, shade in reversed(SHADES))
    return f"attention from   {shades}"
