import importlib.metadata
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.cli.app import app
from nmt_cli.errors import EXTRAS, DamagedError, MissingExtraError, convert_import_error, explain_install


class InstalledFrom:
    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "prefix", "hint"),
    [
        (None, "/venv", "pip install 'nmt-cli[serve]'"),
        ({"url": "file:///home/me/nmt", "dir_info": {}}, "/venv", "pip install '/home/me/nmt[serve]'"),
        ({"url": "file:///nmt", "dir_info": {"editable": True}}, "/venv", "pip install -e '/nmt[serve]'"),
        (
            {"url": "https://a.example/nmt", "vcs_info": {"vcs": "git"}},
            "/venv",
            "pip install 'nmt-cli[serve] @ git+https://a.example/nmt'",
        ),
        (
            {"url": "file:///tmp/nmt_cli-0.1.0-py3-none-any.whl", "archive_info": {}},
            "/venv",
            "pip install '/tmp/nmt_cli-0.1.0-py3-none-any.whl[serve]'",
        ),
        (
            {"url": "https://a.example/nmt.whl", "archive_info": {}},
            "/venv",
            "pip install 'nmt-cli[serve] @ https://a.example/nmt.whl'",
        ),
        (None, "/home/me/.local/share/uv/tools/nmt-cli", "uv tool install --force 'nmt-cli[serve]'"),
        (None, "/home/me/.local/pipx/venvs/nmt-cli", "pipx install --force 'nmt-cli[serve]'"),
    ],
)
def test_the_line_that_installs_an_extra_fits_where_the_package_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, prefix: str, hint: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: InstalledFrom(origin))
    monkeypatch.setattr(sys, "prefix", prefix)
    assert explain_install("serve") == f"install it with: {hint}"


def test_what_is_damaged_has_a_hint() -> None:
    assert "--force" in DamagedError("weights.npz is damaged").hint
    assert DamagedError("state.npz is damaged", hint="start over").hint == "start over"


# What only some commands need is an extra; without it, they say how to install it.


PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {"PIL": "pillow"}


def test_every_package_of_the_table_is_in_its_extra_alone() -> None:
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRAS.items():
        name = DISTRIBUTIONS.get(package, package)
        assert any(line.startswith(name) for line in extras[extra])
        assert not any(line.startswith(name) for line in PROJECT["dependencies"])
    assert all("nmt-cli[evaluate,visualize]" in extras[name] for name in ("train", "train-cpu"))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment without extras, in which files are there to score and to draw."""
    for name in [*EXTRAS, *(name for name in sys.modules if name.split(".")[0] in EXTRAS)]:
        monkeypatch.setitem(sys.modules, name, None)  # importing it fails
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a small house\n")


@pytest.mark.usefixtures("bare")
def test_a_missing_extra_is_named_with_the_line_that_installs_it() -> None:
    scored = "evaluate --hypothesis a.txt --reference a.txt --metric".split()
    result = CliRunner().invoke(app, [*scored, "meteor"])
    assert (result.exit_code, result.stdout) == (69, "")
    assert result.stderr.startswith("error: this needs nltk, which is not installed\nhint: install it with: ")
    assert "[evaluate]" in result.stderr
    assert "100.00" in CliRunner().invoke(app, [*scored, "bleu1", "--metric", "chrf"]).stdout  # the base has these
    with pytest.raises(MissingExtraError):
        nmt.evaluate(metric="meteor", hypothesis="a.txt", reference="a.txt")


@pytest.mark.usefixtures("bare")
def test_a_picture_needs_the_extra_for_pictures() -> None:
    drawn = ["visualize", "A house.", "--model", "eng-deu"]
    result = CliRunner().invoke(app, [*drawn, "-o", "a.png"])
    assert result.exit_code == 69
    assert "[visualize]" in result.stderr
    assert CliRunner().invoke(app, drawn).exit_code == 0  # on the terminal
    assert CliRunner().invoke(app, [*drawn, "-o", "a.html"]).exit_code == 0


def test_any_other_failed_import_stays_what_it_is() -> None:
    assert convert_import_error(ModuleNotFoundError("no", name="nmt_cli.none")) is None
    assert convert_import_error(ImportError("broken", name="matplotlib")) is None
