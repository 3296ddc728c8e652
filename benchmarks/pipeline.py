"""What stands between the command and the updates: seconds to the first one, seconds of making batches, peak memory.

    python benchmarks/pipeline.py --data prepared
    python benchmarks/pipeline.py --data prepared --steps 100 --batch-tokens 4096 --subword-sampling 0.2

Prints, for the training that `nmt train` would do with the same options of training: seconds from the start of the
process to the end of the first update; the time of an update, and the most memory that was resident; milliseconds of
one processor to make a batch, as it is and with all the variation asked for, and the share of cells that is padding.
"""

from __future__ import annotations

import time

BEGUN = time.monotonic()  # before the imports, which the user waits for too

import argparse  # noqa: E402
import itertools  # noqa: E402
import resource  # noqa: E402
import tempfile  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402

from nmt_cli.api.startup import silent_tensorflow  # noqa: E402
from nmt_cli.corpus.dataset import PreparedCorpus  # noqa: E402
from nmt_cli.model.config import ModelConfig  # noqa: E402
from nmt_cli.training.config import TrainConfig  # noqa: E402
from nmt_cli.training.watcher import StepStatus, Watcher  # noqa: E402


class StepWatcher(Watcher):
    """Notes when updates end, and asks for an end after some of them."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.moments: list[float] = []
        self.processor = 0.0  # seconds of all threads until the first update was done

    def report_step(self, status: StepStatus) -> None:
        self.processor = self.processor or time.process_time()
        self.moments.append(time.monotonic())

    def should_stop(self) -> bool:
        return len(self.moments) >= self.steps


class Enough(Exception):
    """Training did what was to be measured."""


def measure_training(corpus: PreparedCorpus, config: TrainConfig, steps: int) -> StepWatcher:
    """Who watched the first updates."""
    with silent_tensorflow():
        from nmt_cli.training.request import TrainingRequest
        from nmt_cli.training.run import train

    class Ending(StepWatcher):
        def report_validation(self, epoch: int) -> None:
            raise Enough

    watcher = Ending(steps)
    with tempfile.TemporaryDirectory() as folder:
        try:
            train(TrainingRequest(corpus, Path(folder, "model"), ModelConfig.from_options(), config, watcher))
        except Enough:
            pass
    return watcher


def measure_batches(corpus: PreparedCorpus, config: TrainConfig, steps: int) -> None:
    from nmt_cli.training.data.batches import TrainingBatches

    plain = replace(
        config,
        careless=0.0,
        placeholders=0.0,
        subword_sampling=None,
        sample_target=False,
        word_dropout=0.0,
        swap_words=0.0,
    )
    for name, each in (("as they are", plain), ("varied", config)):
        batches = TrainingBatches(corpus, each)
        pools = itertools.chain.from_iterable(batches.make_pools(number, 0) for number in itertools.count(1))
        started = time.process_time()
        made = next(pools)
        ordered, first, started = time.process_time() - started, len(made), time.process_time()
        while len(made) < first + steps:
            made += next(pools)
        spent = 1000 * (time.process_time() - started) / (len(made) - first)
        sides = [side for batch in made for side in (batch.source, batch.target)]
        padding = 1 - sum(int((side != 0).sum()) for side in sides) / sum(side.size for side in sides)
        told = f"order of {batches.steps:,} and the first {first} in {ordered:.2f} s, padding {100 * padding:.1f} %"
        print(f"batches {name:12} {spent:7.2f} ms each; {told}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--subword-sampling", type=float)
    parser.add_argument("--sample-target", action="store_true")
    parser.add_argument("--word-dropout", type=float, default=0.0)
    given = vars(parser.parse_args())
    data, steps = given.pop("data"), given.pop("steps")
    config = TrainConfig(**given)
    corpus = PreparedCorpus.load(data)
    watcher = measure_training(corpus, config, steps)
    moments = watcher.moments
    print(f"first update done after {moments[0] - BEGUN:.1f} s, {watcher.processor:.1f} s of processors")
    print(f"update {1000 * (moments[-1] - moments[0]) / max(1, len(moments) - 1):.0f} ms, mean of {len(moments) - 1}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB", flush=True)
    measure_batches(corpus, config, steps)


if __name__ == "__main__":
    main()
