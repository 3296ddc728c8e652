"""Which encoder and which decoder make up each architecture.

An encoder is called with embedded tokens (B, S, E) and their mask (B, S), and gives what it `Encoded`. A decoder has
`start` (the state before the first token), `advance` (one step) and `force` (all steps, given the true tokens).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nmt_cli.model.config import ModelConfig
from nmt_cli.model.decoders import RecurrentDecoder, decoder_of
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.transformer import TransformerDecoder, TransformerEncoder

Encoder = RecurrentEncoder | TransformerEncoder
Decoder = RecurrentDecoder | TransformerDecoder


@dataclass(frozen=True)
class Architecture:
    """How the two halves are made, of the settings and the name of the layer."""

    encoder: Callable[[ModelConfig, str], Encoder]
    decoder: Callable[[ModelConfig, str], Decoder]
    reads_grids: bool  # whether the decoder also goes with the encoder of pictures


ARCHITECTURES = {
    "rnn": Architecture(lambda config, name: RecurrentEncoder(config, name=name), decoder_of, reads_grids=True),
    "transformer": Architecture(
        lambda config, name: TransformerEncoder(config, name=name),
        lambda config, name: TransformerDecoder(config, name=name),
        reads_grids=False,
    ),
}
