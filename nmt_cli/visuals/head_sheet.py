"""Draws the attention of every layer and head in one sheet (PNG, SVG): layers down, heads across.

Takes arrays and strings; must not know models. Letters: L layers, H heads, T target labels, S source labels.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, INK, check_suffix, create_figure, write_figure
from nmt_cli.visuals.heatmap import AxisLabels, Panel, add_colour_bar, check_shape, make_colour_map, round_up_weight

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt_cli.arrays.types import FloatArray

LARGEST, SMALLEST = 0.3, 0.13  # inches of a cell
PANEL = 3.2  # inches of a panel's longer side that cells are made to fit
GAP = 0.45  # inches between panels


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
    cell = min(LARGEST, max(SMALLEST, PANEL / max(attention.shape[2:])))
    size = min(FONT_SIZE, cell * 72 * 0.62)
    width, height = cell * len(labels.across), cell * len(labels.down)
    total = heads * width + (heads - 1) * GAP, layers * height + (layers - 1) * GAP
    figure = create_figure(*total)
    top = round_up_weight(float(attention.max()))
    mesh = None
    for layer in range(layers):
        for head in range(heads):
            left, bottom = head * (width + GAP), total[1] - height - layer * (height + GAP)
            axes = figure.add_axes((left / total[0], bottom / total[1], width / total[0], height / total[1]))
            mesh = axes.pcolormesh(attention[layer, head].T, cmap=make_colour_map(), vmin=0, vmax=top, rasterized=True)
            style_panel(axes, labels, size, is_left=head == 0, is_top=layer == 0)
            name = f"layer {layer + 1}, head {head + 1}"
            axes.set_xlabel(name, loc="left", fontsize=FONT_SIZE - 1, color=FAINT, labelpad=3)
    add_colour_bar(figure, figure.axes[heads - 1], mesh, longest=2.2)
    add_sheet_title(figure, title, total)
    return figure


def style_panel(axes: Any, labels: AxisLabels, size: float, *, is_left: bool, is_top: bool) -> None:
    """Writes the tokens where the panel is at the edge of the sheet, those on top upright."""
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    centres = [[index + 0.5 for index in range(len(tokens))] for tokens in (labels.across, labels.down)]
    axes.set_xticks(centres[0], labels.across if is_top else [""] * len(labels.across), fontsize=size, rotation=90)
    axes.set_yticks(centres[1], labels.down if is_left else [""] * len(labels.down), fontsize=size)
    axes.tick_params(length=0, pad=3, labelcolor=INK)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
    if is_left and is_top:
        axes.set_ylabel(labels.down_name, loc="top", fontsize=FONT_SIZE - 1, color=FAINT)
        name = {"xycoords": "axes fraction", "textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(f"{labels.across_name} →", (0, 1), xytext=(-6, 6), fontsize=FONT_SIZE - 1, color=FAINT, **name)
    for spine in axes.spines.values():
        spine.set_color(FAINT)
        spine.set_linewidth(0.5)


def add_sheet_title(figure: Figure, title: tuple[str, str], total: tuple[float, float]) -> None:
    """Writes the sentence and its translation above all labels."""
    if not any(title):
        return
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    box = figure.axes[0].get_tightbbox(renderer)
    labels = (box or figure.axes[0].bbox).transformed(figure.transFigure.inverted())
    lines = ["\n".join(textwrap.wrap(text, max(36, int(total[0] / 0.09)))) for text in title]
    bottom = labels.y1 + 0.15 / total[1]
    for text, colour in ((lines[1], INK), (lines[0], FAINT)):
        artist = figure.text(
            labels.x0, bottom, text, fontsize=FONT_SIZE + 1, color=colour, va="bottom", parse_math=False
        )
        bottom = artist.get_window_extent(renderer).transformed(figure.transFigure.inverted()).y1 + 0.07 / total[1]
