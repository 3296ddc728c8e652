"""One of the processes that train together, as `TF_CONFIG` says.

python partner.py CORPUS DIRECTORY RESUME STEPS KIND

It stops after so many steps; 0 for none. KIND is "epochs", "time" (the clock of the first process is slow, those of
others fast) or "synthetic" (whose stages are in the directory `0`).
"""

import os
import sys
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import ProcessRole, TrainRequest
from nmt_cli.training.watcher import StepStatus, Watcher

SMALL = ModelConfig.from_options(embedding=8, units=16, attention_units=8, dropout=0.0)
CONFIG = TrainOptions(epochs=2, batch=50, learning_rate=0.01, careless=0.0, mixed_precision=False)
SECONDS, TICKS = 5000.0, (20, 5000)  # between two looks at the clock of the first process, and at those of others


class Impatient(Watcher):
    """Asks for an end after some steps; 0 is never."""

    def __init__(self, steps: int) -> None:
        self.left = steps or 1_000_000

    def report_step(self, status: StepStatus) -> None:
        self.left -= 1

    def should_stop(self) -> bool:
        return self.left <= 0


def main(corpus: Path, directory: Path, resume: bool, steps: int, kind: str) -> None:
    from nmt_cli.training.run import assist, train

    role, watcher = ProcessRole.parse(os.environ.get("TF_CONFIG")), Impatient(steps)
    request = TrainRequest(
        PreparedCorpus.load(corpus), directory, SMALL, CONFIG, watcher, role, resume, keep_stages=True
    )
    if kind == "synthetic":
        from nmt_cli.training import synthetic as run
        from nmt_cli.training.data.synthetic_pairs import Selection
        from nmt_cli.training.synthetic import assist_with_synthetic

        # What a network that has learned nothing writes would all be dropped.
        run.select_pairs = lambda pairs, *_: Selection([pair for pair in pairs if all(pair[:2])], Counter())
        if role.is_chief:
            run.train_with_synthetic(replace(request, keep_stages=True))
        else:
            assist_with_synthetic(request, directory.with_name("0"))
        return
    if kind == "time":
        clock = map(float, count(0, TICKS[not role.is_chief])).__next__
        request = replace(request, training=replace(CONFIG, time=f"{SECONDS:.0f}s"), deadline=Deadline(SECONDS, clock))
    (train if role.is_chief else assist)(request)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "1", int(sys.argv[4]), sys.argv[5])
