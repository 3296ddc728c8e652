"""What training leaves in `checkpoints/` while it runs: the best weights so far, whole at any moment."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.errors import DamagedError
from nmt_cli.files import atomic_path
from nmt_cli.inference.bundle import CHECKPOINTS, HISTORY
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.watch import EpochRecord, Validation


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
        return self.directory / CHECKPOINTS / "best.npz"

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
            load_weights(network, self.best_path)

    def record(self, record: EpochRecord) -> None:
        """Adds a line to `history.jsonl`."""
        self.records.append(record)
        with atomic_path(self.directory / HISTORY) as temporary:
            lines = [json.dumps(one.to_mapping()) + "\n" for one in self.records]
            temporary.write_text("".join(lines), encoding="utf-8")


def save_weights(network: Seq2Seq, path: Path) -> None:
    """The weights by name, as NumPy's .npz, whole or not at all.

    Not Keras' HDF5: on a full disk its library ends the process (h5py 3.14). Here the file is made in memory and
    written as any other, so that what the system refuses is an OSError.
    """
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {weight.path: np.asarray(weight.value) for weight in network.weights}
    np.savez(buffer, **arrays)
    with atomic_path(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


def load_weights(network: Seq2Seq, path: Path) -> None:
    """Raises DamagedError unless the file holds exactly the weights of such a network."""
    wanted = {weight.path: tuple(weight.shape) for weight in network.weights}
    try:
        # From memory, since np.load leaves a file open that it cannot read.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise DamagedError(f"{path} cannot be read: {error}") from error
    if {name: array.shape for name, array in arrays.items()} != wanted:
        raise DamagedError(f"{path} does not hold the weights of this network")
    for weight in network.weights:
        weight.assign(arrays[weight.path])
