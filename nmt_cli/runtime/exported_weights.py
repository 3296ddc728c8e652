"""The parts of a trained Transformer that exports share: its embeddings, positions and tokenizers.

Knows no format of another program. Letters: E width, V vocabulary, P positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nmt_cli.arrays.special_ids import PAD, START
from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import OptionError
from nmt_cli.runtime.model_directory import ModelCard, ModelDirectory
from nmt_cli.text.tokenizer import Tokenizer

NEVER = -1e9  # the bias of ids that are no next token
Weights = Mapping[str, FloatArray]


def refuse_layers(card: ModelCard, program: str) -> None:
    """Raises OptionError for a network, or a way to read text, that the other program does not have."""
    tokenizer, train = card.tokenizer, "nmt train --architecture transformer"
    refusals = {
        "has layers that are recurrent": (card.network["architecture"] != "transformer", train),
        "reads pictures": (card.has_pictures, "a model of text"),
        "scores directions alone (--set fixed-norm=true)": (
            card.network["fixed_norm"],
            f"{train} --set fixed-norm=false",
        ),
        "has words or lower case as subwords, which SentencePiece alone does not make": (
            tokenizer["kind"] == "word" or tokenizer["lowercase"],
            "nmt prepare --tokenizer unigram",
        ),
    }
    for reason, (holds, way) in refusals.items():
        if holds:
            raise OptionError(f"{program} cannot run this model, which {reason}", hint=f"it can run another: {way}")


def read_embeddings(card: ModelCard, weights: Weights) -> dict[str, FloatArray]:
    """Returns the embeddings (V, E) of the encoder and of the decoder; the same if their vocabulary is joint."""
    target = weights["network/target_embedding/embeddings"]
    source = target if card.vocabularies["joint"] else weights["network/source_embedding/embeddings"]
    return {"encoder": source, "decoder": target}


def read_output_bias(weights: Weights) -> FloatArray:
    """Returns the bias (V,) of the output layer, by which no sentence contains padding or a start."""
    bias = weights["network/output/bias"].copy()
    bias[[PAD, START]] = NEVER
    return bias


def read_positions(side: str, width: int, weights: Weights, count: int) -> FloatArray:
    """Returns (P, E) of the encoder or the decoder, of which there are `count`; learned ones go on with their last."""
    learned = weights.get(f"network/{side}/positions/table/embeddings")
    return make_sinusoids(width, count) if learned is None else learned[np.minimum(np.arange(count), len(learned) - 1)]


def make_sinusoids(width: int, count: int) -> FloatArray:
    """Returns (P, E): sine and cosine in turn, as `model.positions.Sinusoids` computes them."""
    rates = np.power(10_000.0, -np.arange(0, width, 2) / width)
    angles = np.arange(count)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, width).astype(np.float32)


def write_tokenizers(model: ModelDirectory, directory: Path) -> dict[str, Tokenizer]:
    """Writes `source.spm` and `target.spm`, and returns the tokenizers by side."""
    tokenizers = {"source": model.load_source().subwords, "target": model.load_target_tokenizer()}
    subwords = {side: tokenizer for side, tokenizer in tokenizers.items() if tokenizer is not None}
    for side, tokenizer in subwords.items():
        (directory / f"{side}.spm").write_bytes(tokenizer.model)
    return subwords
