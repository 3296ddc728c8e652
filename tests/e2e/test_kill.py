"""SIGKILL, as the machine sends it; `tests/release/kill.py` does the same more often."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[2] / "tests" / "release" / "kill.py"


def test_a_training_killed_at_random_ends_with_the_same_weights() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--kills", "3", "--seed", "4"], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["after 3 kills: equal weights and history"], done.stdout + done.stderr
