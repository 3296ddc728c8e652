"""Writes a Transformer in the format of CTranslate2 (4.x), which LibreTranslate, Argos and others load.

Needs neither CTranslate2 nor Keras. Kernels are (inputs, outputs) in nmt, but (outputs, inputs) in CTranslate2.
Letters: E width, H heads, D width of a head, V vocabulary, P positions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from nmt_cli.arrays.types import PAD, START, FloatArray
from nmt_cli.errors import OptionError
from nmt_cli.files import write_json
from nmt_cli.runtime.model_directory import WEIGHTS, ModelCard, ModelDirectory
from nmt_cli.text.tokenizer import Tokenizer

BINARY_VERSION, NAME, REVISION = 6, "TransformerSpec", 7
POSITIONS = 512  # that are written; CTranslate2 translates no longer texts
DTYPES = {"float32": 0, "int8": 1, "int16": 2}  # their numbers in the format
CONFIG = {
    "add_source_bos": False,
    "add_source_eos": True,
    "bos_token": "<s>",
    "decoder_start_token": "<s>",
    "eos_token": "</s>",
    "layer_norm_epsilon": 1e-6,
    "multi_query_attention": False,
    "unk_token": "<unk>",
}
NEVER = -1e9  # the bias of ids that are no next token
Variables = dict[str, Any]
Weights = Mapping[str, FloatArray]


def write_ctranslate2(model: ModelDirectory, directory: Path) -> None:
    """Writes a model into an empty directory. Raises OptionError for one that CTranslate2 cannot run."""
    card = model.card
    refuse_layers(card)
    weights = np.load(model.directory / WEIGHTS)
    with (directory / "model.bin").open("wb") as file:
        write_variables(file, make_variables(card, weights))
    write_json(directory / "config.json", CONFIG)
    sizes = {"source": card.vocabularies["source"], "target": card.vocabularies["target"]}
    for side, tokenizer in write_tokenizers(model, directory).items():
        # A list, though `write_json` writes mappings: the format wants one.
        write_json(directory / f"{side}_vocabulary.json", tokenizer.spell_pieces(range(sizes[side])))  # type: ignore[arg-type]


def make_variables(card: ModelCard, weights: Weights) -> Variables:
    """Returns the variables of the format by name; a text as value is the name of an equal variable."""
    network, size = card.network, card.vocabularies["target"]
    embeddings = read_embeddings(card, weights)
    variables: Variables = {
        "encoder/embeddings_0/weight": embeddings["encoder"],
        "encoder/embeddings_merge": np.int8(0),
        "encoder/multi_query_attention": np.int8(0),
        "decoder/embeddings/weight": embeddings["decoder"][:size],
        "decoder/projection/bias": read_output_bias(weights),
        "decoder/projection/weight": "decoder/embeddings/weight"
        if network["tied"]
        else weights["network/output/kernel"],
        "decoder/start_from_zero_embedding": np.int8(0),
        "decoder/alibi": np.int8(0),
        "decoder/alibi_use_positive_positions": np.int8(0),
        "decoder/scale_alibi": np.int8(0),
        "decoder/alignment_layer": np.int16(-1),
        "decoder/alignment_heads": np.int16(1),
    }
    for side in ("encoder", "decoder"):
        variables |= make_stack(side, network, weights)
    return variables


def make_stack(side: str, network: Mapping[str, Any], weights: Weights) -> Variables:
    """Returns the variables of the encoder or the decoder, except its embeddings."""
    variables: Variables = {
        f"{side}/activation": np.int8(0),
        f"{side}/num_heads": np.int16(network["heads"]),
        f"{side}/pre_norm": np.int8(1),
        f"{side}/scale_embeddings": np.int8(1),
        f"{side}/position_encodings/encodings": read_positions(side, network["embedding"], weights, POSITIONS),
        **dict(make_norm(f"{side}/layer_norm", weights, f"network/{side}/norm")),
    }
    for index in range(network["layers"]):
        ours, theirs = f"network/{side}/layer_{index}", f"{side}/layer_{index}"
        variables |= make_attention(f"{theirs}/self_attention", weights, f"{ours}/self", [["query", "key", "value"]])
        if side == "decoder":
            joined = [["query"], ["key", "value"]]
            variables |= make_attention(f"{theirs}/attention", weights, f"{ours}/source", joined)
        variables |= dict(make_norm(f"{theirs}/ffn/layer_norm", weights, f"{ours}/feed_forward_norm"))
        for number, name in enumerate(("inner", "outer")):
            variables[f"{theirs}/ffn/linear_{number}/weight"] = weights[f"{ours}/feed_forward/{name}/kernel"].T
            variables[f"{theirs}/ffn/linear_{number}/bias"] = weights[f"{ours}/feed_forward/{name}/bias"]
    return variables


def make_attention(name: str, weights: Weights, ours: str, joined: list[list[str]]) -> Variables:
    """Returns the variables of an attention; kernels (E, H, D) that are `joined` are stacked on each other."""
    output = weights[f"{ours}_attention/attention_output/kernel"]
    width = output.shape[-1]
    kernels = [[weights[f"{ours}_attention/{part}/kernel"] for part in parts] for parts in joined]
    matrices = [np.concatenate([kernel.reshape(width, width).T for kernel in group]) for group in kernels]
    variables = dict(make_norm(f"{name}/layer_norm", weights, f"{ours}_norm"))
    for number, matrix in enumerate([*matrices, output.reshape(width, width).T]):
        variables[f"{name}/linear_{number}/weight"] = matrix
        variables[f"{name}/linear_{number}/bias"] = np.zeros(len(matrix), np.float32)
    return variables


def make_norm(name: str, weights: Weights, ours: str) -> Iterator[tuple[str, FloatArray]]:
    for part in ("gamma", "beta"):
        yield f"{name}/{part}", weights[f"{ours}/{part}"]


def write_variables(file: BinaryIO, variables: Variables) -> None:
    """Writes the variables in the binary format, in order of their names."""
    arrays = {name: np.asarray(value) for name, value in sorted(variables.items()) if not isinstance(value, str)}
    aliases = {name: value for name, value in sorted(variables.items()) if isinstance(value, str)}
    file.write(struct.pack("I", BINARY_VERSION) + pack_text(NAME) + struct.pack("II", REVISION, len(arrays)))
    for name, array in arrays.items():
        kind = array.dtype.name if array.dtype.name in DTYPES else "float32"  # packages keep 16 bits
        content = np.ascontiguousarray(array, kind).tobytes()
        shape = struct.pack("B", array.ndim) + struct.pack(f"{array.ndim}I", *array.shape)
        file.write(pack_text(name) + shape + struct.pack("=BI", DTYPES[kind], len(content)) + content)
    file.write(struct.pack("I", len(aliases)))
    for name, other in aliases.items():
        file.write(pack_text(name) + pack_text(other))


def pack_text(text: str) -> bytes:
    """Returns a text with its length before it and a zero byte after it."""
    return struct.pack("H", len(text) + 1) + text.encode() + b"\0"


def refuse_layers(card: ModelCard) -> None:
    """Raises OptionError for a network, or a way to read text, that CTranslate2 does not support."""
    tokenizer, train = card.tokenizer, "nmt train --architecture transformer"
    refusals = {
        "has recurrent layers": (card.network["architecture"] != "transformer", train),
        "is a captioning model": (card.has_pictures, "a model that translates text"),
        "was trained with --fixed-norm": (card.network["fixed_norm"], f"{train} --no-fixed-norm"),
        "has word or lower-case subwords, which SentencePiece alone cannot produce": (
            tokenizer["kind"] == "word" or tokenizer["lowercase"],
            "nmt prepare --tokenizer unigram",
        ),
    }
    for reason, (holds, way) in refusals.items():
        if holds:
            raise OptionError(
                f"CTranslate2 cannot run this model, because it {reason}", hint=f"export a model of another kind: {way}"
            )


def read_embeddings(card: ModelCard, weights: Weights) -> dict[str, FloatArray]:
    """Returns the embeddings (V, E) of the encoder and of the decoder; the same if their vocabulary is joint."""
    target = weights["network/target_embedding/embeddings"]
    source = target if card.vocabularies["joint"] else weights["network/source_embedding/embeddings"]
    return {"encoder": source, "decoder": target}


def read_output_bias(weights: Weights) -> FloatArray:
    """Returns the bias (V,) of the output layer, changed so that no sentence contains padding or a start token."""
    bias = weights["network/output/bias"].copy()
    bias[[PAD, START]] = NEVER
    return bias


def read_positions(side: str, width: int, weights: Weights, count: int) -> FloatArray:
    """Returns the first `count` positions (P, E) of the encoder or the decoder; the last learned one is repeated."""
    learned = weights.get(f"network/{side}/positions/table/embeddings")
    return make_sinusoids(width, count) if learned is None else learned[np.minimum(np.arange(count), len(learned) - 1)]


def make_sinusoids(width: int, count: int) -> FloatArray:
    """Returns (P, E): sine and cosine in turn, as `model.transformer.Sinusoids` computes them."""
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
