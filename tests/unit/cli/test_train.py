"""Tests of train: what `nmt train` shows: the network, a line a minute or an epoch, and where it stopped."""

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.api import startup
from nmt_cli.api.options.command_lines import list_typed
from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.api.train import describe_resumption
from nmt_cli.cli.app import app
from nmt_cli.cli.render import Screen
from nmt_cli.cli.train import TrainingScreen, format_time
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import ExitCode, OptionError, explain_install
from nmt_cli.model.config import ModelConfig, describe_network
from nmt_cli.training.options import TrainOptions
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Validation
from support.fakes import write_state


@pytest.mark.parametrize(("driver", "extra"), [("/usr/bin/nvidia-smi", "train"), (None, "train-cpu")])
def test_without_the_extra_one_line_says_what_to_install(
    driver: str | None, extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(startup, "find_spec", lambda name: None)
    monkeypatch.setattr(startup, "which", lambda name: driver)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["train"])
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert result.stderr.splitlines() == [
        "error: training needs tensorflow, which is not installed",
        f"hint: {explain_install(extra)}",
    ]


def make_corpus(pairs: int = 6_441, languages: tuple[str, str] = ("de", "en")) -> Any:
    return SimpleNamespace(
        directory=Path("prepared"),
        languages=languages,
        source_language="de",
        target_language="en",
        list_monolingual=list,
        profile="",
        load_encoded=lambda split: SimpleNamespace(source=[0] * pairs),
        manifest=SimpleNamespace(
            truncation=None, direction="de -> en", source=SimpleNamespace(unit="sentence", is_text=True)
        ),
    )


def test_the_first_line_says_what_was_chosen_for_a_corpus_of_this_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainRequest) -> None:
        raise OptionError("enough")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    lines = CliRunner().invoke(app, ["train", "--model", str(tmp_path / "model")]).stderr.splitlines()
    assert lines[0] == "6,441 pairs: medium network, 2,121 updates, dropout 0.3"  # 21 epochs of 101 batches
    assert lines[1].startswith("does not start from deu-eng, which may have seen")
    assert lines[2].startswith("de -> en, from prepared/ to ")
    typed = ["--epochs", "5", "--units", "64", "--dropout", "0.1"]
    lines = CliRunner().invoke(app, ["train", "--model", str(tmp_path / "model"), *typed]).stderr.splitlines()
    assert lines[0].startswith("de -> en, ")  # nothing was chosen that the line would tell


def make_request(data: str = "prepared", model: str = "model", **values: Any) -> TrainRequest:
    """A request with the defaults of the command, and a corpus of which only the directory is known."""
    corpus: Any = SimpleNamespace(directory=Path(data))
    return TrainRequest(corpus, Path(model), ModelConfig.from_options(), TrainOptions(), **values)


def test_commands_to_train_anew_keep_what_was_typed(tmp_path: Path) -> None:
    explicit = ExplicitOptions(
        {"attention": "--attention", "tied": "--no-tied", "model": "--model", "fixed_norm": "--fixed-norm"},
        {"units": "--units"},
    )
    network = ModelConfig.from_options(attention="general", tied=False, fixed_norm=True)
    typed = [("--attention", "general"), ("--no-tied",), ("--fixed-norm",)]
    values = network.to_mapping() | TrainOptions().to_mapping()
    assert list_typed(values, explicit) == typed
    from_file = explicit._replace(file=Path("my recipe.toml"))
    assert list_typed(values, from_file) == [("--config", "my recipe.toml"), *typed]


def test_a_training_ended_at_once_says_what_is_saved_and_what_to_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    typed: list[Any] = []

    def run(request: TrainRequest) -> None:
        typed.append(request.typed)
        if "continue" in request.directory.name:
            write_state(request.directory, updates=4)
        raise KeyboardInterrupt

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    monkeypatch.chdir(tmp_path)

    def train(*options: str) -> str:
        result = CliRunner().invoke(app, ["train", *options])
        return result.stderr.splitlines()[-2 if result.exit_code != 130 else -1]

    began = ("--units", "512", "--no-tied")
    nothing = "interrupted before the first update: nothing was saved"
    assert train(*began) == f"{nothing}. Start again with: nmt train --no-tied --units 512"
    assert not Path("model").exists()
    write_state(Path("model"), updates=9)
    Path("model", "model.json").write_text("{}")
    beside_earlier = f"{nothing}; model/ still contains the earlier model. Start again with: nmt train"
    assert train("--force", *began) == f"{beside_earlier} --no-tied --units 512 --force"
    earlier = "error: the last training run in model/ stopped before its first update, so nothing was saved"
    assert train("--resume") == earlier
    saved = "interrupted; continue from the last checkpoint with: nmt train"
    assert train("--resume") == f"{saved} --resume"  # the one before, as was typed once more
    assert typed[-1] == (("--epochs", "20"),)  # as at first, for the commands of advice
    assert train("--resume", "--epochs", "30") == f"{saved} --resume" and typed[-1] == (("--epochs", "30"),)
    assert train("--model", "continue") == f"{saved} --model continue --resume"


