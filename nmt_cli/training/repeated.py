"""Trains one network several times with different seeds, and makes the best of them the model."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

from nmt_cli.runtime.model_directory import STAGES, publish_directory
from nmt_cli.training.checkpoints.lock import lock_model
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.watcher import SeedResult

if TYPE_CHECKING:
    from nmt_cli.training.run import TrainReport


def locate_run(directory: Path, number: int) -> Path:
    """Returns the directory of a run, counted from 1, within the model's directory."""
    return directory / f"run-{number}"


def train_repeatedly(
    request: TrainingRequest,
    train: Callable[[TrainingRequest], TrainReport],
    *,
    runs: int,
    replace_models: bool,
    keep_stages: bool = True,
) -> TrainReport:
    """Trains with the request's seed and the following ones, and returns the report of the best run.

    Each run gets the whole --time. Its model is in a directory of its own; the best is copied to the request's, whose
    lock the caller holds. A run stopped by the watcher is the last; if it fails, the best of those before it is still
    copied. The passed epochs of the report are the last run's. Unless `keep_stages`, the stages of trainings with
    synthetic pairs, needed only by --resume, are removed once all runs are done. Raises the errors of `train` and
    `lock_model`.
    """
    if replace_models:
        remove_runs(request.directory)
    reports: list[TrainReport] = []
    results: list[SeedResult] = []
    try:
        for number in range(1, runs + 1):
            seed = request.training.seed + number - 1
            request.watcher.report_run(number, runs, seed)
            reports.append(train_seed(request, train, number, seed, replace_models=replace_models))
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
    if not keep_stages and len(results) == runs and not request.watcher.should_stop():
        for result in results:
            shutil.rmtree(result.directory / STAGES, ignore_errors=True)
    return replace(reports[best], runs=tuple(results), passed_epochs=reports[-1].passed_epochs)


def remove_runs(directory: Path) -> None:
    """Removes the runs of an earlier training, which --resume would mistake for this one's.

    Raises OutputError for a run that is still being trained, or is not a model.
    """
    for path in sorted(directory.glob("run-*")):
        if path.name.removeprefix("run-").isdecimal():
            with lock_model(path, replace=True):
                pass
            shutil.rmtree(path)


def train_seed(
    request: TrainingRequest,
    train: Callable[[TrainingRequest], TrainReport],
    number: int,
    seed: int,
    *,
    replace_models: bool,
) -> TrainReport:
    """Trains one run in its own directory, with its own seed and its own time."""
    directory, training = locate_run(request.directory, number), replace(request.training, seed=seed)
    deadline = Deadline.from_option(training.time)
    with lock_model(directory, replace=replace_models, resume=request.resume):
        return train(replace(request, directory=directory, training=training, deadline=deadline))


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
