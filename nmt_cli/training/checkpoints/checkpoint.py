"""Writes and reads `checkpoints/`: the weights of the best epochs, and the state of the run.

The state is a single file, so that all of it dates from the same moment. It names the best epochs, whose weights have
files of their own, written before the state and removed after it. A process killed at any moment thus leaves a state
and all the files that it names."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nmt_cli.errors import DamagedError
from nmt_cli.files import stage_file, write_text
from nmt_cli.records import build, parse_json
from nmt_cli.runtime.model_directory import CHECKPOINTS, HISTORY
from nmt_cli.training.config import KeptMetric
from nmt_cli.training.watcher import EpochRecord, Validation

if TYPE_CHECKING:
    import keras

    from nmt_cli.model.seq2seq import Seq2Seq


# Writes and reads files of named arrays: NumPy's .npz, written whole or not at all, without pickle.
#
# Not Keras' HDF5, whose library ends the process on a full disk (h5py 3.14). Here a full disk is an OSError.


NamedArrays = dict[str, np.ndarray[Any, Any]]


def write_arrays(path: Path, arrays: Iterable[tuple[str, Any]]) -> None:
    """Writes one array after another, so that only one need be in memory. The data is on disk on return."""
    with stage_file(path) as temporary:
        with temporary.open("wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays:
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())


def read_arrays(path: Path, names: Iterable[str] | None = None) -> NamedArrays:
    """Returns all arrays of the file, or those with these names. Raises DamagedError if the file cannot be read."""
    try:
        # An open file, since np.load does not close a file that it opens and cannot read.
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            require_stored(archive, path.stat().st_size)
            stream.seek(0)
            file = np.load(stream, allow_pickle=False)
            arrays = {name: file[name] for name in (file.files if names is None else names)}
    except (OSError, EOFError, ValueError, KeyError, AttributeError, MemoryError, zipfile.BadZipFile) as error:
        raise DamagedError(f"{path} cannot be read: {error}") from error
    damaged = next((name for name, array in arrays.items() if not is_finite(array)), None)
    if damaged is not None:
        raise DamagedError(f"{path} cannot be read: {damaged} has values that are no numbers")
    return arrays


def require_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError if the entries of an archive of `size` bytes unpack to more than it has."""
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise ValueError("it is packed, or claims to be larger than it is")


