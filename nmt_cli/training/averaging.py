"""Chooses the weights to export: the best epoch's, or the average of several epochs if it is better.

Vaswani et al. (2017), section 6.1, average the last checkpoints; here the development set chooses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.training.checkpoints.checkpoint import Checkpoints, KeptEpoch, assign_weights
from nmt_cli.training.checkpoints.npz import NamedArrays, read_arrays
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Validation


@dataclass(frozen=True)
class WeightChoice:
    """The exported weights: of one epoch, or the average of several."""

    epochs: tuple[int, ...]  # best first
    validation: Validation


def choose_weights(checkpoints: Checkpoints, validator: Validator, last_validated: KeptEpoch | None) -> WeightChoice:
    """Loads the best weights into the validator's network, and reports the choice.

    If no weights could be written during training, the network keeps its current ones, those of `last_validated`.
    """
    best = checkpoints.best
    if best is None:
        if last_validated is None:
            raise ValueError("no epoch was validated, so there are no weights to choose")
        return WeightChoice((last_validated.epoch,), last_validated.validation)
    if len(checkpoints.best_epochs) > 1:
        epochs = tuple(kept.epoch for kept in checkpoints.best_epochs)
        paths = [checkpoints.locate_weights(epoch) for epoch in epochs]
        assign_weights(validator.network, average_weights(paths), paths[0])
        validation = validator.measure()
        if checkpoints.is_better(validation):
            return WeightChoice(epochs, validation)
    checkpoints.restore_best(validator.network)
    return WeightChoice((best.epoch,), best.validation)


def average_weights(paths: Sequence[Path]) -> NamedArrays:
    """Returns the mean of each array over the files; at most two files are in memory."""
    total = read_arrays(paths[0])
    for path in paths[1:]:
        for name, array in read_arrays(path).items():
            total[name] = total[name] + array
    return {name: array / len(paths) for name, array in total.items()}
