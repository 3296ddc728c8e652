"""Seconds in which CTranslate2 translates sentences with an int8 Transformer, 256 wide, 3 + 3 layers, on THREADS cores.

    python ctranslate2_speed.py MODEL PIECES BEAM LENGTH THREADS

`PIECES` has a sentence a line, its subwords parted by blanks. The weights are random, which costs what learnt ones do.
As a random model never ends, every translation gets LENGTH tokens. MODEL is made if it is not there.
Prints seconds on the wall and of the processors.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec

WIDTH, INNER, LAYERS, HEADS = 256, 1024, 3, 4
VOCABULARY = 4_000


def make(directory: Path, pieces: list[str]) -> None:
    spec = TransformerSpec.from_config((LAYERS, LAYERS), HEADS)
    random = np.random.default_rng(1)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return random.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    def linear(part: object, rows: int, columns: int) -> None:
        part.weight, part.bias = matrix(rows, columns), np.zeros(rows, np.float32)

    def norm(part: object) -> None:
        part.gamma, part.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    def attention(part: object, widths: list[int]) -> None:
        norm(part.layer_norm)
        for one, rows in zip(part.linear, widths, strict=True):
            linear(one, rows, WIDTH)

    def feed_forward(part: object) -> None:
        norm(part.layer_norm)
        linear(part.linear_0, INNER, WIDTH)
        linear(part.linear_1, WIDTH, INNER)

    encoder, decoder = spec.encoder, spec.decoder
    encoder.embeddings[0].weight = decoder.embeddings.weight = matrix(len(pieces), WIDTH)
    for side in (encoder, decoder):
        side.position_encodings.encodings = matrix(512, WIDTH)
        norm(side.layer_norm)
    linear(decoder.projection, len(pieces), WIDTH)
    for layer in (*encoder.layer, *decoder.layer):
        attention(layer.self_attention, [3 * WIDTH, WIDTH])
        feed_forward(layer.ffn)
    for layer in decoder.layer:
        attention(layer.attention, [WIDTH, 2 * WIDTH, WIDTH])
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    spec.optimize(quantization="int8")
    directory.mkdir(parents=True)
    spec.save(str(directory))


def main() -> None:
    directory, file, beam, length = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    if not directory.exists():
        make(directory, ["<unk>", "<s>", "</s>", *(f"▁{number}" for number in range(VOCABULARY - 3))])
    sentences = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    translator = ctranslate2.Translator(
        str(directory), device="cpu", compute_type="int8", inter_threads=1, intra_threads=int(sys.argv[5])
    )
    options = {"beam_size": beam, "min_decoding_length": length, "max_decoding_length": length}
    translator.translate_batch(sentences[:64], **options)
    started, used = time.perf_counter(), time.process_time()
    translator.translate_batch(sentences, max_batch_size=256, **options)
    print(time.perf_counter() - started, time.process_time() - used)


if __name__ == "__main__":
    main()
