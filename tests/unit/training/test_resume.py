"""Tests of `training/request.py`.

A run that is cut off and goes on, against one that is not. A run that is resumed has the options of its checkpoint,
but those that are typed or set in a file."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import DataError, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training import request as saved_options
from nmt_cli.training.checkpoints import read_facts
from nmt_cli.training.data.batches import TrainingBatches
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest, check_same_run, read_saved_options, read_started_facts
from nmt_cli.training.setup import build_run, check_checkpoint, plan_handover, rescale_share
from nmt_cli.training.step import TimedSchedule, Trainer
from nmt_cli.training.watcher import EpochRecord, StepStatus, Validation, Watcher
from support.fakes import write_state
from support.slow import sample
from support.training import nudge, weigh

SMALL = ModelConfig.from_options(embedding=8, units=8, attention="none", bidirectional=False)
ATTENTIVE = ModelConfig.from_options(embedding=8, units=8, attention_units=4)
QUICK = TrainOptions(epochs=2, batch=32, learning_rate=0.01, mixed_precision=False, checkpoint_minutes=0)
NUDGED = replace(QUICK, label_smoothing=0.0)
TIMES = ("tokens_per_second", "seconds")


class Killed(BaseException):
    """The end of a process, as far as the next one can see."""


class Killer(Watcher):
    """Kills after `updates` updates, or while the development set is translated after `epoch`."""

    def __init__(self, *, updates: int | None = None, epoch: int | None = None) -> None:
        self.left = updates
        self.epoch = epoch
        self.steps: list[tuple[int, int]] = []

    def report_step(self, status: StepStatus) -> None:
        self.steps.append((status.epoch, status.step))
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                raise Killed

    def report_validation(self, epoch: int) -> None:
        if epoch == self.epoch:
            raise Killed


def prepare_run(
    corpus: PreparedCorpus,
    directory: Path,
    config: TrainOptions = QUICK,
    watcher: Watcher | None = None,
    network: ModelConfig = SMALL,
) -> TrainingRun:
    """A run that goes on from the checkpoint in `directory`, if there is one."""
    directory.mkdir(exist_ok=True)
    (directory / "checkpoints").mkdir(exist_ok=True)
    request = TrainRequest(corpus, directory, network, config, watcher or Watcher())
    run = build_run(request, read_facts(directory))
    run.validator.validate = partial(weigh, run.validator)  # type: ignore[method-assign]
    if config.label_smoothing == 0:  # a run of which only the order of events matters
        run.trainer.update = partial(nudge, run.trainer)  # type: ignore[method-assign]
    return run


def make_request(
    fingerprint: str, network: ModelConfig = SMALL, training: TrainOptions = QUICK, directory: Path = Path("model")
) -> TrainRequest:
    """A request with a corpus of which only the fingerprint is known."""
    corpus: Any = SimpleNamespace(fingerprint=fingerprint)
    return TrainRequest(corpus, directory, network, training)


def values(run: TrainingRun) -> list[np.ndarray]:
    return [variable.numpy() for variable in (*run.trainer.state, *run.validator.network.weights)]


def without_times(records: list[EpochRecord]) -> list[dict]:
    return [{name: value for name, value in vars(record).items() if name not in TIMES} for record in records]


def assert_equal_runs(run: TrainingRun, expected: TrainingRun) -> None:
    for value, other in zip(values(run), values(expected), strict=True):
        np.testing.assert_array_equal(value, other)
    assert without_times(run.checkpoints.records) == without_times(expected.checkpoints.records)
    assert run.checkpoints.best_epochs == expected.checkpoints.best_epochs


KINDS = {
    "default": QUICK,
    "averaged": replace(QUICK, ema=0.9, average=2),
    "accumulated and averaged": replace(QUICK, accumulate=2, ema=0.9, average=2),
}


@pytest.mark.parametrize("name", sample(list(KINDS), 1))
def test_a_killed_run_learns_what_one_learns_that_was_not(name: str, corpus: PreparedCorpus, tmp_path: Path) -> None:
    """So the same seed gives the same weights, too."""
    config = KINDS[name]
    whole = prepare_run(corpus, tmp_path / "whole", config, network=ATTENTIVE)
    whole.fit()
    killer = Killer(updates=whole.batches.updates * 3 // 2)
    with pytest.raises(Killed):
        prepare_run(corpus, tmp_path / "killed", config, killer, ATTENTIVE).fit()
    last = prepare_run(corpus, tmp_path / "killed", config, network=ATTENTIVE)
    last.fit()
    assert_equal_runs(last, whole)


def test_a_run_killed_again_and_again_ends_as_one_that_was_not(corpus: PreparedCorpus, tmp_path: Path) -> None:
    config = replace(NUDGED, accumulate=2)
    whole = prepare_run(corpus, tmp_path / "whole", config)
    whole.fit()
    kills = [Killer(updates=1), Killer(epoch=1), Killer(updates=whole.batches.updates // 2 + 1)]
    for killer in kills:
        with pytest.raises(Killed):
            prepare_run(corpus, tmp_path / "killed", config, killer).fit()
    assert kills[2].steps  # it went on, and not from the start
    assert kills[1].steps[0] == (1, 1)  # the first was killed before it could write of its update
    last = prepare_run(corpus, tmp_path / "killed", config)
    last.fit()
    assert_equal_runs(last, whole)


def test_a_run_goes_on_with_the_very_next_update(corpus: PreparedCorpus, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        prepare_run(
            corpus, tmp_path / "m", NUDGED, watcher=Killer(updates=3)
        ).fit()  # the second was the last one written
    killer = Killer(updates=1)
    with pytest.raises(Killed):
        prepare_run(corpus, tmp_path / "m", NUDGED, watcher=killer).fit()
    assert killer.steps == [(1, 3)]


class Stopper(Killer):
    def should_stop(self) -> bool:
        return len(self.steps) >= 2


def test_a_run_that_was_stopped_goes_on_as_if_it_was_not(corpus: PreparedCorpus, tmp_path: Path) -> None:
    whole, stopped = (
        prepare_run(corpus, tmp_path / "whole", NUDGED),
        prepare_run(corpus, tmp_path / "stopped", NUDGED, watcher=Stopper()),
    )
    whole.fit()
    stopped.fit()
    assert [record.complete for record in stopped.checkpoints.records] == [False]
    facts = [saved_options.read_facts(tmp_path / name) for name in ("whole", "stopped")]
    assert [each is not None and each["complete"] for each in facts] == [True, False]
    after = prepare_run(corpus, tmp_path / "stopped", NUDGED)
    assert after.checkpoints.records == []
    after.fit()
    assert_equal_runs(after, whole)


def test_the_weights_that_a_state_names_outlive_what_is_written_after_it(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment between the weights of a better epoch and the state that names them."""
    run = prepare_run(corpus, tmp_path / "m", NUDGED)
    monkeypatch.setattr(run.validator, "validate", find_scores(1.0, 2.0))
    states = iter([True] * (1 + run.batches.updates))  # all of the first epoch, and the one at its end
    write = run.write_checkpoint
    monkeypatch.setattr(run, "write_checkpoint", lambda: write() if next(states, False) else die())
    with pytest.raises(Killed):
        run.fit()
    after = prepare_run(corpus, tmp_path / "m", NUDGED)
    assert after.checkpoints.best is not None
    assert (after.checkpoints.best.epoch, after.progress.epoch) == (1, 2)
    after.checkpoints.restore_best(after.validator.network)


