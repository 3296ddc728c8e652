"""`train`: what is kept, when it ends, and what is reported."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import OutputError, TrainingError
from nmt_cli.evaluation.metrics.sacrebleu_metrics import compute_bleu, compute_chrf
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import ModelDirectory
from nmt_cli.search.config import SearchOptions
from nmt_cli.training.export import publish as publishing
from nmt_cli.training.export.publish import quantise_and_check
from nmt_cli.training.loop import WARM_UP
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.run import describe_spread, train, train_repeatedly
from nmt_cli.training.step import Trainer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import EpochRecord, Int8Check, RunInfo, StepStatus, TrainReport, Validation, Watcher
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from support.models import prepare_toy, toy_pairs, write_pairs
from support.training import export_once, nudge, weigh

SMALL = ModelConfig.from_options(embedding=8, units=8, attention_units=4)
QUICK = TrainOptions(epochs=2, batch=32, learning_rate=0.01, mixed_precision=False)


class Recorder(Watcher):
    """Records all reports; asks for a stop after `steps` steps."""

    def __init__(self, steps: int | None = None) -> None:
        self.steps = steps
        self.info: RunInfo | None = None
        self.statuses: list[StepStatus] = []
        self.records: list[EpochRecord] = []
        self.warnings: list[str] = []

    def report_start(self, info: RunInfo) -> None:
        self.info = info

    def report_step(self, status: StepStatus) -> None:
        self.statuses.append(status)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.records.append(record)

    def warn(self, problem: str) -> None:
        self.warnings.append(problem)

    def should_stop(self) -> bool:
        return self.steps is not None and len(self.statuses) >= self.steps


@dataclass(frozen=True)
class Trained:
    directory: Path
    watcher: Recorder
    report: TrainReport


@pytest.fixture(scope="module", autouse=True)
def graphs_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """All models have the graphs of the first, so those of `trained`, which every test asks for that translates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "export", export_once(tmp_path_factory.mktemp("exported")))
        yield


