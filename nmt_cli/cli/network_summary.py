"""A network in a few words, as the first line of a training has it."""

from __future__ import annotations

from nmt_cli.model.config import ModelConfig


def described_network(network: ModelConfig) -> str:
    """Kind and widths of the network, in a few words."""
    fixed_norm = " · fixed norm" if network.fixed_norm else ""
    return f"{network.architecture} · {DESCRIBED[network.architecture](network)}{fixed_norm}"


def described_recurrent(network: ModelConfig) -> str:
    attention = "no attention" if network.attention == "none" else f"{network.attention} attention"
    heads = f", {network.heads} heads" if network.heads > 1 else ""
    embeddings = ", embeddings read" if network.attend_embeddings else ""
    width = network.encoder_width
    encoder = f"2x{width // 2}" if network.bidirectional else f"{width}"
    layers = f", {network.layers} layers" if network.layers > 1 else ""
    fed = ", input feeding" if network.input_feeding else ""
    return f"{attention}{heads}{embeddings}{fed} · {network.cell.upper()} {encoder} / {network.units}{layers}"


def described_transformer(network: ModelConfig) -> str:
    heads = "1 head" if network.heads == 1 else f"{network.heads} heads"
    layers = f"{network.layers} + {network.layers} layers"
    return f"{heads} · {layers}, width {network.embedding} / {network.feed_forward}"


DESCRIBED = {"rnn": described_recurrent, "transformer": described_transformer}
