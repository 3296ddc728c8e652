"""A run with a deadline, on a clock that only the work of the run moves."""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import tensorflow as tf

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError, TrainingError
from nmt_cli.model.config import ModelConfig, RnnConfig
from nmt_cli.training import defaults, setup
from nmt_cli.training import run as running
from nmt_cli.training.deadline import Deadline, TooShortError
from nmt_cli.training.defaults import SMALL_NETWORK
from nmt_cli.training.distributed import SingleProcess
from nmt_cli.training.export.publish import WeightChoice
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.run import train
from nmt_cli.training.step import Trainer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import Int8Check, StepStatus, Validation
from support.timed import CALIBRATION, EXPORT, SMALL, TIMED, VALIDATION, Machine


@pytest.fixture
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates and validations that do nothing."""

    def update(trainer: Trainer, batches: object) -> tuple[float, float]:
        trainer.optimizer.iterations.assign_add(1)
        return 10.0, 10.0

    def validate(validator: Validator, trainer: Trainer) -> Validation:
        return Validation(1.0, 50.0, 3.0, 4.0, "b", "c", "a source", "a hypothesis")

    monkeypatch.setattr(Trainer, "update", update)
    monkeypatch.setattr(Validator, "validate", validate)


@pytest.fixture
def only_times_matter(nothing_learned: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates, validations and exports that do nothing."""

    def publish(run: TrainingRun) -> tuple[WeightChoice, Int8Check]:
        assert run.checkpoints.best is not None
        chosen = WeightChoice((run.checkpoints.best.epoch,), run.checkpoints.best.validation)
        return chosen, Int8Check(3.0, 3.0, "b", 1)

    monkeypatch.setattr(running, "publish", publish)


def measure_time(corpus: PreparedCorpus, directory: Path, machine: Machine, config: TrainOptions = TIMED) -> float:
    """Returns the seconds from the command to the model."""
    started_at = machine.now
    assert config.time is not None
    train(TrainRequest(corpus, directory, SMALL, config, watcher=machine, deadline=Deadline(300.0, machine)))
    return machine.now - started_at


@pytest.mark.usefixtures("only_times_matter")
@pytest.mark.parametrize(
    "pace",
    [[(0, 1.0)], [(0, 7.0)], [(0, 1.0), (50, 4.0)], [(0, 4.0), (20, 0.5)], [(0, 100.0)]],
    ids=["even", "slow", "slower", "faster", "less-than-an-epoch"],
)
def test_the_model_is_there_in_time_and_annealed(
    corpus: PreparedCorpus, tmp_path: Path, pace: list[tuple[int, float]]
) -> None:
    machine = Machine(*pace)
    needed = measure_time(corpus, tmp_path / "model", machine)
    assert needed <= 300
    assert needed > 300 - max(seconds for _, seconds in pace) - 2 * VALIDATION - EXPORT
    if machine.seconds < 10:
        assert machine.records[-1].learning_rate < 0.02 * TIMED.peak_rate
    reserve = 0.1 * (4 * VALIDATION + EXPORT)  # of which nothing was used: 1.1 times is counted on
    assert machine.statuses[-1].seconds_left < 2 * machine.seconds + VALIDATION + reserve  # told before its update


