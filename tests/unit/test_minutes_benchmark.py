"""benchmarks/minutes.py: the time of each line is noted, a limit ends the command, and the picture has every curve."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import minutes
import pytest

SLEEP_AND_WRITE = """
import pathlib, sys, time
path, lines, pause = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for line in range(lines):
    time.sleep(pause)
    with path.open("a") as file:
        file.write("x\\n")
"""


@pytest.fixture(autouse=True)
def poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minutes, "POLLING", 0.01)


def write_lines(path: Path, lines: int, pause: float) -> list[str]:
    return [sys.executable, "-c", SLEEP_AND_WRITE, str(path), str(lines), str(pause)]


def test_each_line_has_its_time(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    command = write_lines(path, 3, 0.2)
    times = minutes.follow(command, tmp_path / "log", lambda: minutes.count_lines(path))
    assert len(times) == 3
    assert times[0] >= 0.2 and times[1] >= 0.4 and times[2] >= 0.6


def test_a_limit_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    command = write_lines(path, 1_000, 0.05)
    times = minutes.follow(command, tmp_path / "log", lambda: minutes.count_lines(path), limit=0.5)
    assert len(times) <= 10  # 1,000 lines take 50 seconds


def test_a_failure_is_not_a_curve(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        minutes.follow([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "log", lambda: 0)


def test_validations_of_the_peer_are_read(tmp_path: Path) -> None:
    noted = tmp_path / "validations.txt"
    assert minutes.read_steps(noted) == []
    noted.write_text("Steps: 200\tloss: 5.0\tbleu: 0.1\t*\nSteps: 400\tloss: 4.0\tbleu: 1.9\t*\n")
    assert minutes.read_steps(noted) == [200, 400]


def test_the_picture_has_a_column_per_corpus_and_a_line_per_curve() -> None:
    curve = [{"minutes": 1.0, "bleu": 10.0, "chrf": 30.0}, {"minutes": 2.0, "bleu": 20.0, "chrf": 40.0}]
    rows = [
        {"corpus": corpus, "system": system, "curve": curve}
        for corpus, system in (("a", "nmt"), ("a", "Joey NMT"), ("b", "nmt"))
    ]
    figure = minutes.build_figure(rows)
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 1, 2, 1]
    assert [list(line.get_ydata()) for line in figure.axes[2].get_lines()] == [[30.0, 40.0]] * 2
