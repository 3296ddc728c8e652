"""Measures the cost of an update, a validation and an export on this machine, before a training with a deadline.

Of several processes that train together, the costs are those of the chief.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean

from nmt_cli.cores import count_cores
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.export.export import export
from nmt_cli.training.loop import TrainingRun
from nmt_cli.translation.translator import Translator

TIMED_UPDATES = 8  # after a first update, in which TensorFlow compiles
LARGEST_SHARE = 0.02  # of the whole time, that timing updates may take
# After the export, the graphs translate the development set three times (`quantise_and_check`), and once more with a
# beam, which takes four times as long (`fit_confidence`).
GREEDY_TRANSLATIONS = 7


def measure_pace(run: TrainingRun, deadline: Deadline) -> None:
    """Sets the cost of an update, and leaves the run in the state of its checkpoint.

    A new run writes a checkpoint for this. A copy of its state in memory would be simpler, but would occupy memory just
    when the export needs most of it.
    """
    if run.updates == 0:
        run.write_checkpoint()
    deadline.update_seconds = measure_update(run, LARGEST_SHARE * deadline.seconds)
    run.checkpoints.load_state(run.trainer.state)


def measure_closing(run: TrainingRun, deadline: Deadline) -> None:
    """Sets the costs of a validation and of what follows the last one."""
    validator, keras = run.validator, run.validator.translator
    # 1. Time a validation, on a part of the development set.
    deadline.validation_seconds = run.cluster.share_number(validator.estimate_seconds(run.trainer))
    with tempfile.TemporaryDirectory() as folder:
        # 2. Time an export, into a directory that is then removed.
        seconds = measure_seconds(lambda: export(validator.network, Path(folder)))
        deadline.export_seconds = run.cluster.share_number(seconds)
        # 3. Time the graphs, on the same part.
        engine = OnnxEngine(Path(folder))
        graphs = Translator(engine, keras.source, keras.target, carries=keras.carries, threads=count_cores())
        share = run.cluster.share_number(validator.time_sample(graphs)) / deadline.validation_seconds
    averaged = 1 if run.trainer.config.average > 1 else 0  # averaged weights are validated once more
    deadline.validations = 1 + averaged + GREEDY_TRANSLATIONS * share


def measure_update(run: TrainingRun, limit: float) -> float:
    """Returns the mean seconds of a few updates, on the first batches of the first epoch, which are in random order.

    Stops once they have taken more than `limit` seconds.
    """
    first, *others = islice(run.batches.make_updates(1), TIMED_UPDATES + 1)
    run.trainer.update(first)  # TensorFlow compiles
    seconds: list[float] = []
    for batches in others or [first]:
        seconds.append(run.cluster.share_number(measure_seconds(partial(run.trainer.update, batches))))
        if sum(seconds) > limit:
            break
    return mean(seconds)


def measure_seconds(work: Callable[[], object]) -> float:
    """Calls `work` and returns the seconds it took."""
    started_at = time.monotonic()
    work()
    return time.monotonic() - started_at