def test_a_time_that_passes_before_the_first_update_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainRequest) -> None:
        began = not request.directory.name.startswith("new") and request.watcher.should_stop()
        time.sleep(1.5)
        raise OptionError(f"slept {began}")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    monkeypatch.chdir(tmp_path)
    lines = CliRunner().invoke(app, ["train", "--time", "1s", "--model", "new"]).stderr.splitlines()
    assert lines[-2] == "error: --time 1s is too short to learn anything"
    assert lines[-1].endswith(" seconds here; --time 12s is enough")  # four times the start and an end as long
    assert not Path("new").exists()
    assert "slept False" in CliRunner().invoke(app, ["train", "--time", "1s", "--model", "began"]).stderr


def test_training_is_told_which_options_of_the_network_were_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainRequest) -> None:
        raise OptionError(" ".join(sorted(request.explicit_options)))

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    result = CliRunner().invoke(app, ["train", "--units", "512", "--no-tied", "--model", str(tmp_path / "model")])
    assert result.stderr.splitlines()[-1] == "error: tied units"


def test_a_line_says_which_installed_model_few_pairs_start_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    starts = []

    def run(request: TrainRequest) -> None:
        starts.append(request.training.init_from)
        raise OptionError("enough")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus(2_000, ("eng", "vie")))
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    monkeypatch.setattr("nmt_cli.training.defaults.has_same_subwords", lambda corpus, model: False)

    def train(*options: str) -> str:
        return CliRunner().invoke(app, ["train", "--model", str(tmp_path / "model"), *options]).stderr

    line = "few pairs: starts from eng-deu, which has the same source language; --init-from none prevents this"
    assert line in " ".join(train().split())
    assert line not in " ".join(train("--init-from", "none").split())
    assert starts == ["eng-deu", None]
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus(2_000, ("eng", "deu")))
    line = (
        "does not start from eng-deu, which may have seen the test sentences; to start from it, add --init-from eng-deu"
    )
    assert line in " ".join(train().split()) and starts[-1] is None


def test_several_runs_go_on_although_the_best_so_far_is_a_model_already(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from nmt_cli.training.run import train_repeatedly

    seeds: list[int] = []

    def run(request: TrainRequest) -> None:
        seeds.append(request.training.seed)
        raise OptionError("out of memory")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(
        sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run, train_repeatedly=train_repeatedly)
    )
    model = tmp_path / "model"
    (model / "run-1").mkdir(parents=True)
    (model / "model.json").write_text("{}")

    def train(*options: str) -> str:
        return CliRunner().invoke(app, ["train", "--model", str(model), *options]).stderr

    started_again = train("--runs", "2")
    assert f"{model}/ already exists" in started_again and "--resume --runs N" in started_again
    assert "already exists" in train("--resume") and seeds == []  # of a single training there is no checkpoint
    assert "out of memory" in train("--runs", "2", "--resume") and seeds == [1]
    shutil.rmtree(model / "run-1")
    assert "already exists" in train("--runs", "2", "--resume") and seeds == [1]  # there are no runs to resume


def test_an_option_that_cannot_change_may_train_another_model(tmp_path: Path) -> None:
    write_state(tmp_path / "model", updates=9)
    (tmp_path / "model-2").mkdir()
    typed = ["--model", str(tmp_path / "model"), "--resume", "--units", "128", "--epochs", "30"]
    said = " ".join(CliRunner().invoke(app, ["train", *typed]).stderr.split())
    assert f"train another model: `nmt train --model {tmp_path / 'model-3'} --units 128 --epochs 30`" in said


