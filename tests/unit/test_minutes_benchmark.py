"""benchmarks/minutes.py: the time of each line is noted, a limit ends the command, and the picture has every curve."""

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

SPEND = """
import time
while time.process_time() < 0.35:
    pass
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
    assert all(cost.wall >= least for cost, least in zip(times, (0.2, 0.4, 0.6), strict=True))


def test_each_line_has_the_time_of_the_processor(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    script = f"{SPEND}{SLEEP_AND_WRITE}"
    command = [sys.executable, "-c", script, str(path), "1", "1.0"]
    (cost,) = minutes.follow(command, tmp_path / "log", lambda: minutes.count_lines(path))
    assert 0.3 <= cost.processors <= cost.wall - 0.9


def test_a_limit_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    command = write_lines(path, 1_000, 0.05)
    times = minutes.follow(command, tmp_path / "log", lambda: minutes.count_lines(path), limit=0.5)
    assert len(times) <= 10  # 1,000 lines take 50 seconds


def test_a_failure_is_not_a_curve(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        minutes.follow([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "log", lambda: 0)


def test_validations_of_the_peers_are_read(tmp_path: Path) -> None:
    joeynmt, marian = (minutes.PEERS[name] for name in ("joeynmt", "marian"))
    assert joeynmt.read_steps(tmp_path) == marian.read_steps(tmp_path) == []
    (tmp_path / "model").mkdir()
    validations = "Steps: 200\tloss: 5.0\tbleu: 0.1\t*\nSteps: 400\tloss: 4.0\tbleu: 1.9\t*\n"
    (tmp_path / joeynmt.noted).write_text(validations)
    assert joeynmt.read_steps(tmp_path) == [200, 400]
    validations = "[2026] [valid]   Hyp: Der .\n[2026] [valid] Ep. 1 : Up. 500 : bleu : 1.56466 : new best\n"
    (tmp_path / marian.noted).write_text(validations)
    assert marian.read_steps(tmp_path) == [500]


def make_points(**values: tuple[float, float]) -> list[dict[str, float]]:
    return [dict(zip(values, point, strict=True)) for point in zip(*values.values(), strict=True)]


def test_the_picture_has_a_column_per_corpus_and_cores() -> None:
    both = make_points(minutes=(1.0, 2.0), bleu=(10.0, 20.0), chrf=(30.0, 40.0))
    of_one_core = make_points(minutes=(4.0, 8.0), processor_minutes=(3.0, 6.0), bleu=(5.0, 6.0), chrf=(7.0, 8.0))
    columns = [("a", "nmt", 2), ("a", "Joey NMT", 2), ("b", "nmt", 2), ("a", "nmt", 1)]
    rows = [
        {"corpus": corpus, "system": system, "cores": cores, "curve": of_one_core if cores == 1 else both}
        for corpus, system, cores in columns
    ]
    figure = minutes.build_figure(rows)
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 1, 1, 2, 1, 1]
    assert [list(line.get_ydata()) for line in figure.axes[3].get_lines()] == [[30.0, 40.0]] * 2
    assert [list(line.get_xdata()) for line in figure.axes[2].get_lines()] == [[3.0, 6.0]]
