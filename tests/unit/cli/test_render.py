"""What commands print, at the widths of small and large terminals."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import app
from nmt_cli.cli.render import Screen, find_width, print_error, print_lines
from nmt_cli.cli.training_screen import COLUMNS, TrainingScreen, choose_columns
from nmt_cli.model.config import RnnConfig
from nmt_cli.training.watcher import EpochRecord, RunInfo

WIDTHS = (40, 60, 80, 120)
LINE = "rnn · additive attention · GRU 2x256 / 512 · 4.6 M weights        CPU, 2 cores, float32"
runner = CliRunner()


def run(*arguments: str, width: int) -> str:
    result = runner.invoke(app, list(arguments), env={"COLUMNS": str(width)})
    return result.stdout + result.stderr


def make_record(epoch: int, *, best: bool = True) -> EpochRecord:
    return EpochRecord(
        epoch=epoch, steps=376, loss=2.0, accuracy=60.0, dev_loss=2.1, perplexity=8.2, bleu=24.1, chrf=45.0,
        learning_rate=0.001,
        tokens_per_second=12_345.0, seconds=3675.0, best=best, complete=True,
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_messages_and_errors_wrap_at_words(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Screen().say(LINE)
    Screen().warn("3 translations differ in their numbers from the source: look at lines 41, 97 and 120")
    print_error("there is no model in model/", "make one with `nmt train`, or name the directory that holds it")
    print_lines(["alignment error rate 12.5 %   attention entropy 1.20 bits per word   80 % near the diagonal"])
    out, err = capsys.readouterr()
    assert max(map(len, (out + err).splitlines())) <= width
    assert {"float32", "diagonal", "directory", "120"} <= set((out + err).split())


def test_a_file_gets_each_message_on_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Screen().say(f"{LINE} {LINE}")
    assert capsys.readouterr().err == f"{LINE} {LINE}\n"
    assert find_width(io.StringIO()) is None and find_width(sys.stderr) is None


@pytest.mark.parametrize(("width", "headings"), [
    (40, ["epoch", "dev loss", "BLEU", "time"]),
    (60, ["epoch", "loss", "dev loss", "BLEU", "chrF", "time"]),
    (80, [column.heading for column in COLUMNS]),
    (120, [column.heading for column in COLUMNS]),
    (None, [column.heading for column in COLUMNS]),
])  # fmt: skip
def test_the_table_of_epochs_has_the_columns_that_fit(width: int | None, headings: list[str]) -> None:
    assert [column.heading for column in choose_columns(width)] == headings


@pytest.mark.parametrize("width", WIDTHS)
def test_a_training_fits_the_terminal_and_its_numbers_stand_below_their_headings(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = TrainingScreen(Screen(), lambda: False)
    info = RunInfo(
        network=RnnConfig(), weights=4_600_000, pairs=1, steps_per_epoch=1, epochs=1, devices="CPU, 2 cores",
        precision="float32",
    )  # fmt: skip
    shown.report_start(info)
    shown.show_row(make_record(1))
    shown.show_row(make_record(10, best=False))
    *header, headings, first, second = capsys.readouterr().err.splitlines()
    assert "1 pair, 1 step per epoch, 1 epoch" in " ".join(" ".join(header).split())
    assert "float32" in " ".join(header).split()
    assert max(map(len, (*header, headings, first, second))) <= width
    assert len(headings) == len(second) == len(first.removesuffix("   best"))  # right-aligned


@pytest.mark.parametrize("width", WIDTHS)
def test_preparing_and_scoring_fit_the_terminal(width: int, tmp_path: Path) -> None:
    pairs = [(f"this is sentence number {n}", f"das ist der Satz mit der Nummer {n}") for n in range(60)]
    (tmp_path / "eng-deu.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in [*pairs, ("x", ""), ("y", "")]))
    for name, side in (("h.txt", 1), ("r.txt", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    printed = run("prepare", str(tmp_path / "eng-deu.tsv"), "--data", str(tmp_path / "p"), width=width)
    printed += run(
        "evaluate", "--hypothesis", str(tmp_path / "h.txt"), "--reference", str(tmp_path / "r.txt"), width=width
    )
    assert "is ready" in " ".join(printed.split()) and "BLEU" in printed
    wide = [line for line in printed.splitlines() if len(line) > width]
    assert [line for line in wide if len(line.split()) > 1] == []  # but for paths of temporary files
