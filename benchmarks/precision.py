"""Target tokens a second of the default network's training step in float32 and in bfloat16, in turn in one run.

    python benchmarks/precision.py [--rounds 5]

Batches are random ids of the bundled corpus' usual size: 128 pairs of 11 source and 12 target tokens.
"""

from __future__ import annotations

import os
from functools import partial

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `nmt train` does

import numpy as np
from bench import make_parser, measure_call, print_speeds, run_in_turn

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.step import FLOAT32, MIXED, Schedule, Trainer, dtype_policy

PAIRS, SOURCE, TARGET, VOCABULARY = 128, 11, 12, 4_000
STEPS = 10


def make_trainer(policy: str) -> Trainer:
    with dtype_policy(policy):
        network = Seq2Seq(ModelConfig.from_options(), Vocabularies(source=VOCABULARY, target=VOCABULARY, joint=True))
    return Trainer(network, Schedule(TrainOptions(), steps=1_000), TrainOptions())


def train(trainer: Trainer, batch: Batch) -> None:
    for _ in range(STEPS):
        trainer.update([batch])


def main() -> None:
    options = make_parser(__doc__, "rounds").parse_args()
    ids = np.random.default_rng(1).integers(4, VOCABULARY, (PAIRS, SOURCE + 2 * TARGET)).astype(np.int32)
    batch = Batch(ids[:, :SOURCE], ids[:, SOURCE : SOURCE + TARGET], ids[:, SOURCE + TARGET :])
    trainers = {policy: make_trainer(policy) for policy in (MIXED, FLOAT32)}
    runners = {policy: partial(measure_call, partial(train, trainer, batch)) for policy, trainer in trainers.items()}
    run_in_turn(runners, 1)  # compiles
    print_speeds(run_in_turn(runners, options.rounds), PAIRS * TARGET * STEPS, "tokens")


if __name__ == "__main__":
    main()
