"""Seconds in which Joey NMT 2.3 translates sentences with the network that is `nmt`'s default, on THREADS cores.

    python joeynmt_speed.py VOCABULARY PIECES BEAM LENGTH THREADS

`PIECES` has a sentence a line, its subwords parted by blanks. GRU 2x256 / 512, Bahdanau attention, embeddings of 256,
random weights; every translation gets LENGTH tokens. Batches of 256, sorted by length. Prints seconds on the wall
and of the processors.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch
from joeynmt.search import search
from joeynmt_network import SPECIALS, built

BATCH = 256


def batches(sentences: list[list[int]]) -> list[SimpleNamespace]:
    order = sorted(sentences, key=len, reverse=True)
    return [batch(order[first : first + BATCH]) for first in range(0, len(order), BATCH)]


def batch(sentences: list[list[int]]) -> SimpleNamespace:
    lengths = torch.tensor([len(one) for one in sentences])
    rows = [one + [SPECIALS.pad_id] * (int(lengths.max()) - len(one)) for one in sentences]
    source = torch.tensor(rows)
    mask = (source != SPECIALS.pad_id).unsqueeze(1)
    return SimpleNamespace(src=source, src_length=lengths, src_mask=mask, has_trg=False, trg_prompt_mask=None)


def main() -> None:
    size, file, (beam, length, threads) = int(sys.argv[1]), Path(sys.argv[2]), map(int, sys.argv[3:])
    torch.set_num_threads(threads)
    model, vocabulary = built(size, dropout=0.0)
    model.eval()
    sentences = [
        [vocabulary.lookup(piece) for piece in line.split()] + [SPECIALS.eos_id]
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    made = batches(sentences)
    started, used = time.perf_counter(), time.process_time()
    with torch.no_grad():
        for one in made:
            search(model, one, length, beam, 1.0 if beam > 1 else -1, min_output_length=length)
    print(time.perf_counter() - started, time.process_time() - used)


if __name__ == "__main__":
    main()
