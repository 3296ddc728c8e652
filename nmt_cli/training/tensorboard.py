"""Logs for TensorBoard: the scores of every epoch, and the loss while an epoch runs.

TensorFlow itself writes the values; TensorBoard is only needed to look at them.
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

STEP_INTERVAL = 20  # steps between two values within an epoch
EPOCH_SCALARS = ("loss", "dev_loss", "perplexity", "accuracy", "bleu", "chrf", "learning_rate", "tokens_per_second")


class TensorBoard(Watcher):
    """Writes an event file to `directory`; the step of a value is the number of updates since the start of the run."""

    def __init__(self, directory: Path, report_problem: Callable[[str], None]) -> None:
        """Raises OSError if `directory` cannot be written; if it fails later, `report_problem` is called, once."""
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            self.directory = directory
        self.report_problem, self.failed = report_problem, False

    @cached_property
    def writer(self) -> Any:
        """Created for the first value: TensorFlow must do nothing before `distributed.strategy.make_strategy`."""
        return tf.summary.create_file_writer(str(self.directory))

    def report_step(self, status: StepStatus) -> None:
        if status.step % STEP_INTERVAL == 0:
            values = {"step/loss": status.loss, "step/tokens_per_second": status.tokens_per_second}
            self.write(values, status.updates)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.write({f"epoch/{name}": getattr(record, name) for name in EPOCH_SCALARS}, record.steps)

    def write(self, values: dict[str, float], step: int) -> None:
        """Writes scalars by name, unless an earlier write failed."""
        if self.failed:
            return
        try:
            with self.writer.as_default():
                for name, value in values.items():
                    tf.summary.write(name, tf.constant(value, tf.float32), step=step, metadata=make_scalar())
            self.writer.flush()  # nothing else flushes it when the process ends
        except tf.errors.OpError as error:
            self.failed = True
            self.report_problem(f"no more TensorBoard logs are written, training continues: {error.message}")


def make_scalar() -> SummaryMetadata:
    """Returns the metadata that puts a value on TensorBoard's page of scalars (see its plugins/scalar/metadata.py)."""
    plugin = SummaryMetadata.PluginData(plugin_name="scalars")
    return SummaryMetadata(plugin_data=plugin, data_class=DATA_CLASS_SCALAR)
