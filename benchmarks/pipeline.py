"""How soon training starts: seconds from the command to the first update, time of an update, peak memory.

python benchmarks/pipeline.py --data PREPARED [--steps 50]
"""

from __future__ import annotations

import time

BEGUN = time.monotonic()  # before the imports, for which the user waits too

import resource  # noqa: E402
import tempfile  # noqa: E402
from contextlib import suppress  # noqa: E402
from pathlib import Path  # noqa: E402

from bench import make_parser  # noqa: E402

from nmt_cli.api.startup import silent_tensorflow  # noqa: E402
from nmt_cli.corpus.dataset import PreparedCorpus  # noqa: E402
from nmt_cli.model.config import ModelConfig  # noqa: E402
from nmt_cli.training.options import TrainOptions  # noqa: E402
from nmt_cli.training.watcher import StepStatus, Watcher  # noqa: E402


class EnoughError(Exception):
    """Training has done what was to be measured."""


class StepWatcher(Watcher):
    """Notes when updates end, and ends training after some of them."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.moments: list[float] = []

    def report_step(self, status: StepStatus) -> None:
        self.moments.append(time.monotonic())

    def should_stop(self) -> bool:
        return len(self.moments) >= self.steps

    def report_validation(self, epoch: int) -> None:
        raise EnoughError


def main() -> None:
    parser = make_parser(__doc__, "data")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    with silent_tensorflow():
        from nmt_cli.training.request import TrainRequest
        from nmt_cli.training.run import train

    corpus, watcher = PreparedCorpus.load(options.data), StepWatcher(options.steps)
    with tempfile.TemporaryDirectory() as folder, suppress(EnoughError):
        train(TrainRequest(corpus, Path(folder, "model"), ModelConfig.from_options(), TrainOptions(), watcher))
    first, *_, last = watcher.moments
    print(f"first update done after {first - BEGUN:.1f} s")
    print(f"update {1000 * (last - first) / (len(watcher.moments) - 1):.0f} ms, mean of {len(watcher.moments) - 1}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.2f} GB", flush=True)


if __name__ == "__main__":
    main()
