"""What `nmt` refuses, and how it says so: in two lines, of which the second is a hint, before it does anything.

A refusal is a row of `tests/refused.toml`: the command, what the error says, and what the hint has, if that matters:

    ["train --epochs abc", "--epochs cannot be 'abc'", "it takes a whole number"]
"""

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import app
from nmt_cli.errors import ExitCode

ROWS = Path(__file__).parents[2] / "refused.toml"


def read_rows() -> Iterator[Any]:
    for group in tomllib.loads(ROWS.read_text(encoding="utf-8"))["group"]:
        for command, message, *hint in group["cases"]:
            yield pytest.param(command, message, "".join(hint), id=command)


@pytest.mark.parametrize(("command", "message", "hint"), list(read_rows()))
def test_it_is_refused_in_two_lines(
    command: str, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, shlex.split(command), prog_name="nmt")
    error, advice = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert error.startswith("error: ") and message in error
    assert advice.startswith("hint: ") and hint in advice and len(advice) > len("hint: ")
    assert not list(tmp_path.iterdir())
