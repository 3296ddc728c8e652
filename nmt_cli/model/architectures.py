"""The encoder and decoder of each architecture.

An encoder is called with embedded tokens or features (B, S, E) and their mask (B, S), and returns an `EncoderOutput`. A
decoder has `init_state` (the state before the first token), `step` (one step) and `teacher_force` (all steps, given the
true tokens).
"""

from __future__ import annotations

from nmt_cli.errors import OptionError
from nmt_cli.model.attentive_decoders import make_recurrent_decoder
from nmt_cli.model.config import ModelConfig, RnnConfig, TransformerConfig
from nmt_cli.model.decoders import RecurrentDecoder
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.grid_encoder import GridEncoder
from nmt_cli.model.transformer import TransformerDecoder, TransformerEncoder

Encoder = RecurrentEncoder | GridEncoder | TransformerEncoder
Decoder = RecurrentDecoder | TransformerDecoder


def make_encoder(config: ModelConfig, *, reads_pictures: bool, name: str) -> Encoder:
    """Returns the encoder of text or of pictures. Raises OptionError if these settings do not allow pictures."""
    match config:
        case RnnConfig() if not reads_pictures:
            return RecurrentEncoder(config, name=name)
        case RnnConfig() if not config.attend_embeddings:
            return GridEncoder(config, name=name)
        case RnnConfig():
            raise OptionError(
                "--attend-embeddings needs text, but the sources of this corpus are pictures", hint="leave it out"
            )
        case TransformerConfig() if not reads_pictures:
            return TransformerEncoder(config, name=name)
    raise OptionError(
        f"--architecture {config.architecture} reads text, but the sources of this corpus are pictures",
        hint="use --architecture rnn",
    )


def make_decoder(config: ModelConfig, *, name: str) -> Decoder:
    """Returns the decoder of the architecture."""
    if isinstance(config, TransformerConfig):
        return TransformerDecoder(config, name=name)
    if isinstance(config, RnnConfig):
        return make_recurrent_decoder(config, name)
    raise TypeError(f"{type(config).__name__} has no decoder")
