"""Target tokens a second of the training step on one GPU, by kernels and size of the batch, in turn in one run.

    python benchmarks/gpu.py [--rounds 3]

Ten minutes on a GPU that is lent: the default network and the Transformer, batches of random ids of 128 and 1,024
pairs with 11 source and 12 target tokens. All kernels learn from the same weights without dropout, so that their first
losses must agree, which is checked. Without a GPU it does the same, slowly, on the processor, where cuDNN's kernels are
Keras' own loop.
"""

from __future__ import annotations

import os
from functools import partial

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from bench import make_parser, measure_call, print_speeds, run_in_turn

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.options import Kernels, TrainOptions
from nmt_cli.training.step import Schedule, Trainer, choose_policy, dtype_policy

SOURCE, TARGET, VOCABULARY = 11, 12, 8_000
PAIRS = (128, 1_024)
STEPS = 10
NETWORKS: dict[str, tuple[dict[str, object], tuple[Kernels, ...]]] = {
    "default": ({"dropout": 0.0}, ("cudnn", "xla", "written")),
    "transformer": ({"architecture": "transformer", "dropout": 0.0}, ("xla", "written")),
}
TOLERANCE = 0.02  # of the first loss in bfloat16, whose numbers have 8 bits


def make_trainer(options: dict[str, object], kernels: Kernels) -> Trainer:
    keras.utils.set_random_seed(1)
    with dtype_policy(choose_policy(None)):
        config, vocabularies = (
            ModelConfig.from_options(**options),
            Vocabularies(source=VOCABULARY, target=VOCABULARY, joint=True),
        )
        network = Seq2Seq(config, vocabularies)
    settings = TrainOptions(kernels=kernels)
    return Trainer(network, Schedule(settings, steps=1_000), settings)


def train(trainer: Trainer, batch: Batch) -> None:
    for _ in range(STEPS):
        trainer.update([batch])


def compare_kernels(name: str, pairs: int, rounds: int) -> None:
    """Prints the speeds of a network with each of its kernels. Exits if their first losses differ."""
    options, kinds = NETWORKS[name]
    ids = np.random.default_rng(1).integers(4, VOCABULARY, (pairs, SOURCE + 2 * TARGET)).astype(np.int32)
    batch = Batch(ids[:, :SOURCE], ids[:, SOURCE : SOURCE + TARGET], ids[:, SOURCE + TARGET :])
    trainers = {kernels: make_trainer(options, kernels) for kernels in kinds}
    losses = {kernels: trainer.update([batch])[0] for kernels, trainer in trainers.items()}  # compiles
    print(f"{name}, {pairs:,} pairs; first losses", ", ".join(f"{x}: {loss:,.1f}" for x, loss in losses.items()))
    if max(losses.values()) > min(losses.values()) * (1 + TOLERANCE):
        raise SystemExit("the kernels compute different losses")
    runners = {kernels: partial(measure_call, partial(train, trainer, batch)) for kernels, trainer in trainers.items()}
    print_speeds(run_in_turn(runners, rounds), pairs * TARGET * STEPS, "tokens")


def main() -> None:
    parser = make_parser(__doc__, "rounds")
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS, help="in a batch")
    parser.set_defaults(rounds=3)
    options = parser.parse_args()
    for name in NETWORKS:
        for pairs in options.pairs:
            compare_kernels(name, pairs, options.rounds)


if __name__ == "__main__":
    main()
