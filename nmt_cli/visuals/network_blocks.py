"""The parts of a trained network for drawing: each one's kind, width, number of weights, and successors.

Takes the settings of the network and the sizes of its weights by name; must not know files or drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.text.wrapping import format_count

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
    """A part of the network, positioned by column and row, counted from the bottom."""

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
    """Returns the diagram of a network; `sizes` are the numbers of all its weights by name."""
    if isinstance(config, TransformerConfig):
        diagram = describe_transformer(config, vocabularies)
    else:
        diagram = describe_rnn(cast(RnnConfig, config), vocabularies)
    return replace(diagram, blocks=count_weights(diagram.blocks, sizes))


def count_weights(blocks: Sequence[NetworkBlock], sizes: Mapping[str, int]) -> tuple[NetworkBlock, ...]:
    """Returns the blocks with their numbers of weights: each weight counts for the block with its longest prefix."""
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
    """Returns the width in which attention compares, and that of its context."""
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
