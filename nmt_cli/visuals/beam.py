"""Shows the tree of a beam search as a picture or as lines of text. Takes a finished tree; must not search."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.search.beam import BeamNode
from nmt_cli.text.wrapping import count_columns
from nmt_cli.translation.beam_tree import TracedBeam
from nmt_cli.visuals.canvas import BLUE, FAINT, FONT_SIZE, INK, create_figure, write_figure
from nmt_cli.visuals.labels import label_rivals, replace_controls, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RIVALS = 2  # pruned candidates that are shown of each step: the most likely ones
LIKELY_END = 0.01  # probability from which a finished hypothesis that is not the best is shown
ROW = 0.27  # inches per leaf
COLUMN = 0.45  # inches between the columns of two steps


def select_nodes(beam: TracedBeam) -> list[int]:
    """Returns the indices of the nodes worth showing, in order.

    These are all kept nodes, likely finished hypotheses, and the closest rivals of each step. Steps beyond the length
    of the translation, in which search only confirmed that nothing better follows, are left out.
    """
    nodes = beam.nodes
    last = max(node.depth for node in nodes if node.best)
    pruned = [index for index, node in enumerate(nodes) if node.fate == "pruned"]
    pruned.sort(key=lambda index: (nodes[index].depth, -nodes[index].log_probability))
    by_depth = groupby(pruned, lambda index: nodes[index].depth)
    shown = {index for _, of_depth in by_depth for index in islice(of_depth, RIVALS)}
    for index, node in enumerate(nodes):
        if node.fate == "kept" or node.best or (node.fate == "ended" and node.probability >= LIKELY_END):
            shown.add(index)
    return sorted(index for index in shown if nodes[index].depth <= last)


def list_children(beam: TracedBeam, nodes: Sequence[int]) -> dict[int, list[int]]:
    """Returns the children that each of `nodes` has among them: the translation's own first, then by probability."""
    children: dict[int, list[int]] = {index: [] for index in nodes}
    for index in nodes[1:]:
        children[beam.nodes[index].parent].append(index)
    for siblings in children.values():
        siblings.sort(key=lambda index: (not beam.nodes[index].best, -beam.nodes[index].probability))
    return children


def label_nodes(beam: TracedBeam) -> list[str]:
    """Returns the label of each node; the first node is the start."""
    # Each piece is labelled as if it followed a letter, so that the continuation of a word has its dot.
    labels = label_rivals(beam.pieces)
    return ["start", *(replace_controls(label) for label in labels[1:])]


def draw_beam(beam: TracedBeam, path: Path, *, title: str) -> str:
    """Writes the tree to a PNG or SVG file; returns the characters that no installed font can show."""
    text = "".join((*label_nodes(beam), title, beam.text, "%"))
    return write_figure(path, text, lambda: build_beam_figure(beam, title), title=title)


def assign_heights(children: dict[int, list[int]]) -> dict[int, float]:
    """Returns the line of each node from the top: one for each leaf; a parent is level with its first child."""
    heights: dict[int, float] = {}
    leaves = 0
    stack = [(0, False)]
    while stack:
        index, children_are_done = stack.pop()
        if children_are_done:
            heights[index] = heights[children[index][0]]
        elif children[index]:
            stack.append((index, True))
            stack += [(child, False) for child in reversed(children[index])]
        else:
            heights[index] = leaves
            leaves += 1
    return heights


def build_beam_figure(beam: TracedBeam, title: str) -> Figure:
    """Draws the steps from left to right.

    The translation is on top, in bold; pruned rivals are faint, in italics, at the end of dashed lines.
    """
    nodes = select_nodes(beam)
    heights = assign_heights(list_children(beam, nodes))
    texts = label_shown_nodes(beam, nodes)
    # In inches, a generous estimate: bold letters are wider.
    sizes = {index: FONT_SIZE * (0.72 if beam.nodes[index].best else 0.62) / 72 for index in texts}
    widths = {index: count_columns(text) * sizes[index] for index, text in texts.items()}
    starts = place_columns(beam, widths)
    width, height = starts[-1], (max(heights.values()) + 1) * ROW
    figure = create_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(max(heights.values()) + 0.7, -0.7))
    axes.axis("off")
    for index in nodes:
        node = beam.nodes[index]
        style = choose_style(node)
        if index:
            top, bottom, right = heights[node.parent], heights[index], starts[node.depth] - 0.06
            left, middle = starts[node.depth - 1] + widths[node.parent] + 0.02, starts[node.depth] - COLUMN * 0.6
            corners = [min(left, middle), middle, middle, right], [top, top, bottom, bottom]
            axes.plot(*corners, solid_joinstyle="round", **style)
        axes.text(
            starts[node.depth], heights[index], texts[index], va="center", fontsize=FONT_SIZE, parse_math=False,
            color=style["color"], weight="bold" if node.best else "normal",
            style="italic" if node.fate == "pruned" else "normal",
        )  # fmt: skip
    legend = "bold: the translation · italic, dashed: the closest pruned rivals · %: probability of the token"
    axes.set_title(f"{title}\n{beam.text}", loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False, pad=22)
    axes.text(0, 1, legend, transform=axes.transAxes, va="bottom", fontsize=FONT_SIZE - 2, color=FAINT)
    return figure


def label_shown_nodes(beam: TracedBeam, nodes: Sequence[int]) -> dict[int, str]:
    """Returns the text at each of `nodes`: its piece and that piece's probability."""
    labels = label_nodes(beam)
    return {
        index: f"{shorten(labels[index], 16)} {format_percent(beam.nodes[index].probability)}" if index else labels[0]
        for index in nodes
    }


def format_percent(probability: float) -> str:
    return f"{100 * probability:.0f} %" if probability >= 0.01 else f"{100 * probability:.1f} %"


def place_columns(beam: TracedBeam, widths: dict[int, float]) -> list[float]:
    """Returns the left edge of each step's text, in inches, followed by the width of the figure."""
    widest: dict[int, float] = {}
    for index, width in widths.items():
        depth = beam.nodes[index].depth
        widest[depth] = max(widest.get(depth, 0.0), width)
    starts = [0.0]
    for depth in sorted(widest):
        starts.append(starts[-1] + widest[depth] + COLUMN)
    return starts


def choose_style(node: BeamNode) -> dict[str, Any]:
    if node.best:
        return {"color": BLUE, "linewidth": 1.8, "zorder": 3}
    if node.fate == "pruned":
        return {"color": FAINT, "linewidth": 0.7, "linestyle": (0, (3, 3)), "zorder": 1}
    return {"color": INK, "linewidth": 0.9, "zorder": 2}


def format_beam(beam: TracedBeam) -> list[str]:
    """Returns the tree as indented lines: `*` marks the translation, `x` pruned nodes; probabilities are in per cent.

    A chain of nodes without a fork takes one line.
    """
    nodes = select_nodes(beam)
    children, texts = list_children(beam, nodes), label_shown_nodes(beam, nodes)
    lines: list[str] = []
    stack = [(child, 0) for child in reversed(children[0])]
    while stack:
        index, depth = stack.pop()
        chain = [index]
        while len(children[chain[-1]]) == 1:
            chain += children[chain[-1]]
        node = beam.nodes[index]
        mark = "*" if node.best else "x" if node.fate == "pruned" else " "
        lines.append("  " * depth + f"{mark} " + "  ".join(texts[link] for link in chain))
        stack += [(child, depth + 1) for child in reversed(children[chain[-1]])]
    return [*lines, "", "* the translation   x the closest pruned rivals of each step   %: probability of the token"]
