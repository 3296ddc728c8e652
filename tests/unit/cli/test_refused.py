"""What `nmt` refuses, and how it says so: in two lines, of which the second is a hint, before it does anything.

A refusal is a row of `tests/refused.toml`: the command, what the error says, what the hint has, if that matters, and
the files that are there, if there are any:

    ["train --epochs abc", "--epochs cannot be 'abc'", "use a whole number"]
    ["train --config c.toml", "c.toml: --epochs is -2", "", { "c.toml" = "epochs = -2" }]
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
        for row in group["cases"]:
            command, message, hint, files = (*row, *("", {})[len(row) - 2 :])
            yield pytest.param(command, message, hint, files, group.get("code", ExitCode.USAGE), id=command)


@pytest.mark.parametrize(("command", "message", "hint", "files", "code"), list(read_rows()))
def test_it_is_refused_in_two_lines(
    command: str, message: str, hint: str, files: dict[str, str], code: int,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, shlex.split(command), prog_name="nmt")
    error, advice = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (code, "")
    assert error.startswith("error: ") and message in error
    assert advice.startswith("hint: ") and hint in advice and len(advice) > len("hint: ")
    assert {path.name for path in tmp_path.iterdir()} == set(files)
