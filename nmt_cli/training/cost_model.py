"""Measures the cost of an update, a validation and an export on this machine, before a training with a deadline."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean

from nmt_cli.training.deadline import Deadline
from nmt_cli.training.export.export import export
from nmt_cli.training.loop import TrainingRun

TIMED_UPDATES = 8  # after a first update, in which TensorFlow compiles
LARGEST_SHARE = 0.02  # of the whole time, that timing updates may take


def measure_costs(run: TrainingRun, deadline: Deadline) -> None:
    """Sets the costs of `deadline`, and leaves the run in the state of its checkpoint.

    A new run writes a checkpoint for this. A copy of its state in memory would be simpler, but would occupy memory just
    when the export needs most of it.
    """
    # 1. Time a few updates, then undo them.
    if run.updates == 0:
        run.write_checkpoint()
    deadline.update_seconds = measure_update(run, LARGEST_SHARE * deadline.seconds)
    deadline.first_update_seconds = deadline.update_seconds
    run.checkpoints.load_state(run.trainer.state)
    # 2. Time a validation, on a part of the development set.
    deadline.validation_seconds = run.validator.estimate_seconds(run.trainer)
    # 3. Time an export, into a directory that is then removed. Graphs in 8 bits take as long again.
    with tempfile.TemporaryDirectory() as folder:
        deadline.export_seconds = 2 * measure_seconds(lambda: export(run.validator.network, Path(folder)))


def measure_update(run: TrainingRun, limit: float) -> float:
    """Returns the mean seconds of a few updates, on the first batches of the first epoch, which are in random order.

    Stops once they have taken more than `limit` seconds.
    """
    first, *others = islice(run.batches.make_updates(1), TIMED_UPDATES + 1)
    run.trainer.update(first)  # TensorFlow compiles
    seconds: list[float] = []
    for batches in others or [first]:
        seconds.append(measure_seconds(partial(run.trainer.update, batches)))
        if sum(seconds) > limit:
            break
    return mean(seconds)


def measure_seconds(work: Callable[[], object]) -> float:
    """Calls `work` and returns the seconds it took."""
    started_at = time.monotonic()
    work()
    return time.monotonic() - started_at
