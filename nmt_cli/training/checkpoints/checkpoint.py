"""What training leaves in `checkpoints/` while it runs: the weights of the best epochs, and the state of the run.

The state is one file, so that it is of one moment. It names the epochs whose weights it counts on; their files are
written before it and removed after it, so that a process killed at any moment leaves a state and all that it names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nmt_cli.errors import DamagedError
from nmt_cli.files import atomic_path
from nmt_cli.runtime.model_directory import CHECKPOINTS, HISTORY
from nmt_cli.training.checkpoints.npz import NamedArrays, read_arrays, write_arrays
from nmt_cli.training.config import KeptMetric
from nmt_cli.training.watcher import EpochRecord, Validation

if TYPE_CHECKING:  # the command line looks for a state before it waits for TensorFlow
    import keras

    from nmt_cli.model.seq2seq import Seq2Seq

STATE = "state.npz"
FACTS = "facts"  # the entry of the state that is no array of the run, but JSON
FORMAT = 2
ANEW = "begin anew with --force"


@dataclass(frozen=True)
class Kept:
    """An epoch whose weights are kept, and why."""

    epoch: int
    validation: Validation


@dataclass
class Checkpoints:
    """The weights of the `count` best epochs and the history, in a model directory.

    Best is what `metric` says of the development set, and where that is equal, what the loss says.
    """

    directory: Path
    metric: KeptMetric = "bleu"
    count: int = 1
    kept: list[Kept] = field(default_factory=list)  # the best first
    records: list[EpochRecord] = field(default_factory=list)

    @property
    def best(self) -> Kept | None:
        return self.kept[0] if self.kept else None

    @property
    def state_path(self) -> Path:
        return state_path(self.directory)

    def name_weights(self, epoch: int) -> Path:
        """Returns the path of the weights after an epoch."""
        return self.directory / CHECKPOINTS / f"epoch-{epoch:04}.npz"

    def is_better(self, validation: Validation) -> bool:
        return self.best is None or self.rate(validation) > self.rate(self.best.validation)

    def rate(self, validation: Validation) -> tuple[float, float]:
        """Returns the value of the metric by which weights are kept; more is better."""
        value: float = getattr(validation, self.metric)
        return -value if self.metric == "loss" else value, -validation.loss

    def keep(self, network: Seq2Seq, epoch: int, validation: Validation) -> None:
        """Keeps the network's weights if they are among the best.

        Of an epoch that is kept already, since a run that was stopped within it goes on in it, the better ones stay.
        """
        entry, others = Kept(epoch, validation), [kept for kept in self.kept if kept.epoch != epoch]
        if any(self.rate(kept.validation) >= self.rate(validation) for kept in self.kept if kept.epoch == epoch):
            return
        ranked = sorted([*others, entry], key=lambda kept: self.rate(kept.validation), reverse=True)[: self.count]
        if entry in ranked:
            save_weights(network, self.name_weights(epoch))
            self.kept = ranked

    def restore_best(self, network: Seq2Seq) -> None:
        if self.best is not None:
            load_weights(network, self.name_weights(self.best.epoch))

    def write_history(self) -> None:
        """Writes `history.jsonl`."""
        with atomic_path(self.directory / HISTORY) as temporary:
            lines = [json.dumps(record.to_mapping()) + "\n" for record in self.records]
            temporary.write_text("".join(lines), encoding="utf-8")

    def save_state(self, variables: Sequence[keras.Variable], facts: Mapping[str, Any]) -> None:
        """Writes the state of the run: its variables, `facts` (what JSON can hold) and what is kept."""
        progress_facts = {
            "format": FORMAT,
            "kept": [asdict(entry) for entry in self.kept],
            "records": [vars(record) for record in self.records],
        }
        entries = [
            (FACTS, json.dumps({**facts, **progress_facts})),
            *((f"{n:04}", variable.value) for n, variable in enumerate(variables)),
        ]
        write_arrays(self.state_path, entries)
        self.remove_unused()

    def load_state(self, variables: Sequence[keras.Variable]) -> dict[str, Any]:
        """Gives the variables, what is kept and the records the values of the state; returns its facts."""
        arrays = read_arrays(self.state_path)
        facts = parse_facts(self.state_path, arrays)
        assign_all(variables, [array for name, array in sorted(arrays.items()) if name != FACTS], self.state_path)
        kept = [Kept(entry["epoch"], Validation(**entry["validation"])) for entry in facts["kept"]]
        self.kept = kept[: self.count]
        self.records = [EpochRecord(**record) for record in facts["records"]]
        return facts

    def remove_unused(self) -> None:
        """Removes weights that the state on disk does not name."""
        used = {self.name_weights(kept.epoch) for kept in self.kept}
        for path in (self.directory / CHECKPOINTS).glob("epoch-*.npz"):
            if path not in used:
                path.unlink(missing_ok=True)


def state_path(directory: Path) -> Path:
    return directory / CHECKPOINTS / STATE


def read_facts(directory: Path) -> dict[str, Any] | None:
    """What the state says beside its arrays; None where there is no state."""
    path = state_path(directory)
    return parse_facts(path, read_arrays(path, [FACTS])) if path.is_file() else None


def parse_facts(path: Path, arrays: NamedArrays) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(str(arrays[FACTS]))
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path} holds no state of a training", hint=ANEW) from error
    if facts["format"] != FORMAT:
        raise DamagedError(f"{path} has format {facts['format']}; this nmt reads format {FORMAT}", hint=ANEW)
    return facts


def assign_all(variables: Sequence[keras.Variable], arrays: Sequence[Any], path: Path) -> None:
    if [tuple(variable.shape) for variable in variables] != [array.shape for array in arrays]:
        raise DamagedError(f"{path} does not hold the state of such a training", hint=ANEW)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def save_weights(network: Seq2Seq, path: Path) -> None:
    """The weights by name."""
    write_arrays(path, ((weight.path, weight.value) for weight in network.weights))


def load_weights(network: Seq2Seq, path: Path) -> None:
    """Raises DamagedError unless the file holds exactly the weights of such a network."""
    assign_weights(network, read_arrays(path), path)


def assign_weights(network: Seq2Seq, arrays: NamedArrays, path: Path) -> None:
    """Raises DamagedError, which names `path`, unless the arrays are exactly the weights of such a network."""
    expected = {weight.path: tuple(weight.shape) for weight in network.weights}
    if {name: np.shape(array) for name, array in arrays.items()} != expected:
        raise DamagedError(f"{path} does not hold the weights of this network")
    for weight in network.weights:
        weight.assign(arrays[weight.path])
