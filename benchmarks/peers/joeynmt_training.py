"""Seconds in which Joey NMT 2.3 trains on given batches with the network that is `nmt`'s default.

    python joeynmt_training.py BATCHES.npz VOCABULARY

What its `TrainingManager._train_step` and `_train_epoch` do to a batch: loss with label smoothing of 0.1 per token,
backward pass, norm of the gradient clipped to 1, Adam. `BATCHES.npz` has source_I and target_I, ids (B, S) and (B, T)
that end with 3 and are padded with 0. Reads a line for each round and prints seconds on the wall and of the processors.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch
from joeynmt.batch import Batch
from joeynmt_network import SPECIALS, built

DROPOUT = 0.1


def batch_of(source: np.ndarray, target: np.ndarray) -> Batch:
    source, target = (np.where(ids < 2, 1 - ids, ids) for ids in (source, target))  # its padding is 1, ours 0
    begun = np.concatenate([np.full((len(target), 1), SPECIALS.bos_id), target], axis=1)
    return Batch(
        src=torch.tensor(source, dtype=torch.long),
        src_length=torch.tensor((source != SPECIALS.pad_id).sum(axis=1)),
        src_prompt_mask=None,
        trg=torch.tensor(begun, dtype=torch.long),
        trg_prompt_mask=None,
        indices=torch.arange(len(source)),
        device=torch.device("cpu"),
        pad_index=SPECIALS.pad_id,
        eos_index=SPECIALS.eos_id,
    )


def main() -> None:
    arrays = np.load(sys.argv[1])
    pairs = [(arrays[f"source_{i}"], arrays[f"target_{i}"]) for i in range(len(arrays.files) // 2)]
    model, _ = built(int(sys.argv[2]), dropout=DROPOUT)
    model.loss_function = ("crossentropy", 0.1)  # with label smoothing
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.9, 0.98))

    def train(source: np.ndarray, target: np.ndarray) -> None:
        model.train()
        batch = batch_of(source, target)
        batch.sort_by_src_length()
        loss, *_ = model(return_type="loss", **vars(batch))
        batch.normalize(loss, normalization="tokens").backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    train(*pairs[0])
    for _ in sys.stdin:
        started, used = time.perf_counter(), time.process_time()
        for pair in pairs:
            train(*pair)
        print(time.perf_counter() - started, time.process_time() - used, flush=True)


if __name__ == "__main__":
    main()
