"""The loop, its meter and its watchers, with updates and validations that cost no time."""

import errno
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.util.event_pb2 import Event

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import TrainingError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training import checkpoints as checkpoint
from nmt_cli.training import loop as module
from nmt_cli.training.loop import Diverged, LossMonitor, Meter, TrainingRun
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import SINGLE_PROCESS, ProcessRole, TrainRequest
from nmt_cli.training.run import explain_errors
from nmt_cli.training.setup import build_run
from nmt_cli.training.step import Handover
from nmt_cli.training.watcher import (
    REPORTS,
    STEP_INTERVAL,
    EpochRecord,
    StepStatus,
    TensorBoard,
    Validation,
    Watcher,
    Watchers,
)

TINY = ModelConfig.from_options(embedding=2, units=2, attention_units=2)
CONFIG = TrainOptions(epochs=3, batch=32, learning_rate=0.01, mixed_precision=False, checkpoint_minutes=0)


class Listener(Watcher):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, problem: str) -> None:
        self.warnings.append(problem)


class Losses:
    """Stands for the compiled update: counts it, moves the first weight by the learning rate, gives the next loss."""

    def __init__(self, run: TrainingRun, losses: Iterator[float]) -> None:
        self.run = run
        self.losses = losses

    def __call__(self, batches: Sequence[object]) -> tuple[float, float]:
        trainer = self.run.trainer
        trainer.variables[0].assign_add(keras.ops.ones_like(trainer.variables[0]) * trainer.optimizer.learning_rate)
        trainer.optimizer.iterations.assign_add(1)
        return next(self.losses) * 10.0, 10.0


def run_with(
    corpus: PreparedCorpus, directory: Path, losses: Iterator[float], config: TrainOptions = CONFIG
) -> tuple[TrainingRun, Listener]:
    (directory / "checkpoints").mkdir(parents=True)
    listener = Listener()
    run = build_run(TrainRequest(corpus, directory, TINY, config, listener))
    run.trainer.update = Losses(run, losses)  # type: ignore[method-assign]
    run.validator = Steady(run.validator.network)  # type: ignore[assignment]
    return run, listener


class Steady:
    def __init__(self, network: object) -> None:
        self.network = network

    def validate(self, trainer: object) -> Validation:
        return Validation(1.0, 50.0, 1.0, 0.0, "b", "c", "a source", "a hypothesis")


def refuse(path: Path, arrays: object) -> None:
    """Stands for `write_arrays` on a full disk."""
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


def sometimes(bad: dict[int, float]) -> Iterator[float]:
    """3 nats for ever, but for the calls named."""
    number = 0
    while True:
        number += 1
        yield bad.get(number, 3.0)


