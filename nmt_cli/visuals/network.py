"""Draws a network as blocks and arrows (PNG, SVG), or lists its blocks as lines of text. Takes a finished diagram."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.text.wrapping import count_columns, format_count, wrap_text
from nmt_cli.visuals.canvas import BLUE, FAINT, FONT_SIZE, GRID, INK, ORANGE, create_figure, write_figure
from nmt_cli.visuals.network_blocks import DECODER, ENCODER, MIDDLE, NetworkArrow, NetworkBlock, NetworkDiagram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NARROWEST = 28  # columns of a terminal for the details of a block, beside its name
# Inches.
COLUMN, ROW = 3.75, 1.18
WIDTH, LINE = 2.75, 0.19
GAP = 0.13  # between two arrows that leave a block on the same side
COLOURS = {ENCODER: "#eaf2f9", MIDDLE: "#fdeee0", DECODER: "#eef5ec"}
HEADINGS = {ENCODER: "encoder", DECODER: "decoder"}


def draw_network(diagram: NetworkDiagram, path: Path, *, title: str) -> str:
    """Writes the diagram to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, title + "×…", lambda: build_network_figure(diagram, title), title=title)


def build_network_figure(diagram: NetworkDiagram, title: str) -> Figure:
    """Draws the encoder at the left, the decoder at the right, and between them where attention joins."""
    rows = max(block.row for block in diagram.blocks) + 1
    width, height = 2 * COLUMN + WIDTH + 0.9, rows * ROW
    figure = create_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-0.1, width - 0.1), ylim=(-ROW / 2, height - ROW / 2))
    axes.axis("off")
    for arrow in diagram.arrows:
        draw_arrow(axes, diagram, arrow)
    for block in diagram.blocks:
        draw_block(axes, block)
    for column, heading in HEADINGS.items():
        top = max(locate_top(block) for block in diagram.blocks if block.column == column)
        axes.text(column * COLUMN, top + 0.16, heading, fontsize=FONT_SIZE, color=FAINT, va="bottom")
    text = f"{title}\n{format_count(diagram.weights, 'weight')}"
    axes.set_title(text, loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False, pad=14)
    return figure


def locate_middle(block: NetworkBlock) -> tuple[float, float]:
    return block.column * COLUMN + WIDTH / 2, block.row * ROW


def measure_height(block: NetworkBlock) -> float:
    return LINE * (2 + len(block.details)) + 0.06 if block.weights else LINE * (1 + len(block.details)) + 0.1


def locate_top(block: NetworkBlock) -> float:
    return block.row * ROW + measure_height(block) / 2


def draw_block(axes: Any, block: NetworkBlock) -> None:
    """Draws a rounded box with the title, the details and the number of weights; of mere tokens, only the text."""
    from matplotlib.patches import FancyBboxPatch

    x, y = locate_middle(block)
    height = measure_height(block)
    is_data = block.row == 0
    box = FancyBboxPatch(
        (x - WIDTH / 2 + 0.05, y - height / 2 + 0.05), WIDTH - 0.1, height - 0.1, boxstyle="round,pad=0.05",
        facecolor="white" if is_data else COLOURS[block.column], edgecolor=GRID if is_data else FAINT, linewidth=0.8,
        zorder=3,
    )  # fmt: skip
    axes.add_patch(box)
    lines = [(block.title, INK, FONT_SIZE)] + [(detail, FAINT, FONT_SIZE - 1.5) for detail in block.details]
    lines += [(format_count(block.weights, "weight"), BLUE, FONT_SIZE - 1.5)] if block.weights else []
    for index, (text, colour, size) in enumerate(lines):
        top = y + LINE * (len(lines) - 1) / 2 - LINE * index
        axes.text(x, top, text, ha="center", va="center", fontsize=size, color=colour, parse_math=False, zorder=4)


def draw_arrow(axes: Any, diagram: NetworkDiagram, arrow: NetworkArrow) -> None:
    """Draws an arrow: upwards in a column, else along a corner that keeps it clear of the blocks."""
    start, end = diagram.find_block(arrow.start), diagram.find_block(arrow.end)
    points, label = route_arrow(start, end, arrow)
    colour = ORANGE if MIDDLE in (start.column, end.column) or start.column != end.column else FAINT
    xs, ys = zip(*points, strict=True)
    style = {"color": colour, "linewidth": 1.1, "zorder": 2}
    dashes = (0, (4, 3)) if arrow.is_delayed else "-"
    axes.plot(xs, ys, linestyle=dashes, solid_joinstyle="round", **style)
    head = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "shrinkB": 0}
    axes.annotate("", points[-1], points[-2], arrowprops=head, zorder=2)
    if arrow.label and label is not None:
        axes.text(
            *label, arrow.label, fontsize=FONT_SIZE - 2, color=colour, ha="center", va="bottom", zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, parse_math=False,
        )  # fmt: skip


