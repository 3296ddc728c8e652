"""Settings of the network. Standard library only: the command line reads its options from here."""

from __future__ import annotations

from dataclasses import dataclass

from nmt_cli.errors import OptionError
from nmt_cli.settings import Settings, setting


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Settings):
    """The shape of the network; the vocabulary sizes come from the corpus (`Vocabularies`)."""

    embedding: int = setting(256, "Width of a token's embedding.", panel="Network", low=1)
    units: int = setting(
        512, "Width of the decoder's state; each direction of the encoder has half.", panel="Network", low=2
    )
    layers: int = setting(1, "Recurrent layers in the encoder, and in the decoder.", panel="Network", low=1, high=16)
    attention_units: int = setting(256, "Width of the attention's comparison.", panel="Network", low=1)
    dropout: float = setting(
        0.1, "Share of embeddings and outputs dropped while training.", panel="Network", low=0, high=0.9
    )
    tied: bool = setting(True, "Use the target embeddings as the output layer's weights.", panel="Network")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units % 2:
            raise OptionError(f"--units is {self.units}; an even number is needed, half for each direction")


@dataclass(frozen=True, kw_only=True)
class Vocabularies(Settings):
    """How many subwords each side has, and whether both sides use the same ones."""

    source: int
    target: int
    joint: bool
