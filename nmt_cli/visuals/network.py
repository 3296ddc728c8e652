"""Draws a network as blocks and arrows (PNG, SVG), or lists its blocks as lines of text. Takes a finished diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig, Vocabularies
from nmt_cli.text.wrapping import count_columns, format_count, wrap_text
from nmt_cli.visuals.canvas import BLUE, FAINT, FONT_SIZE, GRID, INK, ORANGE, create_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# The parts of a trained network for drawing: each one's kind, width, number of weights, and successors.
#
# Takes the settings of the network and the sizes of its weights by name; must not know files or drawing.


ENCODER, MIDDLE, DECODER = range(3)  # columns
ATTENTION_NAMES = {
    "none": "no attention",
    "additive": "additive attention (Bahdanau)",
    "dot": "dot attention (Luong)",
    "general": "general attention (Luong)",
    "concat": "concat attention (Luong)",
    "scaled-dot": "scaled-dot attention",
}


@dataclass(frozen=True)
class NetworkBlock:
    """A part of the network, positioned by column and by row, counting rows from the bottom."""

    name: str
    title: str
    details: tuple[str, ...]
    column: int
    row: int
    prefixes: tuple[str, ...] = ()  # of the names of its weights
    weights: int = 0


@dataclass(frozen=True)
class NetworkArrow:
    """The flow from one block to another."""

    start: str  # name of a block
    end: str
    label: str = ""
    is_delayed: bool = False  # whether it arrives at the next step of the decoder


@dataclass(frozen=True)
class NetworkDiagram:
    blocks: tuple[NetworkBlock, ...]
    arrows: tuple[NetworkArrow, ...]

    @property
    def weights(self) -> int:
        return sum(block.weights for block in self.blocks)

    def find_block(self, name: str) -> NetworkBlock:
        return next(block for block in self.blocks if block.name == name)


def describe_blocks(config: ModelConfig, vocabularies: Vocabularies, sizes: Mapping[str, int]) -> NetworkDiagram:
    """Returns the diagram of a network; `sizes` holds the number of values in each of its weights, by name."""
    if isinstance(config, TransformerConfig):
        diagram = describe_transformer(config, vocabularies)
    else:
        diagram = describe_rnn(cast(RnnConfig, config), vocabularies)
    return replace(diagram, blocks=count_weights(diagram.blocks, sizes))


def count_weights(blocks: Sequence[NetworkBlock], sizes: Mapping[str, int]) -> tuple[NetworkBlock, ...]:
    """Returns the blocks with their weight counts: a weight belongs to the block with the longest matching prefix."""
    counts = {block.name: 0 for block in blocks}
    for name, size in sizes.items():
        path = name.removeprefix("network/")
        matches = [
            (len(prefix), block.name) for block in blocks for prefix in block.prefixes if path.startswith(prefix)
        ]
        counts[max(matches)[1] if matches else blocks[-1].name] += size
    return tuple(replace(block, weights=counts[block.name]) for block in blocks)


def describe_inputs(config: ModelConfig, vocabularies: Vocabularies, positions: str = "") -> list[NetworkBlock]:
    """Returns the first blocks of both sides: the tokens and their embeddings."""
    added = (f"plus {positions} positions",) if positions else ()
    if vocabularies.features:
        tokens = ("regions of a picture", (f"{format_count(vocabularies.features, 'feature')} each",))
        embedding = ("dense layer", (f"{config.embedding} wide",))
    else:
        tokens = ("source subwords", (f"a vocabulary of {vocabularies.source:,}",))
        shared = ("shared with the target",) if vocabularies.joint else ()
        embedding = ("embedding", (f"{config.embedding} wide", *shared, *added))
    target = f"a vocabulary of {vocabularies.target:,}"
    return [
        NetworkBlock("source", tokens[0], tokens[1], ENCODER, 0),
        NetworkBlock("source_embedding", *embedding, ENCODER, 1, ("source", "encoder")),
        NetworkBlock("target", "previous subword", (target,), DECODER, 0),
        NetworkBlock(
            "target_embedding", "embedding", (f"{config.embedding} wide", *added), DECODER, 1, ("target", "decoder")
        ),
    ]


def describe_output(config: ModelConfig, vocabularies: Vocabularies, row: int) -> NetworkBlock:
    tied = "its weights are the embeddings" if config.tied else f"a matrix of {config.readout_width} rows"
    details = (f"over {vocabularies.target:,} subwords", tied)
    return NetworkBlock("output", "softmax: next subword", details, DECODER, row, ("output",))


def describe_rnn(config: RnnConfig, vocabularies: Vocabularies) -> NetworkDiagram:
    """Returns the diagram of a recurrent network: both stacks, and the attention between them."""
    cell = config.cell.upper()
    blocks, layers = describe_inputs(config, vocabularies), range(config.layers)
    for layer in layers:
        width = config.encoder_width
        encoder = (
            (f"bidirectional {cell}", f"2 × {width // 2} wide") if config.bidirectional else (cell, f"{width} wide")
        )
        blocks.append(
            NetworkBlock(f"encoder_{layer}", encoder[0], (encoder[1],), ENCODER, 2 + layer, (f"encoder/layer_{layer}",))
        )
        details = (f"{config.units} wide", "starts from the encoder's last state")
        names = tuple(f"decoder/{part}_{layer}" for part in ("cell", "bridge_hidden", "bridge_cell"))
        blocks.append(NetworkBlock(f"decoder_{layer}", cell, details, DECODER, 2 + layer, names))
    row = 2 + config.layers
    attention, compared = ATTENTION_NAMES[config.attention], describe_comparison(config)
    blocks.append(NetworkBlock("attention", attention, compared, MIDDLE, row, ("decoder/attention",)))
    readout = (f"{config.readout_width} wide, {config.readout_activation}",)
    blocks.append(NetworkBlock("readout", "readout", readout, DECODER, row, ("decoder/readout",)))
    blocks.append(describe_output(config, vocabularies, row + 1))
    return NetworkDiagram(tuple(blocks), tuple(connect_rnn(config)))


def describe_comparison(config: RnnConfig) -> tuple[str, ...]:
    """Returns the width in which attention compares states, and the width of its context."""
    context = f"context {config.memory_width} wide"
    if config.attention == "none":
        return ("the encoder's last state at every step", context)
    heads = f", {format_count(config.heads, 'head')}" if config.attention_kind.has_heads else ""
    compared = f"compares in {config.attention_units} dimensions{heads}"
    return (compared, context) if config.attention_kind.has_comparison_width else (context,)


def connect_rnn(config: RnnConfig) -> list[NetworkArrow]:
    """Returns the arrows. Bahdanau's context feeds the recurrence, Luong's only the readout."""
    top, memory = config.layers - 1, f"states, {config.encoder_width} wide"
    arrows = [NetworkArrow("source", "source_embedding"), NetworkArrow("target", "target_embedding")]
    for side in ("encoder", "decoder"):
        first = "source_embedding" if side == "encoder" else "target_embedding"
        names = [first, *(f"{side}_{layer}" for layer in range(config.layers))]
        arrows += [NetworkArrow(start, end) for start, end in pairwise(names)]
    memory += " + embeddings" if config.attend_embeddings else ""
    arrows.append(NetworkArrow(f"encoder_{top}", "attention", memory))
    if config.attention != "none":
        before = config.attention_kind.feeds_recurrence
        label = "query: last state" if before else "query: new state"
        arrows.append(NetworkArrow(f"decoder_{top}", "attention", label))
    if config.attention_kind.feeds_recurrence:
        arrows.append(NetworkArrow("attention", "decoder_0", "context"))
        arrows.append(NetworkArrow("target_embedding", "readout"))
    arrows.append(NetworkArrow("attention", "readout", "context"))
    arrows += [NetworkArrow(f"decoder_{top}", "readout"), NetworkArrow("readout", "output")]
    if config.input_feeding:
        arrows.append(NetworkArrow("readout", "decoder_0", "input feeding", is_delayed=True))
    return arrows


def describe_transformer(config: TransformerConfig, vocabularies: Vocabularies) -> NetworkDiagram:
    """Returns the diagram of a Transformer: both stacks; every layer of the decoder attends to the source."""
    blocks = describe_inputs(config, vocabularies, config.positions)
    heads = format_count(config.heads, "head")
    inner = f"feed-forward, {config.feed_forward:,} inside"
    arrows = [NetworkArrow("source", "source_embedding"), NetworkArrow("target", "target_embedding")]
    below = {"encoder": "source_embedding", "decoder": "target_embedding"}
    for layer in range(config.layers):
        for side, column in (("encoder", ENCODER), ("decoder", DECODER)):
            source = (f"attention to the source, {heads}",) if side == "decoder" else ()
            details = (f"self-attention, {heads}", *source, inner)
            name = f"{side}_{layer}"
            blocks.append(
                NetworkBlock(name, f"layer {layer + 1}", details, column, 2 + layer, (f"{side}/layer_{layer}",))
            )
            arrows.append(NetworkArrow(below[side], name))
            below[side] = name
    row = 2 + config.layers
    width = (f"{config.embedding} wide",)
    blocks.append(NetworkBlock("encoder_norm", "norm", width, ENCODER, row, ("encoder/norm",)))
    blocks.append(NetworkBlock("decoder_norm", "norm", width, DECODER, row, ("decoder/norm",)))
    blocks.append(describe_output(config, vocabularies, row + 1))
    arrows += [NetworkArrow(below["encoder"], "encoder_norm"), NetworkArrow(below["decoder"], "decoder_norm")]
    arrows += [NetworkArrow("encoder_norm", f"decoder_{layer}", "keys and values") for layer in range(config.layers)]
    return NetworkDiagram(tuple(blocks), (*arrows, NetworkArrow("decoder_norm", "output")))


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
    """Draws the encoder on the left, the decoder on the right, and the attention between them."""
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
    text = f"{title}\n{format_count(diagram.weights, 'parameter')}"
    axes.set_title(text, loc="left", fontsize=FONT_SIZE + 1, color=INK, parse_math=False, pad=14)
    return figure


def locate_middle(block: NetworkBlock) -> tuple[float, float]:
    return block.column * COLUMN + WIDTH / 2, block.row * ROW


def measure_height(block: NetworkBlock) -> float:
    return LINE * (2 + len(block.details)) + 0.06 if block.weights else LINE * (1 + len(block.details)) + 0.1


def locate_top(block: NetworkBlock) -> float:
    return block.row * ROW + measure_height(block) / 2


def draw_block(axes: Any, block: NetworkBlock) -> None:
    """Draws a rounded box with the title, the details and the number of weights; for mere tokens, only the text."""
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
    lines += [(format_count(block.weights, "parameter"), BLUE, FONT_SIZE - 1.5)] if block.weights else []
    for index, (text, colour, size) in enumerate(lines):
        top = y + LINE * (len(lines) - 1) / 2 - LINE * index
        axes.text(x, top, text, ha="center", va="center", fontsize=size, color=colour, parse_math=False, zorder=4)


def draw_arrow(axes: Any, diagram: NetworkDiagram, arrow: NetworkArrow) -> None:
    """Draws an arrow: upwards in a column, else around a corner that keeps it clear of the blocks."""
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
    """Returns the blocks as lines of a table, in order of computation, followed by the points where attention joins.

    Details that do not fit in `width` columns continue below.
    """
    rows: list[Sequence[str]] = []
    for column, heading in ((ENCODER, "encoder"), (MIDDLE, ""), (DECODER, "decoder")):
        for block in sorted((block for block in diagram.blocks if block.column == column), key=lambda block: block.row):
            number = f"{block.weights:,}" if block.weights else ""
            rows.append((heading, block.title, number, "; ".join(block.details)))
            heading = ""
    rows.append(("in all", "", f"{diagram.weights:,}", "parameters"))
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
