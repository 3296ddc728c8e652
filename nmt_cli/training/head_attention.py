"""The attention of every head of every Transformer layer; the exported graphs keep only the mean of the last layer.

Letters: L layers, H heads, T target tokens, S source tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops

from nmt_cli.arrays.special_ids import START
from nmt_cli.arrays.types import FloatArray, SourceArray
from nmt_cli.errors import NotFoundError
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.runtime.model_directory import WEIGHTS, ModelCard
from nmt_cli.training.checkpoints.checkpoint import load_weights


def load_network(directory: Path, card: ModelCard) -> Seq2Seq:
    """Returns a model's network with its weights. Raises NotFoundError for a directory without them."""
    if not (directory / WEIGHTS).is_file():
        raise NotFoundError(
            f"{directory}/ has no {WEIGHTS}, which --heads reads", hint="copy the whole directory of the model"
        )
    keras.mixed_precision.set_dtype_policy("float32")
    network = Seq2Seq(ModelConfig.from_options(**card.network), Vocabularies(**card.vocabularies))
    load_weights(network, directory / WEIGHTS)
    return network


def measure_heads(network: Any, source: SourceArray, target_ids: Sequence[int]) -> FloatArray:
    """Returns the weights (L, H, T, S) of the source for one sentence (1, S) and its translation, END included."""
    previous = ops.convert_to_tensor([[START, *target_ids[:-1]]], "int32")
    state = network.encode(ops.convert_to_tensor(source, "int32"))
    weights = network.decoder.run(network.target_embedding(previous), state, training=False)[2]
    return np.stack([np.asarray(layer)[0] for layer in weights])
