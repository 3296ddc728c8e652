"""The tree of a beam search as a picture or as lines of text. Takes a finished tree; must not search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.search.trace import Node
from nmt_cli.translation.beam_tree import TracedBeam
from nmt_cli.visuals.canvas import BLUE, FAINT, FONT_SIZE, INK, new_figure, write_figure
from nmt_cli.visuals.labels import cell_width, piece_labels, printable, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RIVALS = 2  # pruned candidates shown of each step: those that came closest
LIKELY_END = 0.01  # probability from which an end that was not the best is shown
ROW = 0.27  # inches a leaf
COLUMN = 0.45  # inches between the columns of two steps


def shown(beam: TracedBeam) -> list[int]:
    """The nodes worth showing: all that were kept, likely ends, and the closest rivals of each step.

    Steps beyond the translation's length, in which search only made sure that nothing better follows, are left out.
    """
    last = max(node.depth for node in beam.nodes if node.best)
    by_depth: dict[int, list[int]] = {}
    for place, node in enumerate(beam.nodes):
        if node.fate == "pruned":
            by_depth.setdefault(node.depth, []).append(place)
    rivals = {
        place
        for places in by_depth.values()
        for place in sorted(places, key=lambda place: -beam.nodes[place].log_probability)[:RIVALS]
    }
    return [
        place
        for place, node in enumerate(beam.nodes)
        if node.depth <= last
        and (node.fate == "kept" or node.best or place in rivals or (node.fate == "ended" and is_likely(node)))
    ]


def is_likely(node: Node) -> bool:
    return node.probability >= LIKELY_END


def children(beam: TracedBeam, places: Sequence[int]) -> dict[int, list[int]]:
    """The shown nodes below each, the translation's own first, then by probability."""
    below: dict[int, list[int]] = {place: [] for place in places}
    for place in places[1:]:
        below[beam.nodes[place].parent].append(place)
    for own in below.values():
        own.sort(key=lambda place: (not beam.nodes[place].best, -beam.nodes[place].probability))
    return below


def node_labels(beam: TracedBeam) -> list[str]:
    """What stands at each node; the first is the start."""
    after_a_letter = [
        piece_labels(["a", piece])[1] for piece in beam.pieces
    ]  # so that the rest of a word shows its dot
    return ["start", *(printable(label) for label in after_a_letter[1:])]


def draw_beam(beam: TracedBeam, path: Path, *, title: str) -> str:
    """Writes the tree to a PNG or SVG file; returns the characters that no font could show."""
    text = "".join((*node_labels(beam), title, beam.text, "%"))
    return write_figure(path, text, lambda: beam_figure(beam, title), title=title)


def heights(below: dict[int, list[int]]) -> dict[int, float]:
    """The line of each node from the top: leaves one after the other, a parent at the height of its first child."""
    found: dict[int, float] = {}
    leaves = 0
    stack = [(0, False)]
    while stack:
        place, done = stack.pop()
        if done:
            found[place] = found[below[place][0]]
        elif below[place]:
            stack.append((place, True))
            stack += [(child, False) for child in reversed(below[place])]
        else:
            found[place] = leaves
            leaves += 1
    return found


def beam_figure(beam: TracedBeam, title: str) -> Figure:
    """Steps from left to right; the translation on top, bold; pruned rivals faint, in italics, behind dashed lines."""
    places = shown(beam)
    below = children(beam, places)
    line = heights(below)
    texts = labelled(beam, places)
    widths = {place: width_of(text, bold=beam.nodes[place].best) for place, text in texts.items()}
    starts = columns(beam, widths)
    width, height = starts[-1], (max(line.values()) + 1) * ROW
    figure = new_figure(width, height)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(max(line.values()) + 0.7, -0.7))
    axes.axis("off")
    for place in places:
        node = beam.nodes[place]
        style = style_of(node)
        if place:
            draw_edge(axes, starts, node, line[node.parent], line[place], widths[node.parent], style)
        axes.text(
            starts[node.depth], line[place], texts[place], va="center", fontsize=FONT_SIZE, parse_math=False,
            color=style["color"], weight="bold" if node.best else "normal",
            style="italic" if node.fate == "pruned" else "normal",
        )  # fmt: skip
    legend = (
        "bold: the translation    italic, dashed: the closest rivals that were pruned    %: probability of the token"
    )
    axes.set_title(f"{title}\n{beam.text}", loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False, pad=22)
    axes.text(0, 1, legend, transform=axes.transAxes, va="bottom", fontsize=FONT_SIZE - 2, color=FAINT)
    return figure


def labelled(beam: TracedBeam, places: Sequence[int]) -> dict[int, str]:
    labels = node_labels(beam)
    return {
        place: f"{shortened(labels[place], 16)} {percent(beam.nodes[place].probability)}" if place else labels[0]
        for place in places
    }


def percent(probability: float) -> str:
    return f"{100 * probability:.0f} %" if probability >= 0.01 else f"{100 * probability:.1f} %"


def columns(beam: TracedBeam, widths: dict[int, float]) -> list[float]:
    """Where the text of each step begins, in inches, and behind the last one the width of the figure."""
    widest: dict[int, float] = {}
    for place, width in widths.items():
        depth = beam.nodes[place].depth
        widest[depth] = max(widest.get(depth, 0.0), width)
    starts = [0.0]
    for depth in sorted(widest):
        starts.append(starts[-1] + widest[depth] + COLUMN)
    return starts


def width_of(text: str, *, bold: bool) -> float:
    """Inches, generously."""
    return cell_width(text) * FONT_SIZE * (0.72 if bold else 0.62) / 72


def style_of(node: Node) -> dict[str, Any]:
    if node.best:
        return {"color": BLUE, "linewidth": 1.8, "zorder": 3}
    if node.fate == "pruned":
        return {"color": FAINT, "linewidth": 0.7, "linestyle": (0, (3, 3)), "zorder": 1}
    return {"color": INK, "linewidth": 0.9, "zorder": 2}


def draw_edge(
    axes: Any, starts: list[float], node: Node, parent: float, own: float, before: float, style: dict[str, Any]
) -> None:
    """From the end of the parent's text, which is `before` inches wide, through the gap to the beginning of its own."""
    right = starts[node.depth] - 0.06
    left = starts[node.depth - 1] + before + 0.02
    middle = starts[node.depth] - COLUMN * 0.6
    axes.plot([min(left, middle), middle, middle, right], [parent, parent, own, own], solid_joinstyle="round", **style)


def beam_lines(beam: TracedBeam) -> list[str]:
    """The tree as indented lines: `*` before the translation, `x` before what was pruned; probabilities in per cent."""
    places = shown(beam)
    below, texts = children(beam, places), labelled(beam, places)
    lines: list[str] = []
    stack = [(child, 0) for child in reversed(below[0])]
    while stack:
        place, depth = stack.pop()
        chain = [place]
        while len(below[chain[-1]]) == 1:  # a chain without a fork takes one line
            chain += below[chain[-1]]
        node = beam.nodes[place]
        mark = "*" if node.best else "x" if node.fate == "pruned" else " "
        lines.append("  " * depth + f"{mark} " + "  ".join(texts[one] for one in chain))
        stack += [(child, depth + 1) for child in reversed(below[chain[-1]])]
    return [*lines, "", "* the translation   x pruned, the closest rivals of each step   %: probability of the token"]