def die() -> None:
    raise Killed


def find_scores(*scores: float) -> Callable[[Trainer], Validation]:
    """Returns a validation that finds the next of some BLEU scores."""
    left = iter(scores)
    return lambda trainer: Validation(1.0, 50.0, next(left), 0.0, "b", "c", "a source", "a hypothesis")


def test_a_finished_run_made_longer_goes_on_from_where_it_was(corpus: PreparedCorpus, tmp_path: Path) -> None:
    prepare_run(corpus, tmp_path / "m", NUDGED).fit()
    longer = prepare_run(corpus, tmp_path / "m", replace(NUDGED, epochs=4))
    handover = longer.progress.handover
    assert handover is not None
    assert (handover.step, handover.rate) == (2 * longer.batches.updates, pytest.approx(0, abs=1e-8))
    watcher = Killer(updates=3)
    longer.request = replace(longer.request, watcher=watcher)
    with pytest.raises(Killed):
        longer.fit()
    assert watcher.steps[0] == (3, 1)
    again = prepare_run(corpus, tmp_path / "m", replace(NUDGED, epochs=4))
    assert again.progress.handover == handover
    again.fit()
    assert [record.epoch for record in again.checkpoints.records] == [1, 2, 3, 4]


def test_a_run_that_patience_ended_is_not_taken_up_again(corpus: PreparedCorpus, tmp_path: Path) -> None:
    config = replace(NUDGED, epochs=9, patience=2)
    run = prepare_run(corpus, tmp_path / "m", config)
    run.validator.validate = find_scores(3.0, 2.0, 1.0)  # type: ignore[method-assign]
    run.fit()
    assert len(run.checkpoints.records) == 3
    again = prepare_run(corpus, tmp_path / "m", config)
    assert again.is_complete
    assert not prepare_run(corpus, tmp_path / "m", replace(config, patience=3)).is_complete


