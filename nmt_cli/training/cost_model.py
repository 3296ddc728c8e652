"""What updates, a validation and an export cost on this machine, measured before a training that has a deadline."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean

from nmt_cli.training.deadline import Deadline
from nmt_cli.training.export.export import export
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.validation import GREEDY

UPDATES = 8  # after a first one, in which TensorFlow compiles
SHARE = 0.02  # of the time there is, after which no further update is tried
SENTENCES = 128


def calibrate(run: TrainingRun, deadline: Deadline) -> None:
    """Tells `deadline` what things cost. The run is then where its checkpoint is, whatever was tried.

    A run at its beginning writes one for that: a copy in memory would be there while the export needs most of it.
    """
    if run.updates == 0:
        run.write_checkpoint()
    deadline.update = update_seconds(run, SHARE * deadline.seconds)
    run.checkpoints.load_state(run.trainer.state)
    deadline.validation = validation_seconds(run)
    with tempfile.TemporaryDirectory() as folder:
        deadline.export = seconds_of(lambda: export(run.validate.network, Path(folder)))


def update_seconds(run: TrainingRun, enough: float) -> float:
    """Mean of a few updates on batches of the first epoch, which come in random order; of one, if that is `enough`."""
    first, *others = islice(run.batches.updates_of(1), UPDATES + 1)
    run.trainer.update(first)
    seconds: list[float] = []
    for group in others or [first]:
        seconds.append(seconds_of(partial(run.trainer.update, group)))
        if sum(seconds) > enough:
            break
    return mean(seconds)


def validation_seconds(run: TrainingRun) -> float:
    """Estimates the seconds of validating the whole development set from a part of it.

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
