"""A network in a few words. Standard library only, like the settings that it describes."""

from __future__ import annotations

from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig


def describe_network(network: ModelConfig) -> str:
    """Returns the kind and the widths of a network in a few words."""
    fixed_norm = " · fixed norm" if network.fixed_norm else ""
    if isinstance(network, RnnConfig):
        return f"rnn · {describe_rnn(network)}{fixed_norm}"
    if isinstance(network, TransformerConfig):
        return f"transformer · {describe_transformer(network)}{fixed_norm}"
    return network.architecture


def describe_rnn(network: RnnConfig) -> str:
    attention = "no attention" if network.attention == "none" else f"{network.attention} attention"
    heads = f", {network.heads} heads" if network.heads > 1 else ""
    embeddings = ", attends embeddings" if network.attend_embeddings else ""
    width = network.encoder_width
    encoder = f"2x{width // 2}" if network.bidirectional else f"{width}"
    layers = f", {network.layers} layers" if network.layers > 1 else ""
    feeding = ", input feeding" if network.input_feeding else ""
    return f"{attention}{heads}{embeddings}{feeding} · {network.cell.upper()} {encoder} / {network.units}{layers}"


def describe_transformer(network: TransformerConfig) -> str:
    heads = "1 head" if network.heads == 1 else f"{network.heads} heads"
    layers = f"{network.layers} + {network.layers} layers"
    return f"{heads} · {layers}, width {network.embedding} / {network.feed_forward}"
