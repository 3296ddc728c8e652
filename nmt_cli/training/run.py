"""`train`: from a prepared directory to a model directory, once or with several seeds.

1. `prepare_run` (`setup.py`) checks the request, builds the network, and restores the checkpoint to resume from.
2. `TrainingRun.fit` (`loop.py`) updates the weights, epoch after epoch.
3. `publish` (`export/publish.py`) exports the best weights.

`nmt train --runs 3 --seed 1` does so in `model/run-1`, `run-2` and `run-3` with the seeds 1, 2 and 3, and copies the
best to `model/`. Prints nothing: a `Watcher` receives all reports.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import tensorflow as tf

from nmt_cli.errors import TrainingError
from nmt_cli.runtime.model_directory import STAGES, publish_directory
from nmt_cli.training.checkpoints import lock_model
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.export.publish import publish
from nmt_cli.training.request import ProcessRole, TrainRequest
from nmt_cli.training.setup import prepare_run
from nmt_cli.training.watcher import SeedResult, TrainReport


def train(request: TrainRequest) -> TrainReport:
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
            publish(run)
        raise
    # 3. Export the best weights, and measure what 8 bits cost.
    request.watcher.report_export()
    choice, int8_check = publish(run)
    return TrainReport(
        epochs=choice.epochs,
        validation=choice.validation,
        records=tuple(run.checkpoints.records),
        int8_check=int8_check,
        passed_epochs=run.passed_epochs,
        planned_epochs=None if run.trainer.config.time else run.trainer.config.epochs,
    )


def assist(request: TrainRequest) -> None:
    """Takes part in a training run whose chief is another process. Writes no model; raises the errors of `train`."""
    with explain_errors(request.role):
        prepare_run(request).fit()


@contextmanager
def explain_errors(role: ProcessRole) -> Iterator[None]:
    """Raises TrainingError if memory runs out within the block, or if another process of the training ends early."""
    try:
        yield
    except tf.errors.ResourceExhaustedError as error:
        hint = "use a smaller --batch or --batch-tokens; with --accumulate, the size of an update does not change"
        raise TrainingError("out of memory: a batch does not fit", hint=hint) from error
    except tf.errors.OpError as error:
        if role.processes > 1:
            hint = "read the message of the other process, then restart all processes with --resume"
            problem = f"another process stopped or cannot be reached: {find_reason(error)}"
            raise TrainingError(problem, hint=hint) from error
        raise


def find_reason(error: tf.errors.OpError) -> str:
    """Returns the line of TensorFlow's message that names the cause, skipping headings and code locations."""
    lines: list[str] = (error.message or "").splitlines()
    return next((line for line in lines if line[:1].isalpha() and not line.endswith(":")), type(error).__name__)


def locate_run(directory: Path, number: int) -> Path:
    """Returns the directory of a run, counted from 1, within the model's directory."""
    return directory / f"run-{number}"


def train_repeatedly(request: TrainRequest, train: Callable[[TrainRequest], TrainReport]) -> TrainReport:
    """Trains `request.runs` times, with its seed and the following ones, and returns the report of the best run.

    Each run gets the whole --time. Each model gets its own directory; the best is copied to the request's directory,
    whose lock the caller holds. If the watcher stops a run, no other follows; if a run fails, the best of the earlier
    ones is still copied. The report's passed epochs are those of the last run. Once all runs are done, the stages of
    runs with synthetic pairs are removed unless they are to be kept: only --resume needs them. Raises the errors of
    `train` and `lock_model`.
    """
    if request.force:
        remove_runs(request.directory)
    reports: list[TrainReport] = []
    results: list[SeedResult] = []
    try:
        for number in range(1, request.runs + 1):
            seed = request.training.seed + number - 1
            request.watcher.report_run(number, request.runs, seed)
            reports.append(train_seed(request, train, number, seed))
            results.append(SeedResult(locate_run(request.directory, number), seed, reports[-1].validation))
            if request.watcher.should_stop():
                break
    except KeyboardInterrupt:  # stopped before there was anything to keep of this run
        if not results:
            raise
    finally:
        if results:
            best = find_best(results, request.training.metric)
            copy_model(results[best].directory, request.directory)
    if not request.keep_stages and len(results) == request.runs and not request.watcher.should_stop():
        for result in results:
            shutil.rmtree(result.directory / STAGES, ignore_errors=True)
    return replace(reports[best], runs=tuple(results), passed_epochs=reports[-1].passed_epochs)


def remove_runs(directory: Path) -> None:
    """Removes the runs of an earlier training, which --resume would mistake for runs of this one.

    Raises OutputError for a run that is still being trained, or is not a model.
    """
    for path in sorted(directory.glob("run-*")):
        if path.name.removeprefix("run-").isdecimal():
            with lock_model(path, replace=True):
                pass
            shutil.rmtree(path)


def train_seed(
    request: TrainRequest, train: Callable[[TrainRequest], TrainReport], number: int, seed: int
) -> TrainReport:
    """Trains one run in its own directory, with its own seed and its own time."""
    directory, training = locate_run(request.directory, number), replace(request.training, seed=seed)
    deadline = Deadline.from_option(training.time)
    with lock_model(directory, replace=request.force, resume=request.resume):
        # The stages of a run that is done tell --resume what the other runs need.
        return train(replace(request, directory=directory, training=training, deadline=deadline, keep_stages=True))


def find_best(results: Sequence[SeedResult], metric: str) -> int:
    """Returns the index of the best run; the first among equals."""
    return max(range(len(results)), key=lambda index: results[index].validation.rate(metric))


def copy_model(source: Path, directory: Path) -> None:
    """Copies the model in `source` to `directory`, without its checkpoints."""
    with publish_directory(directory) as staged:
        for path in source.iterdir():
            if path.is_file() and not path.name.startswith("."):
                copyfile(path, staged / path.name)


def describe_spread(values: Sequence[float]) -> str:
    """Returns the mean of several scores and their standard deviation."""
    mean = statistics.fmean(values)
    return f"{mean:.1f} ± {statistics.stdev(values):.1f}" if len(values) > 1 else f"{mean:.1f}"