@pytest.mark.parametrize(
    ("passed", "planned", "message"),
    [
        (1.4, 5, "interrupted after 1.4 of 5 epochs; continue with: nmt train --model other --resume"),
        (0.2, 1, "interrupted after 0.2 of 1 epoch; continue with: nmt train --model other --resume"),
        (4.94, 5, "interrupted after 4.9 of 5 epochs; continue with: nmt train --model other --resume"),
        (2.0, None, "interrupted after 2.0 epochs; continue with: nmt train --model other --resume"),
    ],
)
def test_a_stopped_training_says_how_far_it_came_and_how_it_goes_on(
    passed: float, planned: int | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report: Any = SimpleNamespace(passed_epochs=passed, planned_epochs=planned)
    TrainingScreen(Screen(), lambda: True).show_interruption(report, describe_resumption(make_request(model="other")))
    assert capsys.readouterr().err == f"{message}\n"


def test_the_command_that_continues_names_what_no_checkpoint_has() -> None:
    command = describe_resumption(make_request("my data", reverse=True, runs=3))
    assert str(command) == "nmt train --data 'my data' --reverse --runs 3 --resume"


@pytest.mark.parametrize(("typed", "attention"), [(["bahdanau"], "additive"), (["luong"], "general"), (["dot"], "dot")])
def test_names_that_textbooks_use_are_understood(
    typed: list[str], attention: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    networks: list[ModelConfig] = []
    rates: list[float | None] = []

    def run(request: TrainRequest) -> None:
        networks.append(request.network)
        rates.append(request.training.learning_rate)
        raise OptionError("enough")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["train", "--attention", *typed, "--lr", "0.01"])
    (tmp_path / "c.toml").write_text(f'attention = "{typed[0]}"\nlr = 0.01\n')
    CliRunner().invoke(app, ["train", "--config", "c.toml"])
    assert [network.to_mapping()["attention"] for network in networks] == [attention, attention]
    assert rates == [0.01, 0.01]


def test_without_a_terminal_a_line_a_minute_says_how_far_training_is(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter(range(0, 10_000, 25))
    watcher = TrainingScreen(Screen(), lambda: False, log_every=60, clock=lambda: next(times))
    for step in range(1, 9):
        left = 161.0 if step > 4 else None  # before, the speed is not known
        watcher.report_step(StepStatus(2, 5, step, 80, 80 + step, 2.3, 6940.0, left))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split() == "epoch 2/5 4% loss 2.30 ppl 10.0 6,940 tok/s".split()
    assert lines[1].split()[-2:] == ["2:41", "left"]
    assert len(lines) == 2
    for done in range(0, 8_000, 1_000):  # the synthetic pairs of a stage
        watcher.report_translations(done, 8_000, 12.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].split() == "translating 75% 6,000 of 8,000 sentences 0:12 left".split()
    silent = TrainingScreen(Screen(), lambda: False, log_every=0, clock=lambda: next(times))
    for step in range(1, 9):
        silent.report_step(StepStatus(2, 5, step, 80, 80 + step, 2.3, 6940.0, 161.0))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "told"), [(0, "0:00"), (59.6, "1:00"), (161, "2:41"), (3 * 3600 + 61, "3:01:01")])
def test_time_is_told_in_minutes_and_seconds(seconds: float, told: str) -> None:
    assert format_time(seconds) == told


def test_without_a_terminal_there_is_a_line_an_epoch_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingScreen(Screen(), lambda: False) as watcher:
        watcher.report_start(
            RunInfo(4_639_904, 47_997, 375, 5, "CPU, 2 threads", "mixed_bfloat16", ModelConfig.from_options(layers=2))
        )
        validation = Validation(2.74, 53.8, 13.9, 30.3, "b", "c", "The dog sleeps.", "Der Hund schläft.")
        record = EpochRecord(2, 750, 3.09, 2.74, 15.5, 53.8, 13.9, 30.3, 1e-3, 6940.0, 61.0, True, True)
        watcher.report_epoch(record, validation)
        watcher.report_epoch(replace(record, best=False, complete=False), validation)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert lines[0].startswith("rnn · scaled-dot attention · GRU 2x256 / 512, 2 layers · 4.6 M parameters")
    assert lines[3].split() == ["2", "3.09", "2.74", "15.5", "53.8", "13.9", "30.3", "6,940", "1:01", "best"]
    assert lines[4].strip() == "The dog sleeps. -> Der Hund schläft."
    assert lines[5].startswith(" 2 part") and lines[5].endswith("1:01")


def test_a_timed_run_promises_no_number_of_epochs(capsys: pytest.CaptureFixture[str]) -> None:
    info = RunInfo(1, 300, 8, 5, "CPU", "float32", ModelConfig.from_options(), is_timed=True)
    watcher = TrainingScreen(Screen(), lambda: False, log_every=1e-9)
    watcher.report_start(info)
    watcher.report_step(StepStatus(2, 5, 1, 8, 9, 2.3, 6940.0, 161.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "300 pairs, 8 steps per epoch, as many epochs as fit into the time"
    assert lines[3].split()[:3] == ["epoch", "2", "12%"]


@pytest.mark.parametrize(
    ("network", "told"),
    [
        (ModelConfig.from_options(), "rnn · scaled-dot attention · GRU 2x256 / 512"),
        (ModelConfig.from_options(encoder_units=128), "rnn · scaled-dot attention · GRU 2x64 / 512"),
        (ModelConfig.from_options(attention="none", bidirectional=False, units=50), "rnn · no attention · GRU 50 / 50"),
        (
            ModelConfig.from_options(attention="scaled-dot", heads=4, cell="lstm", input_feeding=True),
            "rnn · scaled-dot attention, 4 heads, input feeding · LSTM 2x256 / 512",
        ),
        (
            ModelConfig.from_options(attention="scaled-dot", heads=8, attend_embeddings=True),
            "rnn · scaled-dot attention, 8 heads, attends embeddings · GRU 2x256 / 512",
        ),
        (
            ModelConfig.from_options(attention="additive", fixed_norm=True),
            "rnn · additive attention · GRU 2x256 / 512 · fixed norm",
        ),
        (
            ModelConfig.from_options(architecture="transformer"),
            "transformer · 4 heads · 3 + 3 layers, width 256 / 1024",
        ),
    ],
)
def test_a_network_is_described_in_a_few_words(network: ModelConfig, told: str) -> None:
    assert describe_network(network) == told


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with TrainingScreen(Screen(quiet=True), lambda: False) as watcher:
        watcher.report_start(RunInfo(1, 1, 1, 1, "CPU", "float32", ModelConfig.from_options()))
    assert capsys.readouterr() == ("", "")