Points = list[tuple[float, float]]


def route_arrow(
    start: NetworkBlock, end: NetworkBlock, arrow: NetworkArrow
) -> tuple[Points, tuple[float, float] | None]:
    """Returns the corners of an arrow, and its label's position: above the line, in the middle of a straight part."""
    (x0, y0), (x1, y1) = locate_middle(start), locate_middle(end)
    half = WIDTH / 2
    if start.column == end.column and end.row == start.row + 1:
        return [(x0, locate_top(start)), (x1, y1 - measure_height(end) / 2)], None
    if start.column == end.column:  # around the blocks between them, at the right
        side = x0 + half + (0.55 if arrow.is_delayed else 0.28)
        offset = -GAP if arrow.is_delayed else GAP
        points = [(x0 + half, y0 + offset), (side, y0 + offset), (side, y1 - offset), (x1 + half, y1 - offset)]
        return points, (side, (y0 + y1) / 2)
    if end.column == MIDDLE and start.column == ENCODER:  # up, then in from the left
        return [(x0, locate_top(start)), (x0, y1), (x1 - half, y1)], ((x0 + x1) / 2 - half / 2, y1 + 0.03)
    if end.column == MIDDLE:  # the query: out at the left, then up
        x = x1 + half * 0.62
        bottom = y1 - measure_height(end) / 2
        return [(x0 - half, y0 + GAP), (x, y0 + GAP), (x, bottom)], ((x + x0 - half) / 2, y0 + GAP + 0.03)
    if start.column == MIDDLE and start.row == end.row:
        return [(x0 + half, y0), (x1 - half, y1)], ((x0 + x1) / 2, y0 + 0.03)
    if start.column == MIDDLE:  # the context: down, then in from the left
        x = x0 - half * 0.3
        bottom = y0 - measure_height(start) / 2
        return [(x, bottom), (x, y1 - GAP), (x1 - half, y1 - GAP)], ((x + x1 - half) / 2, y1 - GAP + 0.03)
    bus = COLUMN + half  # from the top of the encoder to every layer of the decoder
    return [(x0 + half, y0), (bus, y0), (bus, y1), (x1 - half, y1)], ((bus + x1 - half) / 2, y1 + 0.03)


def format_network(diagram: NetworkDiagram, title: str, width: int = 80) -> list[str]:
    """Returns the blocks as lines of a table, in order of computation, followed by where attention joins.

    Details that do not fit in `width` columns continue below.
    """
    rows: list[Sequence[str]] = []
    for column, heading in ((ENCODER, "encoder"), (MIDDLE, ""), (DECODER, "decoder")):
        for block in sorted((block for block in diagram.blocks if block.column == column), key=lambda block: block.row):
            number = f"{block.weights:,}" if block.weights else ""
            rows.append((heading, block.title, number, "; ".join(block.details)))
            heading = ""
    rows.append(("in all", "", f"{diagram.weights:,}", "weights"))
    widths = [max(count_columns(row[index]) for row in rows) for index in range(3)]
    lines = [title, ""]
    for heading, name, number, details in rows:
        row = f"{heading:<{widths[0]}}  {name:<{widths[1]}}  {number:>{widths[2]}}  "
        if width - len(row) >= NARROWEST:
            lines += [line.rstrip() for line in wrap_text(row + details, width, hang=len(row))]
        else:
            indent = widths[0] + 4
            lines += [row.rstrip(), *wrap_text(" " * indent + details, width, hang=indent)]
    joins = [arrow for arrow in diagram.arrows if arrow.label]
    lines.append("")
    for arrow in joins:
        start, end = diagram.find_block(arrow.start).title, diagram.find_block(arrow.end).title
        delayed = ", at the next step" if arrow.is_delayed else ""
        lines.append(f"{arrow.label}: {start} -> {end}{delayed}")
    return lines
