"""Which weights are exported: those of the best epoch, or the mean of several where it is better still.

The mean is that of Vaswani et al. (2017), section 6.1, who took the last checkpoints; here the development set chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt_cli.training.checkpoints.checkpoint import Checkpoints, Kept, assign_weights
from nmt_cli.training.checkpoints.npz import NamedArrays, read_arrays
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Validation


@dataclass(frozen=True)
class Chosen:
    """What is exported: one epoch, or the mean of several."""

    epochs: tuple[int, ...]  # the best first
    validation: Validation


def choose_weights(checkpoints: Checkpoints, validator: Validator, latest: Kept | None) -> Chosen:
    """Gives the validator's network the best weights there are, and says which they are.

    Where none could be written, those are its own, of which `latest` tells.
    """
    best = checkpoints.best
    if best is None:
        if latest is None:
            raise ValueError("nothing was validated, so nothing can be chosen")
        return Chosen((latest.epoch,), latest.validation)
    if len(checkpoints.kept) > 1:
        epochs = tuple(kept.epoch for kept in checkpoints.kept)
        paths = [checkpoints.name_weights(epoch) for epoch in epochs]
        assign_weights(validator.network, mean_of(paths), paths[0])
        validation = validator.measure()
        if checkpoints.is_better(validation):
            return Chosen(epochs, validation)
    checkpoints.restore_best(validator.network)
    return Chosen((best.epoch,), best.validation)


def mean_of(paths: Sequence[Path]) -> NamedArrays:
    """The mean of each array over the files; two files at most are in memory."""
    total = read_arrays(paths[0])
    for path in paths[1:]:
        for name, array in read_arrays(path).items():
            total[name] = total[name] + array
    return {name: array / len(paths) for name, array in total.items()}
