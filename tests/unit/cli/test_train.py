from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.api import startup
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.train import TrainRequest
from nmt_cli.cli.app import app
from nmt_cli.cli.render import Screen
from nmt_cli.cli.training_screen import TrainingScreen
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import ExitCode, OptionError, explain_install
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.request import TrainingRequest


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(startup, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["train"])
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert result.stderr.splitlines() == [
        "error: training needs tensorflow, which is not installed",
        f"hint: {explain_install('train')}",
    ]


def make_corpus(pairs: int = 6_441) -> Any:
    return SimpleNamespace(
        languages=("de", "en"),
        source_language="de",
        target_language="en",
        list_monolingual=list,
        load_encoded=lambda split: SimpleNamespace(source=[0] * pairs),
        manifest=SimpleNamespace(truncation=None, source=SimpleNamespace(unit="sentence")),
    )


def test_the_first_line_says_what_was_chosen_for_a_corpus_of_this_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainingRequest) -> None:
        raise OptionError("enough")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    lines = CliRunner().invoke(app, ["train", "--model", str(tmp_path / "model")]).stderr.splitlines()
    assert lines[0] == "6,441 pairs: medium network, 2,121 updates, dropout 0.3"  # 21 epochs of 101 batches
    assert lines[1].startswith("de -> en, from prepared/ to ")
    typed = ["--epochs", "5", "--units", "64", "--dropout", "0.1"]
    lines = CliRunner().invoke(app, ["train", "--model", str(tmp_path / "model"), *typed]).stderr.splitlines()
    assert lines[0].startswith("de -> en, ")  # nothing was chosen that the line would tell


def make_request(**values: Any) -> TrainRequest:
    """A request with the defaults of the command."""
    defaults = {"network": ModelConfig.from_options(), "training": TrainConfig(), "explicit": ExplicitOptions({}, {})}
    return TrainRequest(**{**defaults, "data": Path("prepared"), "model": Path("model"), **values})


def test_commands_to_train_anew_keep_what_was_typed(tmp_path: Path) -> None:
    explicit = ExplicitOptions(
        {"attention": "--attention", "tied": "--no-tied", "model": "--model", "fixed_norm": "--set fixed-norm"},
        {"units": "--units"},
    )
    network = ModelConfig.from_options(attention="general", tied=False, fixed_norm=True)
    typed = [("--attention", "general"), ("--no-tied",), ("--set", "fixed-norm=true")]
    assert make_request(network=network, explicit=explicit).typed_options == typed
    from_file = explicit._replace(file=Path("my recipe.toml"))
    request = make_request(network=network, explicit=from_file)
    assert request.typed_options == [("--config", "my recipe.toml"), *typed]


def test_training_is_told_which_options_of_the_network_were_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainingRequest) -> None:
        raise OptionError(" ".join(sorted(request.explicit_options)))

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    result = CliRunner().invoke(app, ["train", "--units", "512", "--no-tied", "--model", str(tmp_path / "model")])
    assert result.stderr.splitlines()[-1] == "error: tied units"


def test_several_runs_go_on_although_the_best_so_far_is_a_model_already(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seeds: list[int] = []

    def run(request: TrainingRequest) -> None:
        seeds.append(request.training.seed)
        raise OptionError("out of memory")

    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: make_corpus())
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    model = tmp_path / "model"
    (model / "run-1").mkdir(parents=True)
    (model / "model.json").write_text("{}")

    def train(*options: str) -> str:
        return CliRunner().invoke(app, ["train", "--model", str(model), *options]).stderr

    started_again = train("--runs", "2")
    assert f"{model}/ already exists" in started_again and "--runs N --resume" in started_again
    assert "already exists" in train("--resume") and seeds == []  # of a single training there is no checkpoint
    assert "out of memory" in train("--runs", "2", "--resume") and seeds == [1]
    shutil.rmtree(model / "run-1")
    assert "already exists" in train("--runs", "2", "--resume") and seeds == [1]  # there are no runs to resume


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--epochs 10 --time 4m", "--epochs cannot be combined with --time"),
        ("--batch 128 --set batch-tokens=4096", "--batch cannot be combined with --set batch-tokens"),
        ("--set replay-share=0.2", "--set replay-share needs --replay"),
        ("--set attention-units=256 --attention dot", "--set attention-units cannot be combined with --attention dot"),
        (
            "--set max-positions=64 --architecture transformer",
            "--set max-positions cannot be combined with --set positions=sinusoidal",
        ),
    ],
)
def test_an_option_that_says_nothing_is_refused(arguments: str, message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), *arguments.split()])
    assert (result.exit_code, result.stderr.splitlines()[0]) == (ExitCode.USAGE, f"error: {message}")


def test_what_is_typed_wins_over_the_file_which_then_says_nothing(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("epochs = 3\nbatch = 32\nattention-units = 64\n")
    typed = ["--time", "4m", "--set", "batch-tokens=4096", "--attention", "general"]
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe), *typed])
    assert "there is no prepared corpus" in result.stderr
    recipe.write_text('time = "4m"\nbatch-tokens = 4096\n')
    typed = ["--epochs", "3", "--batch", "32"]
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe), *typed])
    assert "there is no prepared corpus" in result.stderr
    recipe.write_text('epochs = 3\ntime = "4m"\n')
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe)])
    assert "--epochs cannot be combined with --time" in result.stderr


@pytest.mark.parametrize(
    ("passed", "planned", "message"),
    [
        (1.4, 5, "interrupted after 1.4 of 5 epochs; continue with nmt train --model other --resume"),
        (0.2, 1, "interrupted after 0.2 of 1 epoch; continue with nmt train --model other --resume"),
        (2.0, None, "interrupted after 2.0 epochs; continue with nmt train --model other --resume"),
    ],
)
def test_a_stopped_training_says_how_far_it_came_and_how_it_goes_on(
    passed: float, planned: int | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report: Any = SimpleNamespace(passed_epochs=passed, planned_epochs=planned)
    TrainingScreen(Screen(), lambda: True).show_interruption(report, make_request(model=Path("other")).resumption)
    assert capsys.readouterr().err == f"{message}\n"


def test_the_command_that_continues_names_what_no_checkpoint_has() -> None:
    command = make_request(data=Path("my data"), reverse=True, runs=3).resumption
    assert str(command) == "nmt train --data 'my data' --reverse --runs 3 --resume"


@pytest.mark.parametrize(("typed", "attention"), [(["bahdanau"], "additive"), (["luong"], "general"), (["dot"], "dot")])
def test_names_that_textbooks_use_are_understood(
    typed: list[str], attention: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    networks: list[ModelConfig] = []
    rates: list[float | None] = []

    def run(request: TrainingRequest) -> None:
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