def test_a_loss_that_is_no_number_costs_no_more_than_the_way_back(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, listener = run_with(corpus, tmp_path, sometimes({4: math.nan}))
    run.fit()
    assert len(listener.warnings) == 1
    assert "epoch 1, step 4: the loss is NaN or infinite; back to epoch 1, step 3" in listener.warnings[0]
    assert "half the learning rate (peak now 0.005)" in listener.warnings[0]
    assert [record.epoch for record in run.checkpoints.records] == [1, 2, 3]
    assert run.updates == 3 * run.batches.updates  # the one that failed was taken back and done again
    assert float(run.schedule.factor.numpy()) == 0.5


def test_the_weights_after_the_way_back_are_those_of_the_checkpoint(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, _ = run_with(corpus, tmp_path, sometimes({3: math.nan}))
    before = run.trainer.variables[0].numpy()
    rates = [float(run.schedule.compute_rate(step)) for step in range(3 * run.batches.updates)]
    run.fit()
    expected = before + sum(rates[:2]) + sum(rates[2:]) / 2
    np.testing.assert_allclose(run.trainer.variables[0].numpy(), expected, rtol=1e-5)


def test_after_three_ways_back_advice_is_given(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, listener = run_with(corpus, tmp_path, iter([3.0] * 2 + [math.nan] * 9))
    with pytest.raises(TrainingError) as caught:
        run.fit()
    assert len(listener.warnings) == 3
    assert "with a peak learning rate of 0.00125" in caught.value.message
    assert "--learning-rate 0.000625" in caught.value.hint


def test_weights_that_are_no_numbers_never_become_a_checkpoint(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, listener = run_with(corpus, tmp_path, sometimes({}))
    update = run.trainer.update
    calls = iter(range(1000))

    def poisonous(batches: Sequence[object]) -> tuple[float, float]:
        result = update(batches)  # type: ignore[arg-type]
        if next(calls) == 2:
            run.trainer.variables[1].assign(run.trainer.variables[1] * math.nan)
        return result

    run.trainer.update = poisonous  # type: ignore[method-assign, assignment]
    run.fit()
    assert "a weight is NaN or infinite; back to epoch 1, step 2" in listener.warnings[0]
    assert all(np.isfinite(variable.numpy()).all() for variable in run.trainer.variables)


def test_the_way_back_from_an_explosion_leads_to_before_it_began(corpus: PreparedCorpus, tmp_path: Path) -> None:
    config = replace(CONFIG, batch=4, epochs=1)
    run, listener = run_with(corpus, tmp_path, sometimes({number: number - 3.0 for number in range(9, 20)}), config)
    run.fit()  # 3 nats until the eighth update, then 6, 7, 8, ...
    assert len(listener.warnings) == 1
    assert "the loss rose from 3.00 to" in listener.warnings[0]
    assert "back to epoch 1, step 8 " in listener.warnings[0]


def test_a_checkpoint_that_cannot_be_written_does_not_end_training(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, listener = run_with(corpus, tmp_path, sometimes({}), replace(CONFIG, epochs=2, checkpoint_minutes=100))
    write = checkpoint.write_arrays
    refused = iter([False, True, True, False, False])  # the first state; weights and state of epoch 1; those of epoch 2

    def sparing(path: Path, arrays: object) -> None:
        if next(refused):
            refuse(path, arrays)
        write(path, arrays)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoint, "write_arrays", sparing)
    run.fit()
    assert [warning.split(":")[0] for warning in listener.warnings] == [
        "the weights could not be written, but training continues",
        "the checkpoint could not be written, but training continues",
    ]
    assert all("the disk is full" in warning and "free some space" in warning for warning in listener.warnings)
    assert [record.best for record in run.checkpoints.records] == [False, True]
    assert run.checkpoints.best is not None and run.checkpoints.best.epoch == 2


def test_no_room_for_the_first_checkpoint_is_told_before_hours_are_spent(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = run_with(corpus, tmp_path, iter([]))
    monkeypatch.setattr(checkpoint, "write_arrays", refuse)
    with pytest.raises(OSError):
        run.fit()


def test_checkpoints_are_written_as_often_as_was_asked_for(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = run_with(corpus, tmp_path, sometimes({}), replace(CONFIG, epochs=1, checkpoint_minutes=1 / 60))
    written: list[int] = []
    monkeypatch.setattr(run, "write_checkpoint", lambda: written.append(run.updates))
    monkeypatch.setattr("nmt_cli.training.loop.time.monotonic", lambda: run.updates / 2)  # half a second an update
    run.fit()
    assert written[0] == 0 and written[-1] == run.batches.updates
    assert written[1:-1] == list(range(2, run.batches.updates, 2))


def test_where_nothing_can_be_written_the_last_weights_are_still_known(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = run_with(corpus, tmp_path, sometimes({}), replace(CONFIG, epochs=2, checkpoint_minutes=100))
    run.write_checkpoint()
    run.trainer.optimizer.iterations.assign(1)
    monkeypatch.setattr(checkpoint, "write_arrays", refuse)
    run.fit()
    assert run.checkpoints.best is None
    assert run.last_validated is not None and run.last_validated.epoch == 2


def test_weights_that_a_stop_finds_to_be_no_numbers_are_not_the_end(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, listener = run_with(corpus, tmp_path, sometimes({}))
    update, stopped = run.trainer.update, []

    def poisonous(batches: Sequence[object]) -> tuple[float, float]:
        result = update(batches)  # type: ignore[arg-type]
        if run.progress.epoch == 2:
            run.trainer.variables[1].assign(run.trainer.variables[1] * math.nan)
            stopped.append(True)
        return result

    run.trainer.update = poisonous  # type: ignore[method-assign, assignment]
    listener.should_stop = lambda: bool(stopped)  # type: ignore[method-assign]
    is_due = run.is_checkpoint_due
    run.is_checkpoint_due = lambda: not stopped and is_due()  # type: ignore[method-assign]
    run.fit()
    assert "a weight is NaN or infinite; back to epoch 2, step 0" in listener.warnings[0]
    assert run.checkpoints.best is not None and run.checkpoints.best.epoch == 1


def test_a_way_back_keeps_to_the_schedule_of_the_longer_run(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, _ = run_with(corpus, tmp_path, sometimes({}))
    run.write_checkpoint()  # as of a shorter run, which had no handover
    run.schedule.handover = Handover(step=0, rate=0.005)
    run.roll_back(Diverged("for a test"))
    facts = checkpoint.read_facts(tmp_path)
    assert facts is not None and facts["progress"]["handover"] == {"step": 0, "rate": 0.005, "steps": None}


def test_too_little_memory_is_told_with_advice(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run, _ = run_with(corpus, tmp_path, sometimes({}))

    def exhausted(batches: Sequence[object]) -> tuple[float, float]:
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")

    run.trainer.update = exhausted  # type: ignore[method-assign, assignment]
    with pytest.raises(TrainingError, match="memory") as caught, explain_errors(SINGLE_PROCESS):
        run.fit()
    assert "--batch" in caught.value.hint


def test_a_lost_process_is_told_with_the_cause_alone() -> None:
    cause = "Collective ops is aborted by: recvmsg:Connection reset by peer"
    place = "Detected at node CollectiveReduceV2 defined at (most recent call last):"
    message = f"Graph execution error:\n\n{place}\n<stack traces unavailable>\n{cause}\nRestart your program."
    for said, told in ((message, cause), ("Deadline Exceeded", "Deadline Exceeded"), (None, "UnavailableError")):
        with pytest.raises(TrainingError) as caught, explain_errors(ProcessRole(index=1, workers=2)):
            raise tf.errors.UnavailableError(None, None, said)
        assert caught.value.message == f"another process stopped or cannot be reached: {told}"


# Tests of meter: .


def test_speed_counts_neither_the_first_step_nor_what_follows_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([100.0, 110.0, 111.0, 112.0, 150.0])  # begun, three steps, after validation
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    meter = Meter(started=module.time.perf_counter())
    meter.add(nats=20.0, tokens=10.0)
    assert meter.tokens_per_second == 1.0
    meter.add(nats=10.0, tokens=10.0)
    meter.add(nats=10.0, tokens=20.0)
    assert meter.tokens_per_second == 15.0
    assert meter.loss == 1.0
    assert meter.seconds == 50.0


def test_a_resumed_epoch_counts_earlier_tokens_and_time_but_not_its_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 5.0, 7.0, 100.0, 101.0, 103.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    killed = Meter(started=module.time.perf_counter())
    killed.add(nats=30.0, tokens=10.0)
    meter = Meter(**killed.to_mapping(), started=module.time.perf_counter())
    meter.add(nats=10.0, tokens=10.0)
    assert (meter.steps, meter.loss, meter.tokens_per_second) == (2, 2.0, 10.0)
    assert meter.seconds == 7.0 + 3.0


def test_a_process_that_did_no_step_of_an_epoch_has_no_speed() -> None:
    saved = {"nats": 1.0, "tokens": 2.0, "steps": 3, "earlier_seconds": 4.0}
    meter = Meter(**saved)
    assert meter.tokens_per_second == 0.0


def add_losses(*losses: float) -> LossMonitor:
    monitor = LossMonitor()
    for loss in losses:
        monitor.add(loss)
    return monitor


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_told_at_once(loss: float) -> None:
    with pytest.raises(Diverged, match="NaN or infinite"):
        add_losses(3.0, loss)


def test_a_loss_that_stays_far_above_its_least_is_an_explosion() -> None:
    with pytest.raises(Diverged, match=r"rose from 3\.00 to 6\.\d\d"):
        add_losses(*[3.0] * 50, *[9.0] * 50)


def test_a_loss_may_rise_a_little_and_one_batch_a_lot() -> None:
    add_losses(*[9.0, 5.0, 3.0] * 10, *[4.5] * 200)
    add_losses(*[3.0] * 50, 40.0, *[3.0] * 50)
    add_losses(*[0.1] * 50, *[1.9] * 50)


def test_falling_from_any_height_is_no_explosion() -> None:
    monitor = add_losses(*[300.0 / step for step in range(1, 100)])
    assert monitor.least == monitor.mean


def test_a_loss_on_its_way_up_is_not_calm() -> None:
    assert add_losses(*[3.0] * 10, 4.4).is_calm
    assert not add_losses(*[3.0] * 10, 4.6).is_calm
    assert not add_losses(*[3.0] * 10, *[5.5] * 30, 4.4).is_calm


class Recorder(Watcher):
    """Records every report with its values."""

    def __init__(self, reports: list[tuple[object, ...]], number: int, *, stops: bool = False) -> None:
        self.stops = stops
        for name in REPORTS:
            setattr(self, name, lambda *values, name=name: reports.append((number, name, *values)))

    def should_stop(self) -> bool:
        return self.stops


def test_every_report_goes_to_all_watchers_in_order() -> None:
    reports: list[tuple[Any, ...]] = []
    watchers = Watchers(Recorder(reports, 1), Recorder(reports, 2))
    for name in REPORTS:
        getattr(watchers, name)("a value", "another")
    assert reports == [(number, name, "a value", "another") for name in REPORTS for number in (1, 2)]
    assert {name for name in vars(Watcher) if not name.startswith("_")} == {*REPORTS, "should_stop"}


def test_one_watcher_can_stop_training_for_all() -> None:
    assert not Watchers(Recorder([], 1), Recorder([], 2)).should_stop()
    assert Watchers(Recorder([], 1), Recorder([], 2, stops=True)).should_stop()


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