def test_other_batches_begin_with_the_next_epoch(corpus: PreparedCorpus, tmp_path: Path) -> None:
    config, larger = replace(NUDGED, epochs=3), replace(NUDGED, epochs=3, batch=64)
    with pytest.raises(Killed):
        prepare_run(corpus, tmp_path / "m", config, watcher=Killer(updates=2)).fit()
    killer = Killer(updates=1)
    with pytest.raises(Killed):
        prepare_run(corpus, tmp_path / "m", larger, watcher=killer).fit()
    assert killer.steps == [(1, 2)]  # the epoch that had begun goes on where it was, with its own batches
    small, large = (
        prepare_run(corpus, tmp_path / name, plan).batches.updates for name, plan in (("s", config), ("l", larger))
    )
    assert small > large
    watcher = Killer()
    run = prepare_run(corpus, tmp_path / "m", larger, watcher=watcher)
    run.fit()
    steps = {epoch: max(step for number, step in watcher.steps if number == epoch) for epoch, _ in watcher.steps}
    assert steps == {1: small, 2: large, 3: large}
    assert float(run.schedule.compute_rate(small + 2 * large)) == pytest.approx(
        0, abs=1e-8
    )  # it falls to 0 with the last
    assert prepare_run(corpus, tmp_path / "m", larger).schedule.steps == small + 2 * large


