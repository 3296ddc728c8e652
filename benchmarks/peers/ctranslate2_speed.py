"""Seconds in which CTranslate2 translates sentences in int8 on THREADS cores, with a Transformer that `nmt` exported.

    python ctranslate2_speed.py EXPORTED FOLDER BEAM THREADS

EXPORTED is a directory of `nmt translate --export ctranslate2`. Reads FOLDER/sources.txt, and writes a line for each to
FOLDER/translations.txt: from text to text, as ours. Prints seconds on the wall and of the processors.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from pathlib import Path

import ctranslate2
from sentencepiece import SentencePieceProcessor

BATCHES = (32, 64, 128, 256)  # sentences at a time: the fastest for this beam on this machine is taken
TRIED = 512  # sentences, to find it


def limit_length(source: int) -> int:
    """Returns how many tokens a translation may have: as ours. With 256, a few that find no end cost a fifth more."""
    return math.ceil(1.5 * source) + 5


def translate(
    translator: ctranslate2.Translator,
    source: SentencePieceProcessor,
    target: SentencePieceProcessor,
    lines: list[str],
    beam: int,
    batch: int,
) -> list[str]:
    """Translates in batches of similar length, as CTranslate2 makes them by itself, but with our limit on length."""
    pieces = source.encode(lines, out_type=str)
    order = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
    hypotheses: dict[int, list[str]] = {}
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        longest = limit_length(len(pieces[chosen[0]]) + 1)
        results = translator.translate_batch(
            [pieces[index] for index in chosen], beam_size=beam, max_decoding_length=longest
        )
        hypotheses |= {index: result.hypotheses[0] for index, result in zip(chosen, results, strict=True)}
    return list(target.decode([hypotheses[index] for index in range(len(lines))]))


def main() -> None:
    exported, folder, beam, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    sides = [SentencePieceProcessor(model_file=str(exported / f"{side}.spm")) for side in ("source", "target")]
    translator = ctranslate2.Translator(str(exported), compute_type="int8", inter_threads=1, intra_threads=threads)
    lines = (folder / "sources.txt").read_text(encoding="utf-8").splitlines()
    translate_by = partial(translate, translator, *sides)

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
