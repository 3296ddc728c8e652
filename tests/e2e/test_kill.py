"""Trainings that are stopped: by a person, and by SIGKILL, which `tests/release/kill.py` sends more often."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import succeed

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[2] / "tests" / "release" / "kill.py"


def test_a_training_killed_at_random_ends_with_the_same_weights() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--kills", "3", "--seed", "4"], capture_output=True, text=True)
    *kills, last = done.stdout.splitlines() or [""]
    assert last == "after the kills: equal weights and history", done.stdout + done.stderr
    assert [line.split(": ")[:2] for line in kills] == [[f"kill {number}", "killed"] for number in (1, 2, 3)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_training_that_is_stopped_leaves_a_usable_model(place: Path, number: int, tmp_path: Path) -> None:
    options = "--epochs 100 --batch 64 --units 8 --embedding 8 --attention none --layers 1".split()
    command = ["train", *options, "--model", str(tmp_path / "model")]
    with subprocess.Popen(
        [sys.executable, "-m", "nmt_cli", *command], cwd=place, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        for line in process.stderr:  # the first epoch's line
            if line.split()[:1] == ["1"]:
                break
        time.sleep(0.3)
        process.send_signal(number)
        rest = process.stderr.read()
    assert process.returncode == 128 + number, rest
    assert "interrupted after" in rest and "continue with nmt train" in rest
    done = succeed("translate", "--model", str(tmp_path / "model"), cwd=place, text="bade giko.\n")
    assert done.stdout.count("\n") == 1
