"""Short descriptions of a network: what is trained, what it starts from, what its 8-bit weights cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig
from nmt_cli.training.watcher import ParentInfo

if TYPE_CHECKING:
    from nmt_cli.training.int8_check import Int8Check


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


def describe_parent(parent: ParentInfo) -> str:
    """Returns which model a training starts from, and how many of its pieces are used."""
    languages = f"{parent.source_language} -> {parent.target_language}"
    if parent.is_same_vocabulary:
        return f"starts from {parent.name}/ ({languages}), which has the same pieces"
    sides = [
        f"{'pieces' if side == 'joint' else side} {counts.kept:,} kept, {counts.spelled:,} spelled, "
        f"{counts.drawn:,} drawn"
        for side, counts in parent.rows.items()
    ]
    return f"starts from {parent.name}/ ({languages}): {'; '.join(sides)}"


def describe_int8(check: Int8Check) -> str:
    """Returns the cost of 8-bit weights in BLEU, and whether they are used."""
    used = "used by default" if check.default == "int8" else "so float is the default"
    return f"int8 costs {max(check.cost, 0.0):.1f} BLEU: {check.int8_bytes / 1e6:.0f} MB, {used}."
