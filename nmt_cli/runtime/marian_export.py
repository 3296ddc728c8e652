"""Writes a Transformer in the format of Marian (1.12), of its type `transformer-new`.

Needs neither Marian nor Keras. Marian's decoder begins with zeros, and its sine waves have other rates than the
paper's. So positions are written as learned ones, and the first one of the decoder has the embedding of the first token
in it. Marian does not scale embeddings where positions are learned: they are scaled here, and the output layer, which
is not, has weights of its own. Letters: E width, H heads, D width of a head, V vocabulary, P positions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.arrays.special_ids import START
from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import OptionError
from nmt_cli.files import write_json
from nmt_cli.runtime.exported_weights import (
    NEVER,
    Weights,
    read_embeddings,
    read_output_bias,
    read_positions,
    refuse_layers,
    write_tokenizers,
)
from nmt_cli.runtime.model_directory import WEIGHTS, ModelCard, ModelDirectory
from nmt_cli.text.tags import TagPurpose

MODEL, CONFIG = "model.npz", "decoder.yml"
POSITIONS = 1000  # Marian's default --max-length, which must be the number of learned positions
DECODER = {
    "models": [MODEL],
    "vocabs": ["source.spm", "target.spm"],
    "relative-paths": True,
    "max-length": POSITIONS,
    "max-length-crop": True,
    "mini-batch": 1,  # Marian 1.12.42 gives other translations in larger ones: 309 of 1,000 lines
}
OPTIONS = {
    "type": "transformer-new",
    "version": "v1.12.42",
    "tied-embeddings": False,
    "tied-embeddings-src": False,
    "tied-embeddings-all": False,
    "transformer-decoder-autoreg": "self-attention",
    "transformer-ffn-activation": "relu",
    "transformer-preprocess": "n",
    "transformer-postprocess": "da",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "n",
    "transformer-train-position-embeddings": True,
}
CAST = "as<marian::nn::{}>()"  # how Marian names the class of a layer in a list
LAYERS = {"encoder": "TransformerEncoderLayer", "decoder": "TransformerDecoderLayerWithCrossAttention"}
# The attentions of a layer: Marian's block, its attention, and what the attention is called here.
ATTENTIONS = {
    "encoder": [("selfAttentionBlock", "selfAttention", "self")],
    "decoder": [("autoRegressiveBlock", "selfAttention", "self"), ("crossAttentionBlock", "crossAttention", "source")],
}
PROJECTIONS = {"qProj": "query", "kProj": "key", "vProj": "value", "oProj": "attention_output"}
FILTERS = {"at(0)->" + CAST.format("LinearReluDropout"): "inner", "at(1)->" + CAST.format("Linear"): "outer"}


def write_marian(model: ModelDirectory, directory: Path) -> None:
    """Writes a model into an empty directory. Raises OptionError for one whose layers or languages Marian lacks."""
    card = model.card
    refuse_layers(card, "Marian")
    if len(card.list_languages(TagPurpose.TARGET)) > 1:
        hint = "--export ctranslate2 takes tags; or train a model of one language"
        raise OptionError("Marian cannot ask this model for one of its languages: it spells tags as text", hint=hint)
    variables: dict[str, Any] = dict(make_variables(card, np.load(model.directory / WEIGHTS)))
    sizes = [len(variables[f"{side}_Wemb"]) for side in LAYERS]
    options = json.dumps(make_options(card.network, sizes))  # which is YAML, too
    variables["special:model.yml"] = np.frombuffer(options.encode() + b"\0", np.int8)
    np.savez(directory / MODEL, **variables)
    write_tokenizers(model, directory)
    write_json(directory / CONFIG, DECODER)


def make_options(network: dict[str, Any], sizes: list[int]) -> dict[str, Any]:
    """Returns the options of Marian that say what the network is."""
    return {
        **OPTIONS,
        "dim-vocabs": sizes,
        "dim-emb": network["embedding"],
        "enc-depth": network["layers"],
        "dec-depth": network["layers"],
        "transformer-heads": network["heads"],
        "transformer-dim-ffn": network["feed_forward"],
    }


def make_variables(card: ModelCard, weights: Weights) -> Iterator[tuple[str, FloatArray]]:
    """Yields Marian's variables and their names, in 32 bits."""
    network, embeddings = card.network, read_embeddings(card, weights)
    scale = network["embedding"] ** 0.5
    for side, table in embeddings.items():
        yield f"{side}_Wemb", (table * scale).astype(np.float32)
        positions = read_positions(side, network["embedding"], weights, POSITIONS).astype(np.float32)
        if side == "decoder":
            positions[0] += table[START] * scale
        stack = f"TransformerBatch{side.title()}->{side}"
        yield f"{stack}->positionEmbedding->embeddings", positions
        yield from make_norm(f"{stack}->postprocessor", weights, f"network/{side}/norm")
        for index in range(network["layers"]):
            layer = f"{stack}->layers->at({index})->{CAST.format(LAYERS[side])}"
            yield from make_layer(side, layer, weights, f"network/{side}/layer_{index}")
    yield from make_output(embeddings["decoder"] if network["tied"] else weights["network/output/kernel"], weights)


def make_output(kernel: FloatArray, weights: Weights) -> Iterator[tuple[str, FloatArray]]:
    """Yields the output layer, `kernel` (V, E). Ids that only the source has are never written."""
    bias = np.full((1, len(kernel)), NEVER, np.float32)
    targets = read_output_bias(weights)
    bias[0, : len(targets)] = targets
    yield "decoder_ff_logit_out_Wt", kernel.astype(np.float32)
    yield "decoder_ff_logit_out_b", bias


def make_layer(side: str, layer: str, weights: Weights, ours: str) -> Iterator[tuple[str, FloatArray]]:
    """Yields a layer of the encoder or the decoder. Attention has no biases here, which are zeros there."""
    for block, attention, name in ATTENTIONS[side]:
        yield from make_norm(f"{layer}->{block}->preprocessor", weights, f"{ours}/{name}_norm")
        for projection, part in PROJECTIONS.items():
            kernel = weights[f"{ours}/{name}_attention/{part}/kernel"].astype(np.float32)  # (E, H, D) or (H, D, E)
            width = kernel.shape[-1] if part == "attention_output" else len(kernel)
            yield f"{layer}->{block}->{attention}->{projection}->weight", kernel.reshape(width, width)
            yield f"{layer}->{block}->{attention}->{projection}->bias", np.zeros(width, np.float32)
    yield from make_norm(f"{layer}->filterBlock->preprocessor", weights, f"{ours}/feed_forward_norm")
    for position, name in FILTERS.items():
        for theirs, part in {"weight": "kernel", "bias": "bias"}.items():
            array = weights[f"{ours}/feed_forward/{name}/{part}"].astype(np.float32)
            yield f"{layer}->filterBlock->layers->{position}->{theirs}", array


def make_norm(name: str, weights: Weights, ours: str) -> Iterator[tuple[str, FloatArray]]:
    for theirs, part in {"weight": "gamma", "bias": "beta"}.items():
        yield f"{name}->norm->{theirs}", weights[f"{ours}/{part}"].astype(np.float32)
