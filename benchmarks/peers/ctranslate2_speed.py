"""Seconds in which CTranslate2 translates sentences with the weights of an `nmt` Transformer in int8, on THREADS cores.

    python ctranslate2_speed.py TRANSFORMER MODEL SENTENCES TRANSLATIONS BEAM THREADS

TRANSFORMER is a model directory of `nmt train --architecture transformer`, with one vocabulary for both languages, of
which the target may have the beginning alone; MODEL is made of it if it is not there. Reads SENTENCES, a line each, and
writes TRANSLATIONS: from text to text, as ours. Prints how many it took at a time, and seconds on the wall and of the
processors.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec
from sentencepiece import SentencePieceProcessor

BATCHES = (32, 64, 128, 256)  # sentences at a time: the fastest for this beam on this machine is taken
TRIED = 512  # sentences, to find it
NEVER = -1e9  # of the ids that are no next token: padding and start
POSITIONS = 512

Weights = Mapping[str, np.ndarray]


def converted(transformer: Path, pieces: list[str]) -> TransformerSpec:
    """Kernels are (inputs, outputs) with us, outputs first with CTranslate2."""
    network = json.loads((transformer / "model.json").read_text(encoding="utf-8"))["network"]
    weights = np.load(transformer / "weights.npz")
    spec = TransformerSpec.from_config((network["layers"], network["layers"]), network["heads"])
    spec.config.add_source_eos = True
    embeddings = weights["network/target_embedding/embeddings"]
    spec.encoder.embeddings[0].weight = embeddings
    spec.decoder.projection.bias = weights["network/output/bias"].copy()
    written = len(spec.decoder.projection.bias)
    # A copy, or it would be quantised twice.
    spec.decoder.projection.weight = spec.decoder.embeddings.weight = embeddings[:written].copy()
    spec.decoder.projection.bias[[pieces.index("<pad>"), pieces.index("<s>")]] = NEVER
    for name in ("encoder", "decoder"):
        side = getattr(spec, name)
        side.position_encodings.encodings = sinusoids(embeddings.shape[1])
        norm(side.layer_norm, weights, f"network/{name}/norm")
        for index, layer in enumerate(side.layer):
            own = f"network/{name}/layer_{index}"
            attention(layer.self_attention, weights, own, "self", [["query", "key", "value"]])
            if name == "decoder":
                attention(layer.attention, weights, own, "source", [["query"], ["key", "value"]])
            norm(layer.ffn.layer_norm, weights, f"{own}/feed_forward_norm")
            linear(layer.ffn.linear_0, weights, f"{own}/feed_forward/inner")
            linear(layer.ffn.linear_1, weights, f"{own}/feed_forward/outer")
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces[:written])
    spec.validate()
    spec.optimize(quantization="int8")
    return spec


def sinusoids(width: int) -> np.ndarray:
    """(POSITIONS, width): sine and cosine in turn."""
    rates = np.power(10_000.0, -np.arange(0, width, 2) / width)
    angles = np.arange(POSITIONS)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(POSITIONS, width).astype(np.float32)


def attention(part: object, weights: Weights, layer: str, name: str, joined: list[list[str]]) -> None:
    """Of (E, heads, width of one) each; CTranslate2 wants those beside each other that are `joined`, and biases."""
    norm(part.layer_norm, weights, f"{layer}/{name}_norm")
    kernels = [[weights[f"{layer}/{name}_attention/{one}/kernel"] for one in ones] for ones in joined]
    output = weights[f"{layer}/{name}_attention/attention_output/kernel"]
    width = output.shape[-1]
    matrices = [np.concatenate([one.reshape(width, width).T for one in own]) for own in kernels]
    for one, matrix in zip(part.linear, [*matrices, output.reshape(width, width).T], strict=True):
        one.weight, one.bias = matrix, np.zeros(len(matrix), np.float32)


def linear(part: object, weights: Weights, name: str) -> None:
    part.weight, part.bias = weights[f"{name}/kernel"].T, weights[f"{name}/bias"]


def norm(part: object, weights: Weights, name: str) -> None:
    part.gamma, part.beta = weights[f"{name}/gamma"], weights[f"{name}/beta"]


def limit(source: int) -> int:
    """Tokens that a translation may have: what ours may. With 256 of them a few that find no end cost a fifth more."""
    return math.ceil(1.5 * source) + 5


def open_peer(
    transformer: Path, directory: Path, subwords: SentencePieceProcessor, **threads: int
) -> ctranslate2.Translator:
    """Opens the converted network in `directory`, which is made first if it is missing."""
    if not directory.exists():
        spec = converted(transformer, [subwords.id_to_piece(piece) for piece in range(subwords.vocab_size())])
        directory.mkdir(parents=True)
        spec.save(str(directory))
    return ctranslate2.Translator(str(directory), device="cpu", compute_type="int8", **threads)


def main() -> None:
    transformer, directory, sentences, translations = map(Path, sys.argv[1:5])
    beam, threads = map(int, sys.argv[5:])
    subwords = SentencePieceProcessor(model_file=str(transformer / "joint.spm"))
    translator = open_peer(transformer, directory, subwords, inter_threads=1, intra_threads=threads)

    def translated(lines: list[str], batch: int) -> list[str]:
        pieces = subwords.encode(lines, out_type=str)
        order = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
        found: dict[int, list[str]] = {}
        for start in range(0, len(order), batch):  # in batches of like length, as CTranslate2 makes them by itself
            own = order[start : start + batch]
            results = translator.translate_batch(
                [pieces[index] for index in own], beam_size=beam, max_decoding_length=limit(len(pieces[own[0]]) + 1)
            )
            found |= {index: one.hypotheses[0] for index, one in zip(own, results, strict=True)}
        return subwords.decode([found[index] for index in range(len(lines))])

    def spent(batch: int) -> float:
        used = time.process_time()
        translated(lines[:TRIED], batch)
        return time.process_time() - used

    lines = sentences.read_text(encoding="utf-8").splitlines()
    translated(lines[:64], 64)
    best = min(BATCHES, key=lambda batch: min(spent(batch), spent(batch)))
    started, used = time.perf_counter(), time.process_time()
    found = translated(lines, best)
    print(best, "at a time", time.perf_counter() - started, time.process_time() - used)
    translations.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")


if __name__ == "__main__":
    main()
