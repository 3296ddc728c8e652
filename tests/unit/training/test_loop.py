"""What the loop does when something goes wrong, with updates and validations that cost no time."""

import errno
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import TrainingError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training import checkpoints as checkpoint
from nmt_cli.training.loop import Diverged, TrainingRun
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import SINGLE_PROCESS, ProcessRole, TrainRequest
from nmt_cli.training.run import explain_errors
from nmt_cli.training.setup import build_run
from nmt_cli.training.step import Handover
from nmt_cli.training.watcher import Validation, Watcher

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
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, arrays)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoint, "write_arrays", sparing)
    run.fit()
    assert [warning.split(":")[0] for warning in listener.warnings] == [
        "no weights written, training continues",
        "no checkpoint written, training continues",
    ]
    assert all("the disk is full" in warning and "free some space" in warning for warning in listener.warnings)
    assert [record.best for record in run.checkpoints.records] == [False, True]
    assert run.checkpoints.best is not None and run.checkpoints.best.epoch == 2


def test_no_room_for_the_first_checkpoint_is_told_before_hours_are_spent(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = run_with(corpus, tmp_path, iter([]))

    def refuse(path: Path, arrays: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

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

    def refuse(path: Path, arrays: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

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
        assert caught.value.message == f"another process ended or cannot be reached: {told}"