def test_other_batches_change_the_learning_rate_by_no_jump(corpus: PreparedCorpus, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        prepare_run(corpus, tmp_path / "m", NUDGED, watcher=Killer(updates=3)).fit()
    before, after = (prepare_run(corpus, tmp_path / "m", replace(NUDGED, batch=size)) for size in (32, 16))
    done = before.updates
    assert done == after.updates == 2
    assert float(after.schedule.compute_rate(done)) == pytest.approx(
        float(before.schedule.compute_rate(done)), rel=1e-6
    )


DIRECTORY = Path("model")


def save(monkeypatch: pytest.MonkeyPatch, network: ModelConfig, training: TrainOptions, *, updates: int = 5) -> None:
    """Makes a checkpoint of this run the one that is found."""
    identity = {"network": network.to_mapping(), "training": training.to_mapping()}
    facts = {"identity": identity, "updates": updates, "progress": {"rollbacks": 0}}
    monkeypatch.setattr(saved_options, "read_facts", lambda directory: facts)


def resume(**explicit: Any) -> tuple[ModelConfig, TrainOptions]:
    """Returns what is trained after --resume with these options."""
    saved = read_saved_options(DIRECTORY, explicit, explicit.keys())
    network, training = dict(saved[ModelConfig]), dict(saved[TrainOptions])
    for name, value in explicit.items():
        (training if name in TrainOptions.__dataclass_fields__ else network)[name] = value
    return ModelConfig.from_options(**network), TrainOptions(**training)


NETWORKS = [
    ModelConfig.from_options(units=64, embedding=32),
    ModelConfig.from_options(attention="scaled-dot", heads=2, encoder_units=128),
    ModelConfig.from_options(architecture="transformer", layers=2, feed_forward=64),
]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.architecture)
def test_more_epochs_are_all_that_has_to_be_typed_whatever_the_network(
    monkeypatch: pytest.MonkeyPatch, network: ModelConfig
) -> None:
    training = TrainOptions(epochs=2, batch=32, ema=0.9, learning_rate=0.01)
    save(monkeypatch, network, training)
    assert resume() == (network, training)
    assert resume(epochs=20) == (network, TrainOptions(epochs=20, batch=32, ema=0.9, learning_rate=0.01))


def test_a_run_with_an_option_that_is_gone_goes_on_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainOptions(batch=32))
    facts = read_started_facts(DIRECTORY)
    assert facts is not None
    facts["identity"]["training"] |= {"subword_sampling": 0.2, "swap_words": 0.3, "word_dropout": 0.1}
    assert resume(epochs=20) == (NETWORKS[0], TrainOptions(epochs=20, batch=32))
    request = make_request("data", NETWORKS[0], TrainOptions(epochs=20, batch=32))
    check_same_run(facts["identity"] | {"data": "data"}, request)


def test_what_is_typed_and_cannot_change_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainOptions(batch=32, clip=2.0))
    with pytest.raises(OptionError) as caught:
        resume(units=128, batch=16, embedding=32, tied=False)
    assert (
        caught.value.message
        == "training in model/ was started with --tied, --units 64, but you now set --no-tied, --units 128"
    )
    assert caught.value.hint == "omit --no-tied, --units 128 to continue, or start over with --force"
    with pytest.raises(OptionError, match="was started with --architecture rnn, but you now set --architecture trans"):
        resume(architecture="transformer")
    with pytest.raises(OptionError, match=r"with --epochs 10, but you now set --epochs 3\n"):
        resume(epochs=3)


def test_a_resumed_run_names_another_checkpoint_and_what_a_longer_schedule_means(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    monkeypatch.setattr(Watcher, "warn", lambda self, problem: said.append(problem))
    for name, done in (("a", True), ("b", False)):
        write_state(tmp_path / name, updates=9, complete=done)
    request = replace(make_request("data", NETWORKS[0], TrainOptions(epochs=20), tmp_path / "model"), resume=True)
    check_checkpoint(request, None, None)
    resumption = f"nmt train --model {tmp_path / 'b'} --resume"
    assert said[0].endswith(f"starts from the beginning; to continue another training run: {resumption}")
    for epochs, number in ((20, 0), (5, 1)):
        identity = request.identify() | {"training": TrainOptions(epochs=epochs).to_mapping()}
        check_checkpoint(request, None, {"identity": identity})
        assert len(said) == 1 + number
    assert said[1].endswith("train all for 20 epochs from the start")


def test_options_that_may_change_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainOptions(batch_tokens=4000, time="10m"))
    changed = {"batch": 16, "patience": 3, "average": 2, "devices": "all", "checkpoint_minutes": 1.0, "time": "1h"}
    assert resume(**changed) == (NETWORKS[0], TrainOptions(**changed))


