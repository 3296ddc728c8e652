"""Seconds in which CTranslate2 translates sentences with the weights of an `nmt` Transformer in int8, on THREADS cores.

    python ctranslate2_speed.py TRANSFORMER FOLDER BEAM THREADS

TRANSFORMER is a model directory of `nmt train --architecture transformer`, with one vocabulary for both languages, of
which the target may have the beginning alone. Reads FOLDER/sources.txt and writes FOLDER/translations.txt, a line for a
line: from text to text, as ours. Prints seconds on the wall and of the processors.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping
from functools import partial
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


def convert(transformer: Path, pieces: list[str]) -> TransformerSpec:
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
        side.position_encodings.encodings = make_positions(embeddings.shape[1])
        set_norm(side.layer_norm, weights, f"network/{name}/norm")
        for index, layer in enumerate(side.layer):
            own = f"network/{name}/layer_{index}"
            set_attention(layer.self_attention, weights, own, "self", [["query", "key", "value"]])
            if name == "decoder":
                set_attention(layer.attention, weights, own, "source", [["query"], ["key", "value"]])
            set_norm(layer.ffn.layer_norm, weights, f"{own}/feed_forward_norm")
            set_linear(layer.ffn.linear_0, weights, f"{own}/feed_forward/inner")
            set_linear(layer.ffn.linear_1, weights, f"{own}/feed_forward/outer")
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces[:written])
    spec.validate()
    spec.optimize(quantization="int8")
    return spec


def make_positions(width: int) -> np.ndarray:
    """Returns (POSITIONS, width): sine and cosine in turn."""
    rates = np.power(10_000.0, -np.arange(0, width, 2) / width)
    angles = np.arange(POSITIONS)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(POSITIONS, width).astype(np.float32)


def set_attention(part: object, weights: Weights, layer: str, name: str, joined: list[list[str]]) -> None:
    """Of (E, heads, width of one) each; CTranslate2 wants those beside each other that are `joined`, and biases."""
    set_norm(part.layer_norm, weights, f"{layer}/{name}_norm")
    kernels = [[weights[f"{layer}/{name}_attention/{one}/kernel"] for one in ones] for ones in joined]
    output = weights[f"{layer}/{name}_attention/attention_output/kernel"]
    width = output.shape[-1]
    matrices = [np.concatenate([one.reshape(width, width).T for one in own]) for own in kernels]
    for one, matrix in zip(part.linear, [*matrices, output.reshape(width, width).T], strict=True):
        one.weight, one.bias = matrix, np.zeros(len(matrix), np.float32)


def set_linear(part: object, weights: Weights, name: str) -> None:
    part.weight, part.bias = weights[f"{name}/kernel"].T, weights[f"{name}/bias"]


def set_norm(part: object, weights: Weights, name: str) -> None:
    part.gamma, part.beta = weights[f"{name}/gamma"], weights[f"{name}/beta"]


def limit_length(source: int) -> int:
    """Returns how many tokens a translation may have: as ours. With 256, a few that find no end cost a fifth more."""
    return math.ceil(1.5 * source) + 5


def translate(
    translator: ctranslate2.Translator, subwords: SentencePieceProcessor, lines: list[str], beam: int, batch: int
) -> list[str]:
    """Translates in batches of similar length, as CTranslate2 makes them by itself, but with our limit on length."""
    pieces = subwords.encode(lines, out_type=str)
    order = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
    hypotheses: dict[int, list[str]] = {}
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        longest = limit_length(len(pieces[chosen[0]]) + 1)
        results = translator.translate_batch(
            [pieces[index] for index in chosen], beam_size=beam, max_decoding_length=longest
        )
        hypotheses |= {index: result.hypotheses[0] for index, result in zip(chosen, results, strict=True)}
    return list(subwords.decode([hypotheses[index] for index in range(len(lines))]))


def main() -> None:
    transformer, folder, beam, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    subwords = SentencePieceProcessor(model_file=str(transformer / "joint.spm"))
    directory = folder / "ctranslate2"
    if not directory.exists():
        directory.mkdir()
        convert(transformer, [subwords.id_to_piece(piece) for piece in range(subwords.vocab_size())]).save(
            str(directory)
        )
    translator = ctranslate2.Translator(str(directory), compute_type="int8", inter_threads=1, intra_threads=threads)
    lines = (folder / "sources.txt").read_text(encoding="utf-8").splitlines()
    translate_by = partial(translate, translator, subwords)

    def measure(batch: int) -> float:
        spent = time.process_time()
        translate_by(lines[:TRIED], beam, batch)
        return time.process_time() - spent

    translate_by(lines[:64], beam, 64)
    best = min(BATCHES, key=lambda batch: min(measure(batch), measure(batch)))
    started, spent = time.perf_counter(), time.process_time()
    translations = translate_by(lines, beam, best)
    print(time.perf_counter() - started, time.process_time() - spent)
    (folder / "translations.txt").write_text("".join(f"{line}\n" for line in translations), encoding="utf-8")


if __name__ == "__main__":
    main()
