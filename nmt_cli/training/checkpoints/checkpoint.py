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
from nmt_cli.training.checkpoints.npz import Arrays, read_arrays, write_arrays
from nmt_cli.training.config import Metric
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
    metric: Metric = "bleu"
    count: int = 1
    kept: list[Kept] = field(default_factory=list)  # the best first
    records: list[EpochRecord] = field(default_factory=list)

    @property
    def best(self) -> Kept | None:
        return self.kept[0] if self.kept else None

    @property
    def state_path(self) -> Path:
        return state_path(self.directory)

    def path(self, epoch: int) -> Path:
        """Of the weights after an epoch."""
        return self.directory / CHECKPOINTS / f"epoch-{epoch:04}.npz"

    def is_better(self, validation: Validation) -> bool:
        return self.best is None or self.merit(validation) > self.merit(self.best.validation)

    def merit(self, validation: Validation) -> tuple[float, float]:
        """More is better."""
        value: float = getattr(validation, self.metric)
        return -value if self.metric == "loss" else value, -validation.loss

    def keep(self, network: Seq2Seq, epoch: int, validation: Validation) -> None:
        """Keeps the network's weights if they are among the best.

        Of an epoch that is kept already, since a run that was stopped within it goes on in it, the better ones stay.
        """
        entry, others = Kept(epoch, validation), [one for one in self.kept if one.epoch != epoch]
        if any(self.merit(one.validation) >= self.merit(validation) for one in self.kept if one.epoch == epoch):
            return
        ranked = sorted([*others, entry], key=lambda one: self.merit(one.validation), reverse=True)[: self.count]
        if entry in ranked:
            save_weights(network, self.path(epoch))
            self.kept = ranked

    def restore_best(self, network: Seq2Seq) -> None:
        if self.best is not None:
            load_weights(network, self.path(self.best.epoch))

    def write_history(self) -> None:
        """Writes `history.jsonl`."""
        with atomic_path(self.directory / HISTORY) as temporary:
            lines = [json.dumps(one.to_mapping()) + "\n" for one in self.records]
            temporary.write_text("".join(lines), encoding="utf-8")

    def save_state(self, variables: Sequence[keras.Variable], facts: Mapping[str, Any]) -> None:
        """Writes the state of the run: its variables, `facts` (what JSON can hold) and what is kept."""
        own = {
            "format": FORMAT,
            "kept": [asdict(one) for one in self.kept],
            "records": [vars(one) for one in self.records],
        }
        entries = [(FACTS, json.dumps({**facts, **own})), *((f"{n:04}", one.value) for n, one in enumerate(variables))]
        write_arrays(self.state_path, entries)
        self.remove_unused()

    def load_state(self, variables: Sequence[keras.Variable]) -> dict[str, Any]:
        """Gives the variables, what is kept and the records the values of the state; returns its facts."""
        arrays = read_arrays(self.state_path)
        facts = parsed_facts(self.state_path, arrays)
        assign_all(variables, [array for name, array in sorted(arrays.items()) if name != FACTS], self.state_path)
        kept = [Kept(one["epoch"], Validation(**one["validation"])) for one in facts["kept"]]
        self.kept = kept[: self.count]
        self.records = [EpochRecord(**one) for one in facts["records"]]
        return facts

    def remove_unused(self) -> None:
        """Removes weights that the state on disk does not name."""
        used = {self.path(one.epoch) for one in self.kept}
        for path in (self.directory / CHECKPOINTS).glob("epoch-*.npz"):
            if path not in used:
                path.unlink(missing_ok=True)


def state_path(directory: Path) -> Path:
    return directory / CHECKPOINTS / STATE


def read_facts(directory: Path) -> dict[str, Any] | None:
    """What the state says beside its arrays; None where there is no state."""
    path = state_path(directory)
    return parsed_facts(path, read_arrays(path, [FACTS])) if path.is_file() else None


def parsed_facts(path: Path, arrays: Arrays) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(str(arrays[FACTS]))
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{path} holds no state of a training", hint=ANEW) from error
    if facts["format"] != FORMAT:
        raise DamagedError(f"{path} has format {facts['format']}; this nmt reads format {FORMAT}", hint=ANEW)
    return facts


def assign_all(variables: Sequence[keras.Variable], arrays: Sequence[Any], path: Path) -> None:
    if [tuple(one.shape) for one in variables] != [array.shape for array in arrays]:
        raise DamagedError(f"{path} does not hold the state of such a training", hint=ANEW)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def save_weights(network: Seq2Seq, path: Path) -> None:
    """The weights by name."""
    write_arrays(path, ((weight.path, weight.value) for weight in network.weights))


def load_weights(network: Seq2Seq, path: Path) -> None:
    """Raises DamagedError unless the file holds exactly the weights of such a network."""
    assign_weights(network, read_arrays(path), path)


def assign_weights(network: Seq2Seq, arrays: Arrays, path: Path) -> None:
    """Raises DamagedError, which names `path`, unless the arrays are exactly the weights of such a network."""
    wanted = {weight.path: tuple(weight.shape) for weight in network.weights}
    if {name: np.shape(array) for name, array in arrays.items()} != wanted:
        raise DamagedError(f"{path} does not hold the weights of this network")
    for weight in network.weights:
        weight.assign(arrays[weight.path])
