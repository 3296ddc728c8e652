"""Draws the attention of a translation: as a heat map, over a picture, or as a sheet of all heads."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.text.wrapping import count_columns, format_count, wrap_text
from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, GRID, INK, check_suffix, create_figure, write_figure
from nmt_cli.visuals.labels import RAMP, isolate_text, shorten, split_graphemes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nmt_cli.arrays.types import FloatArray


# Shows the attention of one translation as a picture (PNG, SVG) or as lines of text.
#
# Takes arrays and strings; must not know models, tokenizers or the terminal. Letters: T target tokens, END included, S
# source tokens, L layers, H heads.


SHADES = ((0.8, "█"), (0.55, "▓"), (0.3, "▒"), (0.1, "░"))  # each from this share of the largest weight on
BELOW = "·"  # any smaller weight
LONGEST_LABEL = 20  # columns or lines of a terminal
PANEL_GAP = 0.6  # inches between panels
CELLS_AS_VECTORS = 10_000  # an SVG with more paths, one for each cell, is slow to open


def draw_heatmap(panels: Sequence[Panel], path: Path) -> str:
    """Draws attention to a PNG or SVG file, several side by side on one colour scale.

    Source tokens run downwards, target tokens across. The same input gives the same SVG, byte for byte. Returns the
    characters that no installed font can show (boxes in a PNG; an SVG leaves fonts to the viewer). Raises OptionError
    for another suffix, or if labels do not match the shape of their array.
    """
    check_suffix(path)
    panels = [panel._replace(attention=average_heads(panel.attention)) for panel in panels]
    for attention, labels, _ in panels:
        check_shape(attention, labels.down, labels.across)
    text = "".join(chain.from_iterable(panel.texts for panel in panels))
    title = " / ".join(filter(None, panels[0].title))
    return write_figure(path, text, lambda: build_heatmap_figure(panels), title=title)


def average_heads(attention: FloatArray) -> FloatArray:
    """Returns the mean (T, S) over layers and heads of attention (L, H, T, S); (T, S) is unchanged."""
    return attention.mean(axis=(0, 1)) if attention.ndim == 4 else attention


def check_shape(attention: FloatArray, source: Sequence[str], target: Sequence[str]) -> None:
    """Raises OptionError unless `attention` is (T, S) for these labels, with at least one of each."""
    if attention.shape != (len(target), len(source)) or not attention.size:
        raise OptionError(
            f"attention with shape {tuple(attention.shape)} does not match "
            f"{len(target)} target and {format_count(len(source), 'source token')}"
        )


class AxisLabels(NamedTuple):
    """The tokens down the side and across the top, and the names of both axes."""

    down: Sequence[str]
    across: Sequence[str]
    down_name: str = "source"
    across_name: str = "translation"


class Panel(NamedTuple):
    """The attention of one translation, with its labels and a title: the sentence and its translation."""

    attention: FloatArray  # (T, S), or (L, H, T, S), weights 0-1
    labels: AxisLabels
    title: tuple[str, str] = ("", "")

    @property
    def texts(self) -> tuple[str, ...]:
        """All text in the panel."""
        return (*self.labels.down, *self.labels.across, *self.labels[2:], *self.title)


def build_heatmap_figure(panels: Sequence[Panel]) -> Figure:
    """Draws one square cell for each weight; the tight bounding box makes room for labels, scale and titles."""
    largest_side = max(max(panel.attention.shape) for panel in panels)
    cell = min(0.55, max(0.27, 7 / largest_side))  # inches
    top = round_up_weight(max(float(panel.attention.max()) for panel in panels))
    figure = create_figure(*measure_panel(panels[0], cell))
    left = 0.0
    for panel in panels:
        axes, mesh = draw_panel(figure, panel, cell, top, left)
        if panel is panels[-1]:
            add_colour_bar(figure, axes, mesh, longest=2.6)
        left = add_title(figure, axes, panel.title) + PANEL_GAP
    return figure


def measure_panel(panel: Panel, cell: float) -> tuple[float, float]:
    """Returns the width and height of the cells of a panel, in inches."""
    return cell * len(panel.labels.across), cell * len(panel.labels.down)


def draw_panel(figure: Figure, panel: Panel, cell: float, top: float, left: float) -> tuple[Axes, Any]:
    """Draws the cells and tokens of a panel, all to the right of `left` inches; returns its axes and its mesh."""
    axes = figure.add_axes((0, 0, 1, 1))
    mesh = axes.pcolormesh(
        panel.attention.T,  # (S, T)
        cmap=make_colour_map(),
        vmin=0,
        vmax=top,
        edgecolors=GRID,
        linewidth=0.8,
        rasterized=panel.attention.size > CELLS_AS_VECTORS,
    )
    (width, height), (whole_width, whole_height) = measure_panel(panel, cell), figure.get_size_inches()
    bottom, size = 1 - height / whole_height, (width / whole_width, height / whole_height)
    axes.set_position((0, bottom, *size))
    label_axes(figure, axes, panel.labels, cell)
    if left:
        box = axes.get_tightbbox(figure.canvas.get_renderer())  # type: ignore[attr-defined]
        axes.set_position(((left - (box.x0 if box else 0) / figure.dpi) / whole_width, bottom, *size))
    return axes, mesh


def make_colour_map() -> Any:
    """Returns RAMP as a colour map of matplotlib."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("attention", RAMP)


