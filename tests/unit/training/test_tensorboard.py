from __future__ import annotations

from pathlib import Path

import tensorflow as tf
from tensorflow.core.util.event_pb2 import Event

from nmt_cli.training.tensorboard import EVERY, TensorBoard
from nmt_cli.training.watch import EpochRecord, StepStatus, Validation


def test_the_logs_hold_every_scalar_at_its_update(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path / "logs")
    for step in range(1, EVERY + 2):
        board.stepped(StepStatus(2, 3, step, 100, 2.5, 900.0, 60.0))
    record = EpochRecord(2, 200, 2.0, 2.1, 8.2, 40.0, 5.0, 20.0, 1e-3, 900.0, 12.0, True, True)
    board.epoch_ended(record, Validation(2.1, 40.0, 5.0, 20.0, "b", "c", "a source", "a hypothesis"))
    (file,) = (tmp_path / "logs").iterdir()
    events = [Event.FromString(raw.numpy()) for raw in tf.data.TFRecordDataset(str(file))]
    found = {(value.tag, event.step): value for event in events for value in event.summary.value}
    assert tf.make_ndarray(found["step/loss", 100 + EVERY].tensor) == 2.5
    assert tf.make_ndarray(found["epoch/bleu", 200].tensor) == 5.0
    assert {value.metadata.plugin_data.plugin_name for value in found.values()} == {"scalars"}
    assert [step for tag, step in found if tag == "step/loss"] == [100 + EVERY]
