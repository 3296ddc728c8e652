"""What commands print, at the widths of small and large terminals."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as generate
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.api.advice import Advice, Suggestion
from nmt_cli.cli.app import app
from nmt_cli.cli.prepare import SHARES
from nmt_cli.cli.render import (
    Screen,
    find_width,
    print_error,
    print_lines,
    show_stage_progress,
    show_translation_progress,
)
from nmt_cli.cli.train import COLUMNS, TrainingScreen, choose_columns
from nmt_cli.model.config import RnnConfig
from nmt_cli.runtime.installed_models import list_models
from nmt_cli.text.wrapping import count_columns
from nmt_cli.training.watcher import EpochRecord, ParentInfo, RunInfo, SeedResult, StepStatus, Validation

WIDTHS = (40, 60, 80, 120)
LINE = "rnn · additive attention · GRU 2x256 / 512 · 4.6 M parameters        CPU, 2 cores, float32"
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


def make_run_info(*, epochs: int = 1, weights: int = 4_600_000) -> RunInfo:
    return RunInfo(
        network=RnnConfig(), weights=weights, pairs=1, steps_per_epoch=1, epochs=epochs, devices="CPU, 2 cores",
        precision="float32",
    )  # fmt: skip


def test_a_tiny_network_has_its_weights_counted(capsys: pytest.CaptureFixture[str]) -> None:
    TrainingScreen(Screen(), lambda: False).report_start(make_run_info(weights=18_240))
    assert "18,240 parameters" in capsys.readouterr().err


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
def test_a_training_fits_the_terminal_with_numbers_below_their_headings(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = TrainingScreen(Screen(), lambda: False)
    shown.report_start(make_run_info())
    shown.show_row(make_record(1))
    shown.show_row(make_record(10, best=False))
    *header, headings, first, second = capsys.readouterr().err.splitlines()
    assert "1 pair, 1 step per epoch, 1 epoch" in " ".join(" ".join(header).split())
    assert "float32" in " ".join(header).split()
    assert max(map(len, (*header, headings, first, second))) <= width
    assert len(headings) == len(second) == len(first.removesuffix("   best"))  # right-aligned


class LiveScreen(Screen):
    """A terminal of this width, which keeps what is printed."""

    live = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)

    def draw(self, progress: Progress) -> str:
        """Returns the bar as it stands now; it must be a single line."""
        console = Console(file=(file := io.StringIO()), width=self.console.width, color_system=None)
        console.print(progress.get_renderable())
        (line,) = file.getvalue().splitlines()
        return line


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bar_of_a_training_is_one_line_and_keeps_what_matters(width: int) -> None:
    screen = LiveScreen(width)
    shown = TrainingScreen(screen, lambda: False)
    with shown:
        shown.report_start(make_run_info(epochs=20))
        assert shown.bar is not None
        lines = [screen.draw(shown.bar.progress)]
        shown.report_step(StepStatus(12, 20, 600, 1260, 9000, 2.31, 6940.0, 3761.0))
        lines.append(screen.draw(shown.bar.progress))
        shown.report_validation(12)
        lines.append(screen.draw(shown.bar.progress))
    assert max(map(count_columns, lines)) <= width
    assert {"epoch 12/20", "48%", "1:02:41 left"} <= set(re.split(r"  +|(?<=%) | (?=\d+%)|[ ]?[━╸╺]+ *", lines[1]))
    assert ("6,940 tok/s" in lines[1]) == (width >= 80)
    assert "━━" in lines[1] and "compiling" in lines[0] and "translating" in lines[2]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_bars_of_stages_and_sentences_are_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    screen, lines = LiveScreen(width), []
    leave = Progress.__exit__

    def draw_and_leave(progress: Progress, *exception: object) -> None:
        lines.append(screen.draw(progress))
        leave(progress, *exception)  # type: ignore[arg-type]

    monkeypatch.setattr(Progress, "__exit__", draw_and_leave)
    with show_stage_progress(screen) as advance:
        advance("translating with models/a-transformer-of-another-day", 300, 1000)
    (tmp_path / "lines.txt").write_text("hello\n" * 14_703)
    with show_translation_progress(screen, [tmp_path / "lines.txt"]) as finish:
        finish(1_500)
    stage, sentences = lines
    assert max(map(count_columns, lines)) <= width
    assert stage.startswith("translating") and "30%" in stage and "━" in stage and ":" not in stage
    assert sentences.startswith("translating") and "1500/14703" in sentences and ":" not in sentences


def test_one_bar_shows_all_stages_of_a_preparation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, float | None]] = []
    update = Progress.update

    def note(progress: Progress, *arguments: Any, **values: Any) -> None:
        update(progress, *arguments, **values)
        shown.append((progress.tasks[0].description, progress.tasks[0].percentage))

    monkeypatch.setattr(Progress, "update", note)
    pairs = "".join(f"this is sentence number {n}\tdas ist der Satz mit der Nummer {n}\n" for n in range(60))
    (tmp_path / "pairs.tsv").write_text(pairs)
    with show_stage_progress(LiveScreen(80), SHARES) as advance:
        nmt.prepare(tmp_path / "pairs.tsv", data=tmp_path / "data", progress=advance)
    assert list(dict.fromkeys(stage for stage, _ in shown)) == list(SHARES)
    passed = [share for _, share in shown if share is not None]
    assert passed == sorted(passed) and passed[-1] == pytest.approx(100)


@pytest.mark.parametrize("width", WIDTHS)
def test_several_runs_and_their_interruption_fit_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = TrainingScreen(Screen(), lambda: True)
    first, second = (Validation(2.0, 50.0, bleu, 40.0, "b", "c", "wo " * 40, "h") for bleu in (9.4, 24.1))
    runs = (SeedResult(Path("model/run-1"), 1, first), SeedResult(Path("model/run-2"), 2, second))
    check = SimpleNamespace(default="int8", cost=0.1, int8_bytes=6_000_000)
    report: Any = SimpleNamespace(
        epochs=(1,), validation=second, runs=runs, int8_check=check, passed_epochs=1.4, planned_epochs=5
    )
    shown.report_run(2, 3, seed=2)
    shown.report_epoch(make_record(1), second)
    shown.show_summary(report, Path("model"), example=second.sample_source)
    shown.show_interruption(report, "nmt train --runs 3 --resume", runs=3)
    lines = capsys.readouterr().err.splitlines()
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= width
    assert "run 2 of 3, seed 2" in text and "seed 2 dev BLEU 24.1, chrF 40.0 model/run-2/ best" in text
    assert "2 runs: dev BLEU 16.8 ± 10.4, chrF 40.0 ± 0.0 (mean and standard deviation)" in text
    assert "interrupted in run 2 of 3, after 1.4 of 5 epochs; continue with: nmt train --runs 3 --resume" in text
    assert text.count("wo") == 60 / 3 + text.count("Try: echo") * 40


@pytest.mark.parametrize(("bleu", "distinct", "words"), [(0.4, 1.0, "next to nothing"), (7.0, 0.0, "all alike")])
def test_a_model_that_has_learned_nothing_is_not_ready(
    bleu: float, distinct: float, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    validation = Validation(2.0, 50.0, bleu, 4.0, "b", "c", "a source", "h", distinct)
    report: Any = SimpleNamespace(epochs=(1,), validation=validation, runs=())
    advice = Advice(60, 6, 26.0, None, (Suggestion("more pairs", "nmt prepare CORPUS more.tsv"),))
    TrainingScreen(Screen(), lambda: False).show_summary(report, Path("model"), advice)
    printed = capsys.readouterr().err
    assert "ready" not in printed and words in printed and "nmt prepare CORPUS more.tsv" in printed
    TrainingScreen(Screen(quiet=True), lambda: False).show_summary(report, Path("model"), advice)
    assert capsys.readouterr().err == ""


def test_a_model_that_is_no_better_than_chance_is_ready_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    validation = Validation(2.0, 50.0, 4.6, 22.6, "case:lc", "c", "a source", "h", chance_chrf=28.3)
    check = SimpleNamespace(default="int8", cost=0.1, int8_bytes=6_000_000)
    report: Any = SimpleNamespace(epochs=(1,), validation=validation, runs=(), int8_check=check)
    TrainingScreen(Screen(), lambda: False).show_summary(report, Path("model"))
    said = " ".join(capsys.readouterr().err.split())
    assert "model/ is ready: BLEU 4.6, chrF 22.6 on the development set, ignoring case (random" in said
    assert "! this model can hardly translate: BLEU 4.6, and chrF 5.7 points below that of random sentences" in said


@pytest.mark.parametrize(("languages", "is_doubted"), [(("en", "de"), True), (("en", "vi"), False)])
def test_scores_after_a_start_from_a_model_of_both_languages_are_doubted(
    languages: tuple[str, str], is_doubted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    validation = Validation(2.0, 50.0, 16.0, 40.0, "b", "c", "a source", "h")
    check = SimpleNamespace(default="int8", cost=0.1, int8_bytes=6_000_000)
    report = SimpleNamespace(epochs=(1,), validation=validation, runs=(), int8_check=check)
    outcome: Any = SimpleNamespace(report=report, advice=None, example=None, late_seconds=None)
    request: Any = SimpleNamespace(directory=Path("model"), corpus=SimpleNamespace(languages=languages))
    shown = TrainingScreen(Screen(), lambda: False)
    shown.parent = ParentInfo("eng-deu", "eng", "deu", "", {})
    shown.show_outcome(outcome, request, was_stopped=False)
    assert ("! eng-deu may know the development and test sentences" in capsys.readouterr().err) == is_doubted


@pytest.mark.parametrize("width", WIDTHS)
def test_nmt_alone_and_a_comparison_of_systems_fit_the_terminal(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-long-name-of-a-corpus-of-sentences.tsv").write_text("a\tb\n")
    alone = run(width=width)
    assert "nmt prepare" in alone
    for name, words in (("r", "der Satz"), ("additive", "der Satz"), ("dot", "ein Satz"), ("transformer", "Satz")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{words} mit der Nummer {n} hier\n" for n in range(40)))
    systems = [word for name in ("additive", "dot", "transformer") for word in ("--hypothesis", f"{name}.txt")]
    metrics = [word for name in ("bleu4", "chrf", "ter", "rouge-l") for word in ("--metric", name)]
    table = run("evaluate", *systems, "--reference", "r.txt", *metrics, width=width)
    assert table.count("transformer.txt") >= 1 and "TER" in table
    wide = [line for line in (alone + table).splitlines() if count_columns(line) > width]
    assert [line for line in wide if len(line.split()) > 1] == []


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
    assert [line for line in wide if len(line.removesuffix("\\").split()) > 1] == []  # but for paths of temporary files


@pytest.mark.parametrize("way", ["say", "warn", "detail", "error", "hint", "lines"])
@generate(st.text())
def test_a_name_begins_no_line_and_does_nothing_to_the_terminal(
    capsys: pytest.CaptureFixture[str], way: str, name: str
) -> None:
    screen, text = Screen(verbose=True), f"in/{name}.txt: 1 text"
    capsys.readouterr()
    ways: dict[str, Callable[[], None]] = {
        "say": lambda: screen.say(text),
        "warn": lambda: screen.warn(text),
        "detail": lambda: screen.say_detail(text),
        "error": lambda: print_error(text, ""),
        "hint": lambda: print_error("e", text),
        "lines": lambda: print_lines([text]),
    }
    ways[way]()
    shown = "".join(capsys.readouterr())
    assert len(shown.splitlines()) == 1 + (way == "hint")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]", shown)


@pytest.mark.parametrize(
    "arguments",
    [
        ["translate", "--model", "in\nerror: none.txt"],
        ["prepare", "a\r\n  kept 9 \x1b[2J.tsv"],
        ["evaluate", "--hypothesis", "h\u2028.txt", "--reference", "h\u2028.txt"],
        ["translate", "--beam-size", "1\nerror: forged"],
        ["train", "--data", "d\nhint: curl evil"],
    ],
)
def test_an_error_about_a_name_has_two_lines_whatever_the_name(arguments: list[str]) -> None:
    result = runner.invoke(app, arguments)
    assert result.exit_code != 0 and len(result.stderr.splitlines()) <= 2
    assert result.stderr.startswith("error: ")


def test_an_installed_model_is_called_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    directory = list_models()["eng-deu"]
    print_error(f"{directory}/ has no tags", f"copy {directory}/model.json, or --model {directory}")
    assert capsys.readouterr().err == (
        f"error: eng-deu has no tags\nhint: copy {directory}/model.json, or --model eng-deu\n"
    )
