"""One of the processes that train together, as `TF_CONFIG` says.

python partner.py CORPUS DIRECTORY RESUME STEPS    (stops after so many steps; 0 for none)
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.distributed.process import ProcessRole
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.watcher import StepStatus, Watcher

SMALL = ModelConfig.from_options(embedding=8, units=16, attention_units=8, dropout=0.0)
CONFIG = TrainConfig(epochs=2, batch=50, learning_rate=0.01, careless=0.0, mixed_precision=False)


class Impatient(Watcher):
    """Asks for an end after some steps; 0 is never."""

    def __init__(self, steps: int) -> None:
        self.left = steps or 1_000_000

    def report_step(self, status: StepStatus) -> None:
        self.left -= 1

    def should_stop(self) -> bool:
        return self.left <= 0


def main(corpus: Path, directory: Path, resume: bool, steps: int) -> None:
    from nmt_cli.training.run import assist, train

    role, watcher = ProcessRole.parse(os.environ.get("TF_CONFIG")), Impatient(steps)
    request = TrainingRequest(PreparedCorpus.load(corpus), directory, SMALL, CONFIG, watcher, role, resume)
    (train if role.is_chief else assist)(request)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "1", int(sys.argv[4]))
