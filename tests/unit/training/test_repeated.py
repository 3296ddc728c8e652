"""Several trainings with different seeds: each in a directory of its own, and the best is the model."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.errors import OutputError, TrainingError
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.run import describe_spread, train_repeatedly
from nmt_cli.training.watcher import Validation, Watcher


@dataclass(frozen=True)
class Report:
    validation: Validation
    runs: tuple[Any, ...] = ()
    passed_epochs: float = 2.0


@dataclass
class Trainer:
    """Writes the name of the seed as the model; the BLEU of each seed is prescribed."""

    bleu: dict[int, float]
    seeds: list[int] = field(default_factory=list)

    def __call__(self, request: TrainRequest) -> Any:
        seed = request.training.seed
        self.seeds.append(seed)
        (request.directory / "model.json").write_text(str(seed))
        (request.directory / "weights.npz").write_text(str(seed))
        return Report(Validation(1 / seed, 50.0, self.bleu[seed], 40.0, "b", "c", "s", "h"))


class StopsAfterOne(Watcher):
    def should_stop(self) -> bool:
        return True


def make_request(directory: Path, watcher: Watcher | None = None, **training: Any) -> TrainRequest:
    corpus: Any = None
    config = TrainOptions(**training)
    network: Any = None
    return TrainRequest(corpus, directory, network, config, watcher or Watcher(), runs=3)


@pytest.mark.parametrize(("metric", "best"), [("bleu", 5), ("loss", 6)])
def test_the_best_of_several_seeds_becomes_the_model(tmp_path: Path, metric: Any, best: int) -> None:
    trainer = Trainer({4: 20.0, 5: 30.0, 6: 25.0})
    request = make_request(tmp_path, seed=4, metric=metric)
    report = train_repeatedly(request, trainer)
    assert trainer.seeds == [4, 5, 6] and [run.seed for run in report.runs] == [4, 5, 6]
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == {
        "model.json": str(best),
        "weights.npz": str(best),
    }
    assert [(tmp_path / f"run-{number}" / "model.json").read_text() for number in (1, 2, 3)] == ["4", "5", "6"]


def test_a_run_that_is_stopped_is_the_last(tmp_path: Path) -> None:
    trainer = Trainer({1: 20.0})
    train_repeatedly(make_request(tmp_path, StopsAfterOne()), trainer)
    assert trainer.seeds == [1] and (tmp_path / "model.json").read_text() == "1"


@dataclass
class Fails(Trainer):
    """Writes models like its base class, but fails at its second seed."""

    error: BaseException = field(default_factory=lambda: TrainingError("training diverged again"))

    def __call__(self, request: TrainRequest) -> Any:
        if self.seeds:
            raise self.error
        return super().__call__(request)


def test_the_best_so_far_is_the_model_when_a_later_run_fails(tmp_path: Path) -> None:
    with pytest.raises(TrainingError):
        train_repeatedly(make_request(tmp_path), Fails({1: 20.0}))
    assert (tmp_path / "model.json").read_text() == "1"


def test_a_run_stopped_before_it_learned_anything_leaves_those_before_it(tmp_path: Path) -> None:
    trainer = Fails({1: 20.0}, error=KeyboardInterrupt())
    report = train_repeatedly(make_request(tmp_path), trainer)
    assert [run.seed for run in report.runs] == [1] and (tmp_path / "model.json").read_text() == "1"


def test_nothing_is_left_of_a_first_run_stopped_before_it_learned_anything(tmp_path: Path) -> None:
    trainer = Fails({}, seeds=[1], error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        train_repeatedly(make_request(tmp_path), trainer)
    assert not (tmp_path / "model.json").exists()


def test_the_model_of_an_earlier_run_is_only_replaced_by_force(tmp_path: Path) -> None:
    trainer = Trainer({1: 20.0, 2: 21.0})
    request = replace(make_request(tmp_path), runs=2)
    train_repeatedly(request, trainer)
    with pytest.raises(OutputError, match="run-1/ already exists"):
        train_repeatedly(request, trainer)
    train_repeatedly(replace(request, runs=1, force=True), trainer)
    assert not (tmp_path / "run-2").exists()  # --resume would take it for a run of this training


@pytest.mark.parametrize(("values", "text"), [([20.0, 22.0, 24.0], "22.0 ± 2.0"), ([20.0], "20.0")])
def test_the_spread_is_the_standard_deviation(values: list[float], text: str) -> None:
    assert describe_spread(values) == text
