"""`train`: from a prepared directory to a model directory.

1. `prepare_run` checks the request, builds the network, and restores the checkpoint to resume from.
2. `TrainingRun.fit` (`loop.py`) updates the weights, epoch after epoch.
3. `publish` exports the best weights.

Prints nothing: a `Watcher` receives all reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import tensorflow as tf

from nmt_cli.errors import TrainingError
from nmt_cli.training.distributed.process import ProcessRole
from nmt_cli.training.publish import Int8Check, publish
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.setup.prepare import prepare_run
from nmt_cli.training.watcher import EpochRecord, SeedResult, Validation


@dataclass(frozen=True)
class TrainReport:
    """The result of a training."""

    epochs: tuple[int, ...]  # whose weights are exported, best first; several if the weights are averaged
    validation: Validation  # of the exported weights
    records: tuple[EpochRecord, ...]
    int8_check: Int8Check  # of the exported weights in 8 bits
    passed_epochs: float = 0.0  # of the training data; the last may be passed in part
    planned_epochs: int | None = None  # None where a time decides
    runs: tuple[SeedResult, ...] = ()  # all runs of several with different seeds, of which this is the best


def train(request: TrainingRequest) -> TrainReport:
    """Trains a network and writes a complete model; if several processes train together, only the chief calls this.

    Raises DataError or OptionError if the checkpoint belongs to other data or settings, TrainingError if training
    diverges or another process ends, KeyboardInterrupt if the watcher stops training before the first update.
    """
    # 1. Set the run up, or restore it from its checkpoint.
    with explain_errors(request.role):
        run = prepare_run(request)
    # 2. Update the weights, epoch after epoch.
    try:
        with explain_errors(request.role):
            run.fit()
    except TrainingError:
        if run.checkpoints.best is not None:  # what was learned before the error is still good
            request.watcher.warn(f"{request.directory}/ gets the best model so far")
            publish(run, request.corpus)
        raise
    # 3. Export the best weights, and measure what 8 bits cost.
    request.watcher.report_export()
    choice, int8_check = publish(run, request.corpus)
    return TrainReport(
        epochs=choice.epochs,
        validation=choice.validation,
        records=tuple(run.checkpoints.records),
        int8_check=int8_check,
        passed_epochs=run.passed_epochs,
        planned_epochs=None if run.trainer.config.time else run.trainer.config.epochs,
    )


def assist(request: TrainingRequest) -> None:
    """Takes part in a training whose chief is another process. Writes no model; raises the errors of `train`."""
    with explain_errors(request.role):
        prepare_run(request).fit()


@contextmanager
def explain_errors(role: ProcessRole) -> Iterator[None]:
    """Raises TrainingError if memory runs out within the block, or if another process of the training ends early."""
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        hint = "use a smaller --batch or --batch-tokens; with --accumulate, updates stay as large as before"
        raise TrainingError("out of memory: a batch does not fit", hint=hint) from error
    except tf.errors.OpError as error:
        if role.processes > 1:
            hint = "see what the other says, then start all processes again, with --resume"
            problem = f"another process ended or cannot be reached: {find_reason(error)}"
            raise TrainingError(problem, hint=hint) from error
        raise


def find_reason(error: tf.errors.OpError) -> str:
    """Returns the line of TensorFlow's message that names the cause, behind headings and places in the code."""
    lines: list[str] = (error.message or "").splitlines()
    return next((line for line in lines if line[:1].isalpha() and not line.endswith(":")), type(error).__name__)
