from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from nmt_cli.api import startup
from nmt_cli.cli.app import app
from nmt_cli.cli.network_summary import describe_network
from nmt_cli.cli.render import Screen
from nmt_cli.cli.train import Stop, catch_stop_signals
from nmt_cli.cli.training_screen import TrainingScreen, format_time
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import ExitCode, OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.watcher import EpochRecord, RunInfo, Validation


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(startup, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["train"])
    assert result.exit_code == ExitCode.UNAVAILABLE
    assert result.stderr.splitlines() == [
        "error: training needs tensorflow, which is not installed",
        "hint: install it with `pip install 'nmt-cli[train]'`",
    ]


def test_training_is_told_which_options_of_the_network_were_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: TrainingRequest) -> None:
        raise OptionError(" ".join(sorted(request.explicit_options)))

    corpus = SimpleNamespace(
        source_language="de", target_language="en", list_monolingual=list, manifest=SimpleNamespace(truncation=None)
    )
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: corpus)
    monkeypatch.setitem(sys.modules, "nmt_cli.training.run", SimpleNamespace(train=run))
    result = CliRunner().invoke(app, ["train", "--units", "512", "--no-tied", "--model", str(tmp_path / "model")])
    assert result.stderr.splitlines()[-1] == "error: tied units"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--epochs 10 --time 4m", "--epochs cannot be combined with --time"),
        ("--batch 128 --batch-tokens 4096", "--batch cannot be combined with --batch-tokens"),
        ("--replay-share 0.2", "--replay-share needs --replay"),
        ("--attention-units 256 --attention dot", "--attention-units cannot be combined with --attention dot"),
        (
            "--max-positions 64 --architecture transformer",
            "--max-positions cannot be combined with --positions sinusoidal",
        ),
    ],
)
def test_an_option_that_says_nothing_is_refused(arguments: str, message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), *arguments.split()])
    assert (result.exit_code, result.stderr.splitlines()[0]) == (ExitCode.USAGE, f"error: {message}")


def test_what_is_typed_wins_over_an_option_of_the_file_that_then_says_nothing(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("epochs = 3\nbatch = 32\nattention-units = 64\n")
    typed = ["--time", "4m", "--batch-tokens", "4096", "--attention", "general"]
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe), *typed])
    assert "there is no prepared corpus" in result.stderr
    recipe.write_text('time = "4m"\nbatch-tokens = 4096\n')
    typed = ["--epochs", "3", "--batch", "32"]
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe), *typed])
    assert "there is no prepared corpus" in result.stderr
    recipe.write_text('epochs = 3\ntime = "4m"\n')
    result = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--config", str(recipe)])
    assert "--epochs cannot be combined with --time" in result.stderr


def test_the_first_signal_asks_and_the_second_ends() -> None:
    stop = Stop()
    assert not stop()
    stop.request_stop(signal.SIGTERM, None)
    assert stop() and stop.signal == signal.SIGTERM
    with pytest.raises(KeyboardInterrupt):
        stop.request_stop(signal.SIGINT, None)


def test_signals_are_given_back_after_training() -> None:
    before = signal.getsignal(signal.SIGINT)
    with catch_stop_signals() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_training_ended_before_its_first_update_exits_as_the_signal_wants_it() -> None:
    with pytest.raises(typer.Exit) as caught, catch_stop_signals():
        signal.raise_signal(signal.SIGTERM)
        raise KeyboardInterrupt
    assert caught.value.exit_code == 128 + signal.SIGTERM
    with pytest.raises(KeyboardInterrupt), catch_stop_signals():
        signal.raise_signal(signal.SIGINT)
        raise KeyboardInterrupt


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
    assert lines[0].startswith("rnn · additive attention · GRU 2x256 / 512, 2 layers · 4.6 M weights")
    assert lines[3].split() == ["2", "3.09", "2.74", "15.5", "53.8", "13.9", "30.3", "6,940", "1:01", "best"]
    assert lines[4].strip() == "The dog sleeps. -> Der Hund schläft."
    assert lines[5].endswith("1:01   part of the epoch")


@pytest.mark.parametrize(
    ("network", "told"),
    [
        (ModelConfig.from_options(), "rnn · additive attention · GRU 2x256 / 512"),
        (ModelConfig.from_options(encoder_units=128), "rnn · additive attention · GRU 2x64 / 512"),
        (ModelConfig.from_options(attention="none", bidirectional=False, units=50), "rnn · no attention · GRU 50 / 50"),
        (
            ModelConfig.from_options(attention="scaled-dot", heads=4, cell="lstm", input_feeding=True),
            "rnn · scaled-dot attention, 4 heads, input feeding · LSTM 2x256 / 512",
        ),
        (
            ModelConfig.from_options(attention="scaled-dot", heads=8, attend_embeddings=True),
            "rnn · scaled-dot attention, 8 heads, attends embeddings · GRU 2x256 / 512",
        ),
        (ModelConfig.from_options(fixed_norm=True), "rnn · additive attention · GRU 2x256 / 512 · fixed norm"),
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
