"""Trains a model further, and goes back towards where it began as long as it has lost too much on the way.

Source of the interpolation: Wortsman et al. (2022), "Robust fine-tuning of zero-shot models".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.checkpoints.checkpoint import KeptEpoch, assign_weights, save_weights
from nmt_cli.training.checkpoints.npz import NamedArrays
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.publish import publish
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.run import explain_errors
from nmt_cli.training.setup.prepare import prepare_run
from nmt_cli.training.validation import copy_weights

SHARES = (0.5, 0.25)  # of the step from the initial weights, after the whole


def train_in_shorter_steps(request: TrainingRequest) -> Iterator[None]:
    """Trains a network and writes a complete model; each time that it is asked again, one nearer to the initial one.

    Raises the errors of `train`.
    """
    with explain_errors(request.role):
        run = prepare_run(request)
        copy_weights(run.trainer, run.validator.network)
        initial = read_weights(run.validator.network)
        run.fit()
    request.watcher.report_export()
    choice, _ = publish(run, request.corpus)
    yield
    trained, (epoch, *_) = read_weights(run.validator.network), choice.epochs  # publishing has put them there
    for share in SHARES:
        keep_between(run, epoch, {name: array + share * (trained[name] - array) for name, array in initial.items()})
        publish(run, request.corpus)
        yield


def read_weights(network: Seq2Seq) -> NamedArrays:
    """Returns copies of the weights by name."""
    return {weight.path: np.array(weight.value) for weight in network.weights}


def keep_between(run: TrainingRun, epoch: int, weights: NamedArrays) -> None:
    """Makes these the weights that are exported, in place of those of an epoch."""
    path = run.checkpoints.locate_weights(epoch)
    assign_weights(run.validator.network, weights, path)
    save_weights(run.validator.network, path)
    run.checkpoints.best_epochs = [KeptEpoch(epoch, run.validator.measure())]