def round_up_weight(largest: float) -> float:
    """Returns the weight of the darkest colour: the largest weight, rounded up to a tenth."""
    return min(1.0, max(0.1, math.ceil(largest * 10 - 1e-6) / 10))


def label_axes(figure: Figure, axes: Axes, labels: AxisLabels, cell: float) -> None:
    """Writes the tokens beside and above their cells (of `cell` inches), slanting those above if they would touch."""
    size = min(FONT_SIZE, cell * 72 * 0.52)
    label_cells(axes, labels, size, pad=4)
    if has_touching_labels(figure, axes, cell, gap=size / 72):
        slant: dict[str, Any] = {"rotation": 45, "ha": "left", "va": "bottom", "rotation_mode": "anchor"}
        for label in axes.get_xticklabels():
            label.set(**slant)
    axes.set_ylabel(labels.down_name, loc="top", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=8)
    axes.set_xlabel(labels.across_name, loc="left", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=8)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)


def label_cells(
    axes: Any, labels: AxisLabels, size: float, *, pad: int, is_left: bool = True, is_top: bool = True, **style: Any
) -> None:
    """Writes the tokens beside the cells of a leftmost panel and, in `style`, above those of a topmost one."""
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    for set_ticks, tokens, is_shown, of_side in (
        (axes.set_xticks, labels.across, is_top, style),
        (axes.set_yticks, labels.down, is_left, {}),
    ):
        centres = [index + 0.5 for index in range(len(tokens))]
        set_ticks(centres, tokens if is_shown else [""] * len(tokens), fontsize=size, **of_side)
    axes.tick_params(length=0, pad=pad, labelcolor=INK)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)  # "$5 and $6" is not a formula


def has_touching_labels(figure: Figure, axes: Axes, cell: float, gap: float) -> bool:
    """Whether two adjacent labels above the cells are less than `gap` inches apart."""
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    widths = [label.get_window_extent(renderer).width / figure.dpi for label in axes.get_xticklabels()]
    return any((first + second) / 2 + gap > cell for first, second in pairwise(widths)) or max(widths) > 2 * cell


def add_colour_bar(figure: Figure, axes: Axes, mesh: Any, longest: float) -> None:
    """Adds a slim scale to the right of the cells of `axes`, extending down from their top, below slanted labels."""
    from matplotlib.ticker import MaxNLocator

    width, height = figure.get_size_inches()
    cells = axes.get_position()
    length = min(cells.height * height, longest)  # inches
    bar = figure.add_axes((cells.x1 + 0.3 / width, cells.y1 - length / height, 0.13 / width, length / height))
    scale = figure.colorbar(mesh, cax=bar, ticks=MaxNLocator(5))
    scale.outline.set_visible(False)
    scale.set_label("attention weight", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=8)
    scale.ax.tick_params(length=0, pad=4, labelsize=FONT_SIZE - 2, labelcolor=FAINT)


def add_title(figure: Figure, axes: Axes, title: tuple[str, str], room: float = 0.0) -> float:
    """Writes the sentence and, below it, its translation, above all labels of the axes and left-aligned with them.

    They are wrapped at the width of the panel, or of `room` inches. Returns where the panel ends on the right, in
    inches.
    """
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    to_figure = figure.transFigure.inverted()
    labels = (axes.get_tightbbox(renderer) or axes.bbox).transformed(to_figure)
    width, height = figure.get_size_inches()
    bottom, right = labels.y1 + 0.22 / height, labels.x1
    columns = max(36, int((room or width * labels.width + 0.8) / 0.09))
    style: dict[str, Any] = {"fontsize": FONT_SIZE + 1, "va": "bottom", "linespacing": 1.3, "parse_math": False}
    for text, colour in ((title[1], INK), (title[0], FAINT)) if any(title) else ():
        wrapped = "\n".join(textwrap.wrap(text, columns)) or " "
        artist = figure.text(labels.x0, bottom, wrapped, color=colour, **style)
        box = artist.get_window_extent(renderer).transformed(to_figure)
        bottom, right = box.y1 + 0.07 / height, max(right, box.x1)
    return float(right * width)


