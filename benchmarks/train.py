"""Target tokens a second of `nmt`'s training beside Joey NMT's: same network, same batches, in turn, in one run.

    python benchmarks/train.py --data prepared [--peers DIRECTORY] [--rounds 5] [--batches 20]

The batches are the first of an epoch of the prepared corpus, 128 pairs each. What the peer is given, and what it does
with it, stands in `peers/joeynmt_training.py`. Also tells which share of the machine's own speed at large products of
matrices our step reaches, counting two floating-point operations a weight and token forward and four backward. Prints
medians: of the wall clock, and of the processors' own seconds, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # as `nmt train` does

import numpy as np
import tensorflow as tf
from translate import HERE, install

from nmt_cli.cores import count_cores
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import Batch, TrainingBatches
from nmt_cli.training.distributed.process import SINGLE_PROCESS
from nmt_cli.training.distributed.strategy import count_parts, make_strategy
from nmt_cli.training.precision import choose_policy, dtype_policy
from nmt_cli.training.run import read_vocabularies
from nmt_cli.training.schedule import Schedule
from nmt_cli.training.step import Trainer

SIZE = 2_048  # of the matrices by which the machine is measured


@dataclass(frozen=True)
class Seconds:
    wall: float
    processors: float


def trainer(config: TrainConfig, corpus: PreparedCorpus) -> Trainer:
    with dtype_policy(choose_policy(None)):
        network = Seq2Seq(ModelConfig.from_options(), read_vocabularies(corpus))
    return Trainer(network, Schedule(config, 1_000), config, count_parts(config, 1))


def ours(one: Trainer, batches: list[Batch]) -> Seconds:
    started, used = time.perf_counter(), time.process_time()
    for batch in batches:
        one.update([batch])
    return Seconds(time.perf_counter() - started, time.process_time() - used)


@contextmanager
def peer(python: str, arrays: Path, vocabulary: int) -> Iterator[subprocess.Popen[str]]:
    """Joey NMT, waiting for a line to train on all batches once more."""
    command = [python, str(HERE / "joeynmt_training.py"), str(arrays), str(vocabulary)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        yield process
        process.communicate()


def theirs(process: subprocess.Popen[str]) -> Seconds:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the peer has no pipes")
    process.stdin.write("\n")
    process.stdin.flush()
    return Seconds(*map(float, process.stdout.readline().split()))


def gigaflops(dtype: tf.DType) -> float:
    """Of products of two square matrices, one for each core side by side, the best of five."""
    right, *lefts = (tf.cast(tf.random.normal((SIZE, SIZE)), dtype) for _ in range(1 + count_cores()))
    products = tf.function(lambda: tf.add_n([tf.reduce_sum(tf.matmul(left, right)) for left in lefts]))
    products().numpy()
    times = []
    for _ in range(5):
        started = time.perf_counter()
        products().numpy()
        times.append(time.perf_counter() - started)
    return 2 * SIZE**3 * len(lefts) / min(times) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("prepared"))
    parser.add_argument("--peers", type=Path, default=Path("peers"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=20)
    given = parser.parse_args()
    python = install(given.peers)
    corpus, config = PreparedCorpus.load(given.data), TrainConfig()
    make_strategy(config, SINGLE_PROCESS)  # as `nmt train` sets up TensorFlow's threads
    batches = list(islice(TrainingBatches(corpus, config).make_epoch(1), given.batches))
    vocabulary = corpus.source_tokenizer.vocabulary_size  # the joint one, as it would have it
    arrays = given.peers / "batches.npz"
    np.savez(
        arrays, **{f"{side}_{i}": getattr(b, side) for i, b in enumerate(batches) for side in ("source", "target")}
    )
    tokens = sum(int((batch.target != 0).sum()) for batch in batches)
    one = trainer(config, corpus)
    ours(one, batches)  # compiles
    runs: dict[str, list[Seconds]] = {"nmt": [], "joeynmt": []}
    rates: dict[str, list[float]] = {"float32": [], "bfloat16": []}
    with peer(python, arrays, vocabulary) as process:
        for _ in range(given.rounds):
            runs["nmt"].append(ours(one, batches))
            runs["joeynmt"].append(theirs(process))
            for name, dtype in (("float32", tf.float32), ("bfloat16", tf.bfloat16)):
                rates[name].append(gigaflops(dtype))
    tell(runs, tokens)
    weights = one.network.count_params()
    own = 6 * weights * tokens / statistics.median(run.wall for run in runs["nmt"]) / 1e9
    for name, measured in rates.items():
        rate = statistics.median(measured)
        print(f"  products in {name}: {rate:,.0f} GFLOP/s; our step does {own:,.0f}, {own / rate:.0%} of it")


def tell(runs: dict[str, list[Seconds]], tokens: int) -> None:
    for clock in ("wall", "processors"):
        medians = {name: statistics.median(getattr(run, clock) for run in own) for name, own in runs.items()}
        for name, median in medians.items():
            ratio = median / medians["nmt"]
            print(f"  {clock:10} {name:8} {tokens / median:8,.0f} target tokens/s   nmt is x{ratio:.2f}")


if __name__ == "__main__":
    main()
