"""Target tokens a second of the default network's training step in float32 and in bfloat16, in turn in one run.

    python benchmarks/precision.py

Batches are random ids of the bundled corpus' usual size: 128 pairs of 11 source and 12 target tokens.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `nmt train` does

import numpy as np

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.precision import FLOAT32, MIXED, dtype_policy
from nmt_cli.training.schedule import Schedule
from nmt_cli.training.step import Trainer

PAIRS, SOURCE, TARGET, VOCABULARY = 128, 11, 12, 4_000
ROUNDS, STEPS = 5, 10


def trainer(policy: str) -> Trainer:
    with dtype_policy(policy):
        network = Seq2Seq(ModelConfig.from_options(), Vocabularies(source=VOCABULARY, target=VOCABULARY, joint=True))
    return Trainer(network, Schedule(TrainConfig(), steps=1_000), TrainConfig())


def main() -> None:
    ids = np.random.default_rng(1).integers(4, VOCABULARY, (PAIRS, SOURCE + 2 * TARGET)).astype(np.int32)
    batch = Batch(ids[:, :SOURCE], ids[:, SOURCE : SOURCE + TARGET], ids[:, SOURCE + TARGET :])
    trainers = {policy: trainer(policy) for policy in (FLOAT32, MIXED)}
    for one in trainers.values():
        one.update([batch])  # compiles
    ratios = []
    for number in range(1, ROUNDS + 1):
        speeds = {}
        for policy, one in trainers.items():
            started = time.perf_counter()
            for _ in range(STEPS):
                one.update([batch])
            speeds[policy] = PAIRS * TARGET * STEPS / (time.perf_counter() - started)
        ratios.append(speeds[MIXED] / speeds[FLOAT32])
        told = "   ".join(f"{policy} {speed:,.0f} tokens/s" for policy, speed in speeds.items())
        print(f"round {number}   {told}   x{ratios[-1]:.2f}")
    print(f"median x{np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
