"""The picture of a network: every weight is counted once, and attention joins where the decoder reads it."""

import math
from pathlib import Path

import pytest

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.visuals.network import NetworkDiagram, describe_blocks, draw_network, format_network
from support.models import KINDS, tiny_config

VOCABULARIES = Vocabularies(source=50, target=40, joint=False)


def count_sizes(config: ModelConfig) -> dict[str, int]:
    """The weights of the network that Keras makes."""
    from nmt_cli.model.seq2seq import Seq2Seq

    return {weight.path: math.prod(weight.shape) for weight in Seq2Seq(config, VOCABULARIES).weights}


def describe(**options: object) -> NetworkDiagram:
    return describe_blocks(tiny_config(**options), VOCABULARIES, {})  # type: ignore[arg-type]


@pytest.mark.network
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_every_weight_of_the_real_network_is_counted_once(options: dict[str, object]) -> None:
    config = tiny_config(**options)  # type: ignore[arg-type]
    sizes = count_sizes(config)
    diagram = describe_blocks(config, VOCABULARIES, sizes)
    assert diagram.weights == sum(sizes.values())
    counted = {block.name: block.weights for block in diagram.blocks}
    assert counted["source_embedding"] >= 50 * 8 and counted["target_embedding"] >= 40 * 8
    assert all(weights for name, weights in counted.items() if name.startswith(("encoder_", "decoder_")))


@pytest.mark.parametrize(
    ("options", "joined"),
    [
        ({"attention": "additive"}, {("decoder_0", "attention"), ("attention", "decoder_0"), ("attention", "readout")}),
        ({"attention": "dot", "units": 8}, {("decoder_0", "attention"), ("attention", "readout")}),
        ({"attention": "none"}, {("attention", "decoder_0"), ("attention", "readout")}),
        ({"architecture": "transformer"}, {("encoder_norm", "decoder_0"), ("encoder_norm", "decoder_1")}),
    ],
)
def test_attention_joins_where_the_decoder_reads_it(options: dict[str, object], joined: set[tuple[str, str]]) -> None:
    arrows = {(arrow.start, arrow.end) for arrow in describe(**options).arrows}
    between = {pair for pair in arrows if "attention" in pair or pair[0] == "encoder_norm"}
    assert between - {("encoder_0", "attention")} == joined


def test_input_feeding_arrives_at_the_next_step() -> None:
    delayed = [arrow for arrow in describe(attention="general", input_feeding=True).arrows if arrow.is_delayed]
    assert [(arrow.start, arrow.end) for arrow in delayed] == [("readout", "decoder_0")]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": 2, "attention": "general", "input_feeding": True},
        {"architecture": "transformer"},
        {"attention": "none", "cell": "lstm"},
    ],
)
def test_a_network_is_drawn_with_its_widths_and_weights(options: dict[str, object], tmp_path: Path) -> None:
    config = tiny_config(**options)  # type: ignore[arg-type]
    diagram = describe_blocks(config, VOCABULARIES, {"network/target_embedding/embeddings": 320, "network/other": 7})
    assert draw_network(diagram, tmp_path / "n.svg", title="a -> b") == ""
    text = (tmp_path / "n.svg").read_text(encoding="utf-8")
    assert "327 parameters" in text and "320 parameters" in text and "softmax: next subword" in text
    lines = format_network(diagram, "a -> b")
    assert any(line.startswith("in all") and "327" in line for line in lines)
    table = [line for line in lines[2:] if "320" in line or line.startswith("in all")]
    assert (
        len({line.index(number) + 3 for line, number in zip(table, ("320", "327"), strict=True)}) == 1
    )  # right-aligned