@pytest.fixture(scope="module")
def trained(corpus: PreparedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A training of two epochs, watched."""
    directory, watcher = tmp_path_factory.mktemp("trained") / "model", Recorder()
    return Trained(directory, watcher, train(TrainRequest(corpus, directory, SMALL, QUICK, watcher=watcher)))


@pytest.fixture
def quick_updates(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates and validations take no time: only what happens around them matters."""
    monkeypatch.setattr(Trainer, "update", nudge)
    monkeypatch.setattr(Validator, "validate", weigh)


def test_every_step_and_epoch_is_told_and_the_model_is_complete(corpus: PreparedCorpus, trained: Trained) -> None:
    watcher, report = trained.watcher, trained.report
    assert watcher.info is not None
    assert [(status.epoch, status.step) for status in watcher.statuses] == [
        (epoch, step + 1) for epoch in (1, 2) for step in range(watcher.info.steps_per_epoch)
    ]
    early = watcher.statuses[: min(WARM_UP, len(watcher.statuses) - 1)]
    assert {status.seconds_left for status in early} == {None}
    assert watcher.statuses[-1].seconds_left == pytest.approx(0, abs=1e-6)
    assert tuple(watcher.records) == report.records
    assert report.records[1].loss < report.records[0].loss
    lines = (trained.directory / "history.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [vars(record) for record in report.records]
    card = ModelDirectory.load(trained.directory).card
    assert card.dataset_fingerprint == corpus.fingerprint
    assert card.epochs == report.epochs[0]
    assert (card.network["units"], card.training["batch"]) == (8, 32)


@pytest.mark.parametrize("precision", ["float", "int8"])
def test_the_exported_model_scores_what_the_card_says(corpus: PreparedCorpus, trained: Trained, precision: str) -> None:
    pairs = corpus.read_pairs("dev")
    translations = (
        TranslationRequest(trained.directory, precision=precision)
        .load()
        .translate([pair.source for pair in pairs], TranslateOptions(SearchOptions(beam_size=1)))
    )
    hypotheses, references = [translation.text for translation in translations], [[pair.target] for pair in pairs]
    card = ModelDirectory.load(trained.directory).card
    assert compute_bleu(hypotheses, references).value == pytest.approx(card.precision["bleu"][precision], abs=1e-9)
    if precision == "float":  # as the network of Keras translated, in the epoch that was exported
        chrf = compute_chrf(hypotheses, references).value
        assert chrf == pytest.approx(trained.report.validation.chrf, abs=1e-9)


@pytest.mark.usefixtures("quick_updates")
def test_a_part_of_the_pairs_is_an_epoch_where_that_is_asked_for(corpus: PreparedCorpus, tmp_path: Path) -> None:
    recorder = Recorder()
    pairs = len(corpus.read_pairs("train"))
    train(TrainRequest(corpus, tmp_path / "model", SMALL, replace(QUICK, epoch_pairs=-(-pairs // 2)), watcher=recorder))
    assert recorder.info is not None and recorder.info.steps_per_epoch == -(-pairs // 2 // QUICK.batch)
    assert [record.epoch for record in recorder.records] == [1, 2]


@pytest.mark.usefixtures("quick_updates")
def test_a_corpus_that_is_prepared_anew_meanwhile_changes_nothing(tmp_path: Path) -> None:
    """The subwords that the model gets, and the sentences that int8 is measured on, are those of the beginning."""
    toy = prepare_toy(tmp_path, 300)
    before = (toy.directory / "joint.spm").read_bytes()

    class Meddler(Watcher):
        def report_export(self) -> None:
            other = write_pairs(tmp_path / "other.tsv", [(f"{a} x", f"y {b}") for a, b in toy_pairs(200)])
            prepare(other, toy.directory, PrepareOptions(vocab_size=320), replace=True)

    train(TrainRequest(toy, tmp_path / "model", SMALL, replace(QUICK, epochs=1), watcher=Meddler()))
    assert (toy.directory / "joint.spm").read_bytes() != before == (tmp_path / "model" / "joint.spm").read_bytes()


@pytest.mark.usefixtures("quick_updates")
def test_the_proof_of_int8_reads_sentences_as_the_model_will(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def record(corpus: PreparedCorpus, directory: Path, validator: Validator) -> Int8Check:
        seen.append(validator.translator.copies_placeholders)
        return quantise_and_check(corpus, directory, validator)

    monkeypatch.setattr(publishing, "quantise_and_check", record)
    train(TrainRequest(corpus, tmp_path / "model", SMALL, replace(QUICK, epochs=1, placeholders=0.0)))
    assert seen == [TranslationRequest(tmp_path / "model").load().copies_placeholders] == [False]


@pytest.mark.usefixtures("quick_updates")
def test_training_that_is_stopped_within_an_epoch_keeps_what_it_has(corpus: PreparedCorpus, tmp_path: Path) -> None:
    report = train(TrainRequest(corpus, tmp_path / "model", SMALL, QUICK, watcher=Recorder(steps=2)))
    assert [(record.steps, record.complete) for record in report.records] == [(2, False)]
    ModelDirectory.load(tmp_path / "model")


@pytest.mark.usefixtures("quick_updates")
def test_training_that_is_stopped_before_its_first_step_leaves_no_model(corpus: PreparedCorpus, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(TrainRequest(corpus, tmp_path / "model", SMALL, QUICK, watcher=Recorder(steps=0)))
    assert not (tmp_path / "model" / "model.json").exists()


@pytest.mark.usefixtures("quick_updates")
def test_a_resumed_training_stopped_at_once_makes_a_model_of_what_it_finds(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    class Killed(Recorder):
        def report_step(self, status: StepStatus) -> None:
            if status.step == 3:
                raise ConnectionError  # stands for a death after the checkpoint of two updates

    often = replace(QUICK, checkpoint_minutes=0.0)
    with pytest.raises(ConnectionError):
        train(TrainRequest(corpus, tmp_path / "model", SMALL, often, watcher=Killed()))
    report = train(TrainRequest(corpus, tmp_path / "model", SMALL, often, watcher=Recorder(steps=0), resume=True))
    assert [(record.steps, record.complete) for record in report.records] == [(2, False)]
    ModelDirectory.load(tmp_path / "model")


@pytest.mark.usefixtures("quick_updates")
def test_patience_ends_a_training_that_no_longer_improves(
    corpus: PreparedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores: Iterator[float] = iter([1.0, 3.0, 2.0, 2.5, 9.0])

    def validate(self: Validator, trainer: object) -> Validation:
        return Validation(1.0, 50.0, next(scores), 0.0, "b", "c", "a source", "a hypothesis")

    monkeypatch.setattr(Validator, "validate", validate)
    config = TrainOptions(epochs=5, batch=32, patience=2, mixed_precision=False)
    report = train(TrainRequest(corpus, tmp_path / "model", SMALL, config))
    assert [record.bleu for record in report.records] == [1.0, 3.0, 2.0, 2.5]
    assert [record.best for record in report.records] == [True, True, False, False]
    assert report.epochs[0] == 2


# Several trainings with different seeds: each in a directory of its own, and the best is the model.


@dataclass(frozen=True)
class Report:
    validation: Validation
    runs: tuple[Any, ...] = ()
    passed_epochs: float = 2.0


@dataclass
class PrescribedTrainer:
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
    trainer = PrescribedTrainer({4: 20.0, 5: 30.0, 6: 25.0})
    request = make_request(tmp_path, seed=4, metric=metric)
    report = train_repeatedly(request, trainer)
    assert trainer.seeds == [4, 5, 6] and [run.seed for run in report.runs] == [4, 5, 6]
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == {
        "model.json": str(best),
        "weights.npz": str(best),
    }
    assert [(tmp_path / f"run-{number}" / "model.json").read_text() for number in (1, 2, 3)] == ["4", "5", "6"]


def test_a_run_that_is_stopped_is_the_last(tmp_path: Path) -> None:
    trainer = PrescribedTrainer({1: 20.0})
    train_repeatedly(make_request(tmp_path, StopsAfterOne()), trainer)
    assert trainer.seeds == [1] and (tmp_path / "model.json").read_text() == "1"


@dataclass
class Fails(PrescribedTrainer):
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
    trainer = PrescribedTrainer({1: 20.0, 2: 21.0})
    request = replace(make_request(tmp_path), runs=2)
    train_repeatedly(request, trainer)
    with pytest.raises(OutputError, match="run-1/ already exists"):
        train_repeatedly(request, trainer)
    train_repeatedly(replace(request, runs=1, force=True), trainer)
    assert not (tmp_path / "run-2").exists()  # --resume would take it for a run of this training


@pytest.mark.parametrize(("values", "text"), [([20.0, 22.0, 24.0], "22.0 ± 2.0"), ([20.0], "20.0")])
def test_the_spread_is_the_standard_deviation(values: list[float], text: str) -> None:
    assert describe_spread(values) == text