def format_heatmap(
    attention: FloatArray,
    source: Sequence[str],
    target: Sequence[str],
    width: int,
    names: tuple[str, str] = ("source", "translation"),
) -> list[str]:
    """Returns `attention` (T, S) or (L, H, T, S), weights 0-1, as lines of at most `width` columns.

    Source tokens run downwards, target tokens across. Headings that do not fit side by side are written downwards;
    columns that do not fit at all follow in another band below. The last lines name the axes and explain the shades.
    Raises OptionError if the labels do not match the shape of the array.
    """
    attention = average_heads(attention)
    check_shape(attention, source, target)
    rows = [shorten(label, min(LONGEST_LABEL, max(4, width // 2))) for label in source]
    margin = max(map(count_columns, rows))
    top = round_up_weight(float(attention.max()))
    lines: list[str] = []
    for columns in split_into_bands(target, width - margin):
        lines += [" " * margin + heading for heading in format_headings(target, columns)]
        for row, label in enumerate(rows):
            cells = "".join(format_cell(float(attention[t, row]) / top, size) for t, size in columns.items())
            lines.append(" " * (margin - count_columns(label)) + isolate_text(label) + cells)
        lines.append("")
    legend = [*wrap_text(f"{names[0]} down, {names[1]} across", width, hang=0), format_legend(top)]
    return [line.rstrip() for line in (*lines, *legend)]


def split_into_bands(target: Sequence[str], width: int) -> list[dict[int, int]]:
    """Returns the target tokens of each band, with the columns of each: a gap, then its label or shade."""
    upright = {t: 2 + max(2, count_columns(label)) for t, label in enumerate(target)}
    if sum(upright.values()) <= width:
        return [upright]
    bands = math.ceil(len(target) / max(1, width // 3))
    per_band = math.ceil(len(target) / bands)  # in all bands alike, so that none has a single column
    return [
        dict.fromkeys(range(first, min(first + per_band, len(target))), 3) for first in range(0, len(target), per_band)
    ]


def format_headings(target: Sequence[str], columns: dict[int, int]) -> list[str]:
    """Returns the lines above the cells: one if the labels fit, else as many as the longest label has letters."""
    labels = [target[t] for t in columns]
    if all(count_columns(label) + 2 <= size for label, size in zip(labels, columns.values(), strict=True)):
        return ["".join(centre_label(label, size) for label, size in zip(labels, columns.values(), strict=True))]
    letters = [split_graphemes(shorten(label, LONGEST_LABEL)) for label in labels]
    height = max(map(len, letters))
    padded = [[" "] * (height - len(column)) + column for column in letters]  # bottom-aligned
    return ["".join(centre_label(column[line], 3) for column in padded) for line in range(height)]


def centre_label(label: str, size: int) -> str:
    """Centres a label in `size` columns, the first of which is a gap."""
    free = size - count_columns(label)
    left = min(free, (free + 1) // 2)
    return " " * left + isolate_text(label) + " " * (free - left)


def format_cell(share: float, size: int) -> str:
    """Returns the shade of a weight, given as its share of the largest one, centred in `size` columns."""
    shade = next((shade * 2 for least, shade in SHADES if share >= least), BELOW)
    return centre_label(shade, size)


def format_legend(top: float) -> str:
    """Returns the meaning of the shades, in per cent of a target token's attention."""
    shades = "   ".join(f"{shade} {100 * least * top:.0f} %" for least, shade in reversed(SHADES))
    return f"attention from   {shades}"


# Finds and loads the picture that a source line names. Knows files and arrays, nothing of attention.


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


# Draws the attention of a caption (PNG, SVG): one panel for each word, with its weights as a grid over the picture.
#
# Takes arrays and strings; must not know models, tokenizers or the terminal. Letters: T words of the caption, R regions
# in row-major order.


PANELS = 6  # side by side
GRID_PANEL = 1.5  # inches
GRID_GAP = 0.35  # inches, for the word
SHADOW = 0.08  # grey level of the veil: nearly black, so that attended regions are bright whatever their colours
VEIL = 0.8  # opacity of the veil at a weight of 0


def draw_grid(
    attention: FloatArray, words: Sequence[str], path: Path, *, title: str = "", picture: Any | None = None
) -> str:
    """Draws `attention` (T, R), weights 0-1: a panel for each word, with the picture bright in the attended regions.

    `picture` is an array (height, width, 3) for matplotlib; without it the weights are drawn as cells. Returns the
    characters that no installed font can show. Raises OptionError if the number of words does not match the array, or
    for another suffix than .png, .svg and .pdf.
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
    width, height = columns * (GRID_PANEL + 0.15), rows * (GRID_PANEL + GRID_GAP)
    figure = create_figure(width, height)
    top = round_up_weight(float(attention.max()))
    for index, (word, weights) in enumerate(zip(words, attention, strict=True)):
        row, column = divmod(index, columns)
        box = (
            column * (GRID_PANEL + 0.15) / width,
            1 - (row + 1) * (GRID_PANEL + GRID_GAP) / height,
            GRID_PANEL / width,
            GRID_PANEL / height,
        )
        draw_grid_panel(figure.add_axes(box), reshape_to_grid(weights), word, top, picture)
    if title:
        size = FONT_SIZE + 1
        figure.text(0, 1 + 0.12 / height, title, fontsize=size, color=INK, va="bottom", parse_math=False)
    return figure


def reshape_to_grid(weights: FloatArray) -> FloatArray:
    """Returns the weights (R,) as a square (rows, columns), or as one row if R is not a square number."""
    side = math.isqrt(len(weights))
    return weights.reshape(side, side) if side * side == len(weights) else weights.reshape(1, -1)


def draw_grid_panel(axes: Axes, weights: FloatArray, word: str, top: float, picture: Any | None) -> None:
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
    axes.spines[:].set(color=FAINT, linewidth=0.5)


# Draws the attention of every layer and head in one sheet (PNG, SVG): layers down, heads across.
#
# Takes arrays and strings; must not know models. Letters: L layers, H heads, T target labels, S source labels.


LARGEST, SMALLEST = 0.3, 0.13  # inches of a cell
HEAD_PANEL = 3.2  # inches of a panel's longer side that cells are made to fit
HEAD_GAP = 0.45  # inches between panels


def draw_head_sheet(panel: Panel, path: Path) -> str:
    """Draws attention (L, H, T, S) to a PNG or SVG file; all panels share one colour scale.

    Returns the characters that no installed font can show. Raises the OptionError of `heatmap.draw_heatmap`.
    """
    check_suffix(path)
    attention, labels, title = panel
    check_shape(attention[0, 0], labels.down, labels.across)
    return write_figure(
        path,
        "".join(panel.texts),
        lambda: build_sheet_figure(attention, labels, title),
        title=" / ".join(filter(None, title)),
    )


def build_sheet_figure(attention: FloatArray, labels: AxisLabels, title: tuple[str, str]) -> Figure:
    """Draws one panel per head; only the leftmost and topmost panels are labelled with tokens."""
    layers, heads = attention.shape[:2]
    cell = min(LARGEST, max(SMALLEST, HEAD_PANEL / max(attention.shape[2:])))
    size = min(FONT_SIZE, cell * 72 * 0.62)
    width, height = cell * len(labels.across), cell * len(labels.down)
    total = heads * width + (heads - 1) * HEAD_GAP, layers * height + (layers - 1) * HEAD_GAP
    figure = create_figure(*total)
    top = round_up_weight(float(attention.max()))
    mesh = None
    for layer in range(layers):
        for head in range(heads):
            left, bottom = head * (width + HEAD_GAP), total[1] - height - layer * (height + HEAD_GAP)
            axes = figure.add_axes((left / total[0], bottom / total[1], width / total[0], height / total[1]))
            mesh = axes.pcolormesh(attention[layer, head].T, cmap=make_colour_map(), vmin=0, vmax=top, rasterized=True)
            label_cells(axes, labels, size, pad=3, is_left=head == 0, is_top=layer == 0, rotation=90)
            axes.spines[:].set(color=FAINT, linewidth=0.5)
            name = f"layer {layer + 1}, head {head + 1}"
            axes.set_xlabel(name, loc="left", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=3)
    corner: Any = figure.axes[0]
    corner.set_ylabel(labels.down_name, loc="top", fontsize=FONT_SIZE - 1, color=FAINT)
    style = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "bottom"}
    corner.annotate(f"{labels.across_name} →", (0, 1), xytext=(-6, 6), fontsize=FONT_SIZE - 1, color=FAINT, **style)
    add_colour_bar(figure, figure.axes[heads - 1], mesh, longest=2.2)
    add_title(figure, corner, title, room=total[0])
    return figure