@pytest.mark.usefixtures("only_times_matter")
def test_what_a_first_estimate_took_too_much_is_given_back(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure_closing(run: TrainingRun, deadline: Deadline) -> None:
        deadline.validations, deadline.validation_seconds, deadline.export_seconds = 4, 5 * VALIDATION, EXPORT

    monkeypatch.setattr(setup, "measure_closing", measure_closing)  # 205 of 300 seconds would be for the end
    machine = Machine((0, 9.0))
    needed = measure_time(corpus, tmp_path / "model", machine)
    assert 300 - 9 - 0.1 * (4 * VALIDATION + EXPORT) <= needed <= 300
    assert machine.records[-1].learning_rate < 0.05 * TIMED.peak_rate


@pytest.mark.usefixtures("only_times_matter")
def test_a_plan_follows_the_machine(corpus: PreparedCorpus, tmp_path: Path) -> None:
    machine = Machine((0, 1.0), (20, 8.0))
    measure_time(corpus, tmp_path / "model", machine)
    steps = machine.statuses[0].steps_per_epoch
    passed = len(machine.statuses) / steps
    assert machine.statuses[0].epochs > 2 * passed  # as it was at the start
    assert machine.statuses[-steps // 2].epochs <= passed + 2


@pytest.mark.usefixtures("only_times_matter")
def test_epochs_are_told_as_they_are_likely_to_fit(corpus: PreparedCorpus, tmp_path: Path) -> None:
    machine = Machine((0, 1.0))
    measure_time(corpus, tmp_path / "model", machine)
    assert machine.info is not None
    epochs = 1 + (300 - CALIBRATION - 1.1 * (4 * VALIDATION + EXPORT)) // (machine.info.steps_per_epoch + VALIDATION)
    assert machine.info.epochs == epochs
    assert {status.epochs for status in machine.statuses} <= {epochs, epochs + 1}  # validations take less than was left
    assert machine.statuses[-1].epoch in (epochs, epochs + 1)  # for the same reason


def test_a_time_in_which_nothing_can_be_learned_is_refused(corpus: PreparedCorpus, tmp_path: Path) -> None:
    config, machine = replace(TIMED, time="1m"), Machine((0, 1.0))
    least = round(CALIBRATION + 1.1 * (4 * VALIDATION + EXPORT)) + 1
    with pytest.raises(OptionError, match="--time 1m is too short") as problem:
        train(
            TrainRequest(corpus, tmp_path / "model", SMALL, config, watcher=machine, deadline=Deadline(least, machine))
        )
    assert f"at least {least + 1} sec" in problem.value.hint or f"at least {least} sec" in problem.value.hint
    assert not (tmp_path / "model" / "model.json").exists()


def test_a_start_that_takes_half_the_time_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    deadline = Deadline(60.0, machine := Machine((0, 1.0)))
    machine.now += 30.0  # in which TensorFlow was loaded: the rest takes longer
    corpus, config = cast(PreparedCorpus, None), replace(TIMED, time="1m")
    with pytest.raises(TooShortError, match="--time 1m is too short") as problem:
        setup.open_deadline(TrainRequest(corpus, tmp_path, SMALL, config, deadline=deadline), SingleProcess(), 0)
    assert problem.value.least == 63  # 30 + 1.1 * 30
    machine.now -= 3.0
    assert setup.open_deadline(TrainRequest(corpus, tmp_path, SMALL, config, deadline=deadline), SingleProcess(), 0)


def test_too_little_memory_for_a_look_at_what_things_cost_is_told(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(run: TrainingRun, deadline: Deadline) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")

    monkeypatch.setattr(setup, "measure_pace", exhausted)
    with pytest.raises(TrainingError, match="memory"):
        measure_time(corpus, tmp_path / "model", Machine((0, 1.0)))


@pytest.mark.usefixtures("only_times_matter")
def test_a_run_that_was_killed_goes_on_with_the_time_it_had_left(corpus: PreparedCorpus, tmp_path: Path) -> None:
    class Killed(BaseException): ...

    class Killer(Machine):
        def report_step(self, status: StepStatus) -> None:
            super().report_step(status)
            if len(self.statuses) == 100:
                raise Killed

    first, directory = Killer((0, 1.0)), tmp_path / "model"
    config = replace(TIMED, checkpoint_minutes=0.0)
    with pytest.raises(Killed):
        measure_time(corpus, directory, first, config)
    second = Machine((0, 1.0))
    second.now = 90_000.0
    train(TrainRequest(corpus, directory, SMALL, config, watcher=second, resume=True, deadline=Deadline(300.0, second)))
    spent = (first.now - 500.0) + (second.now - 90_000.0)
    assert 270 < spent <= 302  # the last update before the kill is done again
    history = [json.loads(line) for line in (directory / "history.jsonl").read_text().splitlines()]
    assert history[-1]["learning_rate"] < 0.02 * TIMED.peak_rate


@pytest.mark.usefixtures("only_times_matter")
@pytest.mark.parametrize("killed", ["never", "while it validates"])
def test_a_run_that_had_come_to_its_end_is_published_as_it_ended(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    class Killed(BaseException): ...

    class Killer(Machine):
        def report_validation(self, epoch: int) -> None:
            if (
                killed != "never" and self.now > 500.0 + 252
            ):  # the time is up 1.1 * (4 * VALIDATION + EXPORT) before 300
                raise Killed
            super().report_validation(epoch)

    scores = iter(range(1, 100))  # better and better

    def validate(validator: Validator, trainer: Trainer) -> Validation:
        return Validation(1.0, 50.0, float(next(scores)), 4.0, "b", "c", "a source", "a hypothesis")

    def publish(run: TrainingRun) -> tuple[WeightChoice, Int8Check]:
        assert run.checkpoints.best is not None
        published.append((run.checkpoints.best.epoch, run.checkpoints.best.validation.bleu))
        return WeightChoice((1,), run.checkpoints.best.validation), Int8Check(3.0, 3.0, "b", 1)

    monkeypatch.setattr(Validator, "validate", validate)
    monkeypatch.setattr(running, "publish", publish)
    published: list[tuple[int, float]] = []
    first, directory = Killer((0, 1.0)), tmp_path / "model"
    try:
        measure_time(corpus, directory, first)
    except Killed:
        assert not published
    second = Machine((0, 1.0))
    train(TrainRequest(corpus, directory, SMALL, TIMED, watcher=second, resume=True, deadline=Deadline(300.0, second)))
    records = [*first.records, *second.records]
    assert published[-1] == (records[-1].epoch, records[-1].bleu)
    assert len(second.statuses) == (killed != "never")  # no update that is not needed


# What a run measures of itself before it plans its time.


def test_a_real_calibration_leaves_the_run_as_it_was(
    corpus: PreparedCorpus, tmp_path: Path, real_measures: SimpleNamespace
) -> None:
    import numpy as np

    from nmt_cli.training.setup import build_run

    directory = tmp_path / "stages" / "helper"
    run = build_run(TrainRequest(corpus, directory, SMALL, TIMED))
    real_measures.pace(run, Deadline(300.0))
    assert directory.is_dir()
    run = build_run(TrainRequest(corpus, tmp_path, SMALL, TIMED))
    before, deadline = [variable.numpy() for variable in run.trainer.state], Deadline(300.0)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "state.npz").touch()  # of a training that this is to replace, once it begins
    real_measures.pace(run, deadline)
    real_measures.closing(run, deadline)
    assert [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()] == [0]
    assert deadline.validations > 1
    assert min(deadline.update_seconds, deadline.validation_seconds, deadline.export_seconds) > 0
    assert deadline.update_seconds < deadline.export_seconds
    for variable, array in zip(run.trainer.state, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), array)


def test_a_calibration_takes_no_more_than_its_share_of_the_time(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nmt_cli.training import setup as prepare
    from nmt_cli.training.setup import build_run

    now = 0.0

    def update(trainer: Trainer, batches: object) -> tuple[float, float]:
        nonlocal now
        now += 2.0
        return 10.0, 10.0

    config = replace(TIMED, batch=8)
    run = build_run(TrainRequest(corpus, tmp_path, SMALL, config))
    monkeypatch.setattr(Trainer, "update", update)
    monkeypatch.setattr(prepare.time, "monotonic", lambda: now)
    assert prepare.measure_update(run, limit=5.0) == 2.0
    assert now == 2.0 * (1 + 3)  # one that is not timed, and those that pass 5 seconds
    now = 0.0
    assert prepare.measure_update(run, limit=300.0) == 2.0
    assert now == 2.0 * (1 + prepare.TIMED_UPDATES)


# The network that fits the time of a run.


SMALL_DEFAULT = ModelConfig.from_options(**SMALL_NETWORK)  # what a short --time gets


def choose_network(
    corpus: PreparedCorpus,
    directory: Path,
    network: ModelConfig,
    seconds: float,
    explicit: Collection[str] | None = None,
) -> ModelConfig:
    """Returns the network that is trained for five minutes with updates of so many seconds."""
    machine = Machine((0, seconds))
    deadline = Deadline(300, clock=machine)
    request = TrainRequest(corpus, directory, network, TIMED, machine, deadline=deadline, explicit=explicit)
    run = setup.prepare_run(request)
    assert machine.info is not None
    assert machine.info.network == run.trainer.network.config
    return machine.info.network


def test_a_short_time_has_a_small_network_and_a_long_one_the_default(corpus: PreparedCorpus, tmp_path: Path) -> None:
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 1.0) == SMALL_DEFAULT
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 0.02) == ModelConfig.from_options()


def test_a_network_that_is_asked_for_is_not_made_smaller(corpus: PreparedCorpus, tmp_path: Path) -> None:
    network = ModelConfig.from_options(dropout=0.2)
    assert choose_network(corpus, tmp_path, network, 1.0) == network
    wide = ModelConfig.from_options(embedding=300, units=600)
    chosen = choose_network(corpus, tmp_path, wide, 1.0, explicit={"embedding", "units"})
    assert isinstance(chosen, RnnConfig) and (chosen.embedding, chosen.units) == (300, 600)


def test_a_resumed_run_keeps_the_size_that_was_chosen() -> None:
    default = ModelConfig.from_options()
    for chosen in (SMALL_DEFAULT, default):
        assert defaults.choose_first_size(default, {"identity": {"network": chosen.to_mapping()}}) == chosen
    other = ModelConfig.from_options(attention="general")  # which was asked for then, and need not be now
    assert defaults.choose_first_size(default, {"identity": {"network": other.to_mapping()}}) == other


def test_a_run_killed_before_its_first_update_is_measured_anew(corpus: PreparedCorpus, tmp_path: Path) -> None:
    assert choose_network(corpus, tmp_path, ModelConfig.from_options(), 1.0) == SMALL_DEFAULT  # and no update followed
    machine = Machine((0, 0.02))
    deadline = Deadline(300, clock=machine)
    request = TrainRequest(corpus, tmp_path, ModelConfig.from_options(), TIMED, machine, resume=True, deadline=deadline)
    run = setup.prepare_run(request)
    assert run.trainer.network.config == ModelConfig.from_options()


def test_a_time_decides_where_no_option_of_the_network_is_asked_for() -> None:
    assert defaults.is_size_open((), TIMED)
    assert not defaults.is_size_open({"units"}, TIMED)
    assert not defaults.is_size_open((), replace(TIMED, init_from="model"))
    assert not defaults.is_size_open((), TrainOptions())
