"""Parts of a training that take no time, for tests of what happens around them."""

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import numpy as np

from nmt_cli.model.config import ModelConfig
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import FLOAT, name_graphs
from nmt_cli.training.export.trace import export
from nmt_cli.training.step import Trainer
from nmt_cli.training.validation import Validator, copy_weights
from nmt_cli.training.watcher import Validation


def nudge(trainer: Trainer, batches: object) -> tuple[float, float]:
    """Moves the first weights by the learning rate, and loses 1 nat per token; in place of `Trainer.update`."""
    optimizer, first = trainer.optimizer, trainer.variables[0]
    first.assign(first.numpy() + float(optimizer.learning_rate.numpy()))
    optimizer.iterations.assign_add(1)
    return 10.0, 10.0


def weigh(validator: Validator, trainer: Trainer) -> Validation:
    """Computes scores that follow from the weights; in place of `Validator.validate`."""
    copy_weights(trainer, validator.network)
    weight = sum(float(np.abs(variable.numpy()).sum()) for variable in validator.network.trainable_variables)
    return Validation(weight, 50.0, 100 / weight, 0.0, "b", "c", "a source", "a hypothesis")


def export_once(folder: Path) -> Callable[[Seq2Seq, Path], None]:
    """Returns an `export` that traces each kind of network once, into `folder`; later ones get the same graphs."""
    kinds: list[tuple[ModelConfig, list[tuple[int, ...]]]] = []

    def copy_graphs(network: Seq2Seq, directory: Path) -> None:
        kind = (network.config, [weight.shape for weight in network.weights])
        if kind not in kinds:
            kinds.append(kind)
            (folder / str(kinds.index(kind))).mkdir()
            export(network, folder / str(kinds.index(kind)))
        for name in name_graphs(FLOAT):
            copyfile(folder / str(kinds.index(kind)) / name, directory / name)

    return copy_graphs