def is_finite(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array has neither NaN nor infinity."""
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


STATE = "state.npz"
FACTS = "facts"  # the only entry of the state that is JSON and no array of the run
FORMAT = 3  # 2 drew the numbers of data augmentation in another order
START_OVER = "start over with --force"


@dataclass(frozen=True)
class KeptEpoch:
    """An epoch whose weights are kept, and the validation that earned it its place."""

    epoch: int
    validation: Validation


@dataclass
class Checkpoints:
    """The weights of the `count` best epochs, the state and the history of a run, in a model directory.

    The best epoch has the best `metric` on the development set, and among equals the lowest loss.
    """

    directory: Path
    metric: KeptMetric = "bleu"
    count: int = 1
    best_epochs: list[KeptEpoch] = field(default_factory=list)  # best first
    records: list[EpochRecord] = field(default_factory=list)

    @property
    def best(self) -> KeptEpoch | None:
        """The best epoch so far, or None."""
        return self.best_epochs[0] if self.best_epochs else None

    @property
    def state_path(self) -> Path:
        """The file of the state."""
        return locate_state(self.directory)

    def locate_weights(self, epoch: int) -> Path:
        """Returns the path of the weights after an epoch."""
        return self.directory / CHECKPOINTS / f"epoch-{epoch:04}.npz"

    def is_better(self, validation: Validation) -> bool:
        """Whether a validation is better than the best epoch's so far."""
        return self.best is None or self.rate(validation) > self.rate(self.best.validation)

    def rate(self, validation: Validation) -> tuple[float, float]:
        """Returns the rank of an epoch, higher is better: the metric, then the negative loss."""
        return validation.rate(self.metric), -validation.loss

    def keep(self, network: Seq2Seq, epoch: int, validation: Validation) -> None:
        """Writes the network's weights if they are among the best.

        A run stopped within an epoch and resumed validates this epoch twice; the better weights are kept.
        """
        same = [kept for kept in self.best_epochs if kept.epoch == epoch]
        others = [kept for kept in self.best_epochs if kept.epoch != epoch]
        if any(self.rate(kept.validation) >= self.rate(validation) for kept in same):
            return
        entry = KeptEpoch(epoch, validation)
        ranked = sorted([*others, entry], key=lambda kept: self.rate(kept.validation), reverse=True)[: self.count]
        if entry in ranked:
            save_weights(network, self.locate_weights(epoch))
            self.best_epochs = ranked

    def restore_best(self, network: Seq2Seq) -> None:
        """Loads the weights of the best epoch, if there is one."""
        if self.best is not None:
            load_weights(network, self.locate_weights(self.best.epoch))

    def write_history(self) -> None:
        """Writes `history.jsonl`."""
        lines = [json.dumps(vars(record)) + "\n" for record in self.records]
        write_text(self.directory / HISTORY, "".join(lines))

    def save_state(self, variables: Sequence[keras.Variable], facts: Mapping[str, Any]) -> None:
        """Writes the state of the run: its variables, its `facts` (JSON), the best epochs and the history."""
        progress_facts = {
            "format": FORMAT,
            "kept": [asdict(entry) for entry in self.best_epochs],
            "records": [vars(record) for record in self.records],
        }
        entries = [
            (FACTS, json.dumps({**facts, **progress_facts})),
            *((f"{n:04}", variable.value) for n, variable in enumerate(variables)),
        ]
        write_arrays(self.state_path, entries)
        self.remove_unused()

    def load_state(self, variables: Sequence[keras.Variable]) -> dict[str, Any]:
        """Loads the variables, the best epochs and the history from the state; returns its facts.

        Raises DamagedError if the state cannot be read, or belongs to another network.
        """
        arrays = read_arrays(self.state_path)
        facts = parse_facts(self.state_path, arrays)
        assign_variables(variables, [array for name, array in sorted(arrays.items()) if name != FACTS], self.state_path)
        kept = [KeptEpoch(entry["epoch"], Validation(**entry["validation"])) for entry in facts["kept"]]
        self.best_epochs = kept[: self.count]
        self.records = [EpochRecord(**record) for record in facts["records"]]
        return facts

    def remove_unused(self) -> None:
        """Removes the weights that the state on disk does not name."""
        used = {self.locate_weights(kept.epoch) for kept in self.best_epochs}
        for path in (self.directory / CHECKPOINTS).glob("epoch-*.npz"):
            if path not in used:
                path.unlink(missing_ok=True)


def locate_state(directory: Path) -> Path:
    """Returns the file of the state in a model directory."""
    return directory / CHECKPOINTS / STATE


def read_facts(directory: Path) -> dict[str, Any] | None:
    """Returns the facts of the state, without loading its arrays; None if there is no state. Raises DamagedError."""
    path = locate_state(directory)
    return parse_facts(path, read_arrays(path, [FACTS])) if path.is_file() else None


def parse_facts(path: Path, arrays: NamedArrays) -> dict[str, Any]:
    """Returns the facts among the entries of the state.

    Raises DamagedError if they are missing or of another format.
    """
    try:
        facts: dict[str, Any] = build(dict, parse_json(str(arrays[FACTS])))
        written = build(int, facts.get("format"), "format")
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path} is not a checkpoint of a training", hint=START_OVER) from error
    if written != FORMAT:
        raise DamagedError(f"{path} has format {facts['format']}; this nmt reads format {FORMAT}", hint=START_OVER)
    return facts


def assign_variables(variables: Sequence[keras.Variable], arrays: Sequence[Any], path: Path) -> None:
    """Assigns the arrays to the variables. Raises DamagedError, naming `path`, if their shapes differ."""
    if [tuple(variable.shape) for variable in variables] != [array.shape for array in arrays]:
        raise DamagedError(f"{path} does not hold the state of this network", hint=START_OVER)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def save_weights(network: Seq2Seq, path: Path) -> None:
    """Writes the weights by name."""
    write_arrays(path, ((weight.path, weight.value) for weight in network.weights))


def load_weights(network: Seq2Seq, path: Path) -> None:
    """Loads the weights. Raises DamagedError unless the file holds exactly the weights of this network."""
    assign_weights(network, read_arrays(path), path)


def assign_weights(network: Seq2Seq, arrays: NamedArrays, path: Path) -> None:
    """Assigns weights by name. Raises DamagedError, naming `path`, unless they are exactly the network's."""
    expected = {weight.path: tuple(weight.shape) for weight in network.weights}
    if {name: np.shape(array) for name, array in arrays.items()} != expected:
        raise DamagedError(f"{path} does not hold the weights of this network")
    for weight in network.weights:
        weight.assign(arrays[weight.path])
