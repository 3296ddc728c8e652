"""What training leaves in `checkpoints/` while it runs: the best weights so far, whole at any moment."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from nmt_cli.files import atomic_path
from nmt_cli.inference.bundle import CHECKPOINTS, HISTORY
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.watch import EpochRecord, Validation

SUFFIX = ".weights.h5"  # Keras insists on it


@dataclass(frozen=True)
class Best:
    """Which weights are kept, and why."""

    epoch: int
    validation: Validation


@dataclass
class Checkpoints:
    """The best weights by dev BLEU (by dev loss where BLEU is equal) and the history, in a model directory."""

    directory: Path
    best: Best | None = None
    records: list[EpochRecord] = field(default_factory=list)

    @property
    def best_path(self) -> Path:
        return self.directory / CHECKPOINTS / f"best{SUFFIX}"

    def is_better(self, validation: Validation) -> bool:
        if self.best is None:
            return True
        kept = self.best.validation
        return (validation.bleu, -validation.loss) > (kept.bleu, -kept.loss)

    def keep(self, network: Seq2Seq, epoch: int, validation: Validation) -> None:
        """Makes the network's weights the best ones."""
        save_weights(network, self.best_path)
        self.best = Best(epoch=epoch, validation=validation)

    def restore_best(self, network: Seq2Seq) -> None:
        if self.best is not None:
            network.load_weights(str(self.best_path))

    def record(self, record: EpochRecord) -> None:
        """Adds a line to `history.jsonl`."""
        self.records.append(record)
        with atomic_path(self.directory / HISTORY) as temporary:
            lines = [json.dumps(one.to_mapping()) + "\n" for one in self.records]
            temporary.write_text("".join(lines), encoding="utf-8")


def save_weights(network: Seq2Seq, path: Path) -> None:
    """The weights as HDF5, whole or not at all."""
    with atomic_path(path, suffix=SUFFIX) as temporary:
        network.save_weights(str(temporary))
