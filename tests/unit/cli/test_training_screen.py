"""What `nmt train` shows: the network, a line a minute or an epoch, and where it stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nmt_cli.cli.render import Screen
from nmt_cli.cli.training_screen import TrainingScreen, format_time
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.description import describe_network
from nmt_cli.training.watcher import EpochRecord, RunInfo, StepStatus, Validation


def test_without_a_terminal_a_line_a_minute_says_how_far_training_is(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter(range(0, 10_000, 25))
    watcher = TrainingScreen(Screen(), lambda: False, log_every=60, clock=lambda: next(times))
    for step in range(1, 9):
        watcher.report_step(StepStatus(2, 5, step, 80, 80 + step, 2.3, 6940.0, 161.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split() == "epoch 2/5 4% loss 2.30 ppl 10.0 6,940 tok/s 2:41 left".split()
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
    assert lines[0].startswith("rnn · scaled-dot attention · GRU 2x256 / 512, 2 layers · 4.6 M weights")
    assert lines[3].split() == ["2", "3.09", "2.74", "15.5", "53.8", "13.9", "30.3", "6,940", "1:01", "best"]
    assert lines[4].strip() == "The dog sleeps. -> Der Hund schläft."
    assert lines[5].endswith("1:01   part of the epoch")


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
