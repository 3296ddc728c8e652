"""Training as TensorBoard shows it: one scalar a line of the history, and the loss while an epoch runs.

Needs TensorBoard only to be looked at: the values are written by TensorFlow itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.core.framework.summary_pb2 import DATA_CLASS_SCALAR, SummaryMetadata

from nmt_cli.training.watcher import EpochRecord, StepStatus, Validation, Watcher

EVERY = 20  # steps between two values while an epoch runs
SHOWN = ("loss", "dev_loss", "perplexity", "accuracy", "bleu", "chrf", "learning_rate", "tokens_per_second")


class TensorBoard(Watcher):
    """Writes an event file into `directory`; a value's step is the number of updates since the start of the run."""

    def __init__(self, directory: Path, report_problem: Callable[[str], None]) -> None:
        """`report_problem` is called once if nothing can be written any more. Raises OSError if so at the start."""
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            self.directory = directory
        self.report_problem, self.failed = report_problem, False

    @cached_property
    def writer(self) -> Any:
        """Made for the first value: TensorFlow must have done nothing before `devices.strategy_for`."""
        return tf.summary.create_file_writer(str(self.directory))

    def report_step(self, status: StepStatus) -> None:
        if status.step % EVERY == 0:
            values = {"step/loss": status.loss, "step/tokens_per_second": status.tokens_per_second}
            self.write(values, status.updates)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.write({f"epoch/{name}": getattr(record, name) for name in SHOWN}, record.steps)

    def write(self, values: dict[str, float], step: int) -> None:
        if self.failed:
            return
        try:
            with self.writer.as_default():
                for name, value in values.items():
                    tf.summary.write(name, tf.constant(value, tf.float32), step=step, metadata=make_scalar())
            self.writer.flush()  # nobody else does, however the process ends
        except tf.errors.OpError as error:
            self.failed = True
            self.report_problem(f"nothing more is written for TensorBoard, training goes on: {error.message}")


def make_scalar() -> SummaryMetadata:
    """What marks a value for TensorBoard's page of scalars (its plugins/scalar/metadata.py)."""
    plugin = SummaryMetadata.PluginData(plugin_name="scalars")
    return SummaryMetadata(plugin_data=plugin, data_class=DATA_CLASS_SCALAR)
