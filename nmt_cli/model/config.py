"""Settings of the network. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting

Attention = Literal["none", "additive", "dot", "general", "concat", "scaled-dot"]

# What an attention asks of the other settings.
HAVE_HEADS = {"scaled-dot"}
FEED_THE_RECURRENCE = {"none", "additive"}
COMPARE_AS_THEY_ARE = {"dot"}  # decoder state with encoder output: nothing between them could change a width


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
    units: int = setting(512, "Width of the decoder's state.", panel="Network", low=2)
    encoder_units: int | None = setting(
        None, "Width of the encoder's output; each direction has half.  [default: --units]", panel="Network", low=2
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
    readout_units: int | None = setting(
        None, "Width of the dense layer before the output layer.  [default: --embedding]", panel="Network", low=1
    )
    readout_activation: Literal["tanh", "relu"] = setting("tanh", "What that layer applies.", panel="Network")
    tied: bool = setting(True, "Use the target embeddings as the output layer's weights.", panel="Network")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_encoder()
        self.check_heads()
        if self.input_feeding and self.attention in FEED_THE_RECURRENCE:
            raise OptionError(
                f"--input-feeding does not go with --attention {self.attention}",
                hint="its context feeds the recurrence already; take dot, general, concat or scaled-dot",
            )
        if self.tied and self.readout_width != self.embedding:
            raise OptionError(
                f"--readout-units is {self.readout_units}, but tied output weights are as wide as --embedding, "
                f"{self.embedding}",
                hint="add --no-tied, or give both the same width",
            )

    @property
    def encoder_width(self) -> int:
        """Width of the encoder's states and output, of both directions together."""
        return self.units if self.encoder_units is None else self.encoder_units

    @property
    def readout_width(self) -> int:
        """Width of what the output layer sees."""
        return self.embedding if self.readout_units is None else self.readout_units

    def check_encoder(self) -> None:
        if self.bidirectional and self.encoder_width % 2:
            raise OptionError(f"{self.encoder_named}; an even number is needed, half for each direction")
        if self.attention in COMPARE_AS_THEY_ARE and self.encoder_width != self.units:
            raise OptionError(
                f"--attention {self.attention} needs equal widths, but {self.encoder_named} and --units {self.units}",
                hint="take --attention general, which has a matrix between them, or give both the same width",
            )

    @property
    def encoder_named(self) -> str:
        """The option that sets the encoder's width, and its value."""
        name = "--units" if self.encoder_units is None else "--encoder-units"
        return f"{name} is {self.encoder_width}"

    def check_heads(self) -> None:
        if self.heads > 1 and self.attention not in HAVE_HEADS:
            raise OptionError(f"--heads is {self.heads}, but only --attention scaled-dot has heads")
        if self.attention_units % self.heads or self.encoder_width % self.heads:
            raise OptionError(
                f"--heads is {self.heads}, which does not divide both --attention-units {self.attention_units} "
                f"and the encoder's width {self.encoder_width}",
                hint="the heads share these widths equally: take numbers that --heads divides",
            )


@dataclass(frozen=True, kw_only=True)
class Vocabularies(Settings):
    """How many subwords each side has, and whether both sides use the same ones."""

    source: int
    target: int
    joint: bool
    features: int | None = None  # depth of the regions, where the source is a picture; `source` is then 0
