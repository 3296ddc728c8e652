from pathlib import Path

import pytest
import tensorflow as tf
from tensorflow.core.util.event_pb2 import Event

from nmt_cli.training.watcher import STEP_INTERVAL, EpochRecord, StepStatus, TensorBoard, Validation


def test_the_logs_hold_every_scalar_at_its_update(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path / "logs", pytest.fail)
    for step in range(1, STEP_INTERVAL + 2):
        board.report_step(StepStatus(2, 3, step, 100, 101 + step, 2.5, 900.0, 60.0))
    record = EpochRecord(2, 200, 2.0, 2.1, 8.2, 40.0, 5.0, 20.0, 1e-3, 900.0, 12.0, True, True)
    board.report_epoch(record, Validation(2.1, 40.0, 5.0, 20.0, "b", "c", "a source", "a hypothesis"))
    (file,) = (tmp_path / "logs").iterdir()
    events = [Event.FromString(raw.numpy()) for raw in tf.data.TFRecordDataset(str(file))]
    values = {(value.tag, event.step): value for event in events for value in event.summary.value}
    assert tf.make_ndarray(values["step/loss", 101 + STEP_INTERVAL].tensor) == 2.5
    assert tf.make_ndarray(values["epoch/bleu", 200].tensor) == 5.0
    assert {value.metadata.plugin_data.plugin_name for value in values.values()} == {"scalars"}
    assert [step for tag, step in values if tag == "step/loss"] == [101 + STEP_INTERVAL]


def test_tensorflow_has_done_nothing_before_the_first_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes can no longer meet once it has."""
    monkeypatch.setattr(tf.summary, "create_file_writer", lambda directory: pytest.fail("TensorFlow was begun"))
    TensorBoard(tmp_path / "logs", pytest.fail)


def test_an_unwritable_place_is_refused_and_a_full_disk_outlived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        TensorBoard(tmp_path / "file", pytest.fail)
    problems: list[str] = []
    board = TensorBoard(tmp_path / "logs", problems.append)

    def full(*arguments: object, **options: object) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.summary, "write", full)
    for _ in range(2):
        board.report_step(StepStatus(1, 3, STEP_INTERVAL, 100, STEP_INTERVAL, 2.5, 900.0, 60.0))
    assert [line for line in problems if "No space left on device" in line] == problems and len(problems) == 1