def test_a_run_with_a_time_has_no_epochs_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainOptions(time="10m"))
    with pytest.raises(OptionError, match="was started with --time 10m; --epochs cannot be set now"):
        resume(epochs=20)
    save(monkeypatch, NETWORKS[0], TrainOptions())
    with pytest.raises(OptionError, match=r"was started with no --time, but you now set --time 5m"):
        resume(time="5m")


def test_a_run_that_has_not_learned_anything_yet_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    save(monkeypatch, NETWORKS[0], TrainOptions(), updates=0)
    assert read_saved_options(DIRECTORY, {"units": 7}, {"units"}) == {}


# Which options a resumed run may change, and how they take effect.


def make_timed_facts(share: float) -> dict[str, Any]:
    """The facts of a run with `--time 10m` of which this share has passed."""
    training = replace(QUICK, time="10m").to_mapping()
    return {"progress": {"handover": None, "share": share}, "identity": {"training": training}, "updates": 12}


def test_more_time_continues_at_the_rate_that_the_shorter_time_had(corpus: PreparedCorpus) -> None:
    facts, longer = make_timed_facts(0.5), replace(QUICK, time="20m")
    handover = plan_handover(facts, longer, TrainingBatches(corpus, longer))
    before = TimedSchedule(replace(QUICK, time="10m"))
    before.set_elapsed_share(0.5)
    assert handover is not None and rescale_share(facts, longer) == 0.25
    assert handover.rate == pytest.approx(float(before.compute_rate(0)))
    after = TimedSchedule(longer, handover)
    after.set_elapsed_share(0.25)
    assert float(after.compute_rate(0)) == pytest.approx(handover.rate)
    after.set_elapsed_share(1.0)
    assert float(after.compute_rate(0)) == pytest.approx(0, abs=1e-7)
    same = replace(QUICK, time="10m")
    assert plan_handover(facts, same, TrainingBatches(corpus, same)) is None and rescale_share(facts, same) == 0.5


@pytest.mark.parametrize(
    ("network", "training", "options"),
    [
        (replace(SMALL, units=16), QUICK, ("--units 8", "--units 16")),
        (replace(SMALL, tied=False), replace(QUICK, clip=2.0), ("--tied, --clip 1", "--no-tied, --clip 2")),
        (SMALL, replace(QUICK, epochs=1), ("--epochs 2", "--epochs 1")),
        (SMALL, replace(QUICK, ema=0.99), ("no --ema", "--ema 0.99")),
        (SMALL, replace(QUICK, time="5m"), ("no --time", "--time 5m")),
    ],
)
def test_what_was_changed_is_named(network: ModelConfig, training: TrainOptions, options: tuple[str, str]) -> None:
    saved = make_request("f" * 64).identify()
    with pytest.raises(OptionError) as caught:
        check_same_run(saved, make_request("f" * 64, network, training))
    assert caught.value.message == f"training in model/ was started with {options[0]}, but you now set {options[1]}"
    assert options[0] in caught.value.hint


def test_other_data_are_refused() -> None:
    saved = make_request("a" * 64).identify()
    with pytest.raises(DataError, match="different data"):
        check_same_run(saved, make_request("b" * 64))
    with pytest.raises(DataError, match="--replay was not set, now a corpus with fingerprint cccc"):
        check_same_run(saved, make_request("a" * 64), replay="c" * 64)


def test_a_longer_run_and_what_nothing_depends_on_are_accepted() -> None:
    saved = make_request("a" * 64).identify()
    other = replace(QUICK, epochs=7, patience=2, checkpoint_minutes=1.0, batch=16)
    check_same_run(saved, make_request("a" * 64, training=other))


def test_a_schedule_as_long_as_before_has_the_handover_that_it_had(corpus: PreparedCorpus) -> None:
    facts = {
        "progress": {"handover": {"step": 10, "rate": 0.5}},
        "identity": {"training": {"epochs": 2}},
        "updates": 12,
    }
    handover = plan_handover(facts, QUICK, TrainingBatches(corpus, QUICK))
    assert handover is not None and (handover.step, handover.rate) == (10, 0.5)
