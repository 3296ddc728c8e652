"""Settings of the network. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting

Attention = Literal["none", "additive", "dot", "general", "concat", "scaled-dot"]


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Settings):
    """The shape of the network; the vocabulary sizes come from the corpus (`Vocabularies`)."""

    attention: Attention = setting(
        "additive",
        "How the decoder looks back: none is the plain encoder-decoder, additive is Bahdanau's, "
        "dot, general and concat are Luong's, scaled-dot has learned projections.",
        panel="Network",
    )
    cell: Literal["gru", "lstm"] = setting("gru", "Kind of recurrent cell.", panel="Network")
    bidirectional: bool = setting(True, "Read the source in both directions.", panel="Network")
    embedding: int = setting(256, "Width of a token's embedding.", panel="Network", low=1)
    units: int = setting(
        512, "Width of the decoder's state; each direction of the encoder has half.", panel="Network", low=2
    )
    layers: int = setting(1, "Recurrent layers in the encoder, and in the decoder.", panel="Network", low=1, high=16)
    attention_units: int = setting(256, "Width of the attention's comparison.", panel="Network", low=1)
    heads: int = setting(1, "Heads of scaled-dot attention.", panel="Network", low=1, high=64)
    input_feeding: bool = setting(
        False, "Feed what was read out into the next step (dot, general, concat, scaled-dot).", panel="Network"
    )
    dropout: float = setting(
        0.1, "Share of embeddings and outputs dropped while training.", panel="Network", low=0, high=0.9
    )
    tied: bool = setting(True, "Use the target embeddings as the output layer's weights.", panel="Network")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bidirectional and self.units % 2:
            raise OptionError(f"--units is {self.units}; an even number is needed, half for each direction")
        if self.heads > 1 and self.attention != "scaled-dot":
            raise OptionError(f"--heads is {self.heads}, but only --attention scaled-dot has heads")
        if self.attention_units % self.heads or self.units % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide --attention-units {self.attention_units} "
                f"and --units {self.units}"
            )
        if self.input_feeding and self.attention in ("none", "additive"):
            raise OptionError(
                f"--input-feeding does not go with --attention {self.attention}",
                hint="its context feeds the recurrence already; take dot, general, concat or scaled-dot",
            )


@dataclass(frozen=True, kw_only=True)
class Vocabularies(Settings):
    """How many subwords each side has, and whether both sides use the same ones."""

    source: int
    target: int
    joint: bool
    features: int | None = None  # depth of the regions, where the source is a picture; `source` is then 0
