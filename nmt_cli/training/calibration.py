"""What updates, a validation and an export cost on this machine, measured before a training that has a deadline."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from nmt_cli.training.deadline import Deadline
from nmt_cli.training.export import export
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.validation import GREEDY

UPDATES = 8  # after a first one, in which TensorFlow compiles
SENTENCES = 128


def calibrate(run: TrainingRun, deadline: Deadline) -> None:
    """Tells `deadline` what things cost. The run is then as it was: at its beginning, whatever was tried."""
    deadline.update = update_seconds(run)
    deadline.validation = validation_seconds(run)
    with tempfile.TemporaryDirectory() as folder:
        deadline.export = seconds_of(lambda: export(run.validate.network, Path(folder)))


def update_seconds(run: TrainingRun) -> float:
    """Mean of a few updates on batches of the first epoch, which come in random order."""
    before = [np.array(one.value) for one in run.trainer.state]
    first, *others = islice(run.batches.updates_of(1), UPDATES + 1)
    run.trainer.update(first)
    seconds = seconds_of(lambda: [run.trainer.update(group) for group in others or [first]])
    for variable, value in zip(run.trainer.state, before, strict=True):
        variable.assign(value)
    return seconds / max(1, len(others))


def validation_seconds(run: TrainingRun) -> float:
    """Of all the development set, from some of it.

    A network that has learned nothing finds no end: it may say as much as the longest reference does. That is more
    than it will say later.
    """
    sources = run.validate.sources[:SENTENCES]
    longest = max(batch.target.shape[1] for batch in run.validate.batches)

    def translate() -> None:
        run.validate.translator.translate(sources, replace(GREEDY, max_length=longest))

    translate()  # TensorFlow compiles
    return seconds_of(translate) * len(run.validate.sources) / len(sources)


def seconds_of(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
