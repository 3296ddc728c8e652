"""What a shell completes, asked as bash asks it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt_cli.cli.parsing.options import complete_corpora, complete_metrics, complete_models
from nmt_cli.evaluation.metrics.registry import NAMES


def complete(line: str, directory: Path) -> list[str]:
    words = line.split(" ")
    environment = {
        **os.environ,
        "_NMT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    code = "from nmt_cli.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=directory, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, mark in (("model", "model.json"), ("runs/large", "model.json"), ("prepared", "dataset.json")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / mark).write_text("{}")
    (tmp_path / "notes").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nmt tra", ["train", "translate"]),
        ("nmt train --att", ["--attention", "--attention-units", "--attend-embeddings", "--attention-dropout"]),
        ("nmt train --set att", ["attend-embeddings=", "attention=", "attention-dropout=", "attention-units="]),
        ("nmt train --cell ", ["gru", "lstm"]),
        ("nmt translate --model ", ["model", "deu-eng", "eng-deu"]),  # those of the directory, and those that are there
        ("nmt evaluate --model runs/", ["runs/large"]),
        ("nmt train --data p", ["prepared"]),
        ("nmt train --init-from m", ["model"]),
        ("nmt evaluate --metric rougeL", ["rougeL", "rougeLsum"]),
        ("nmt prepare --keep swa", ["swapped"]),
    ],
)
def test_commands_options_choices_models_and_names_are_completed(
    directory: Path, line: str, expected: list[str]
) -> None:
    assert complete(line, directory) == expected


def test_a_directory_on_the_way_to_a_model_is_offered_with_a_slash(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(directory)
    assert complete_models("r") == ["runs/"]
    assert complete_models("runs/l") == ["runs/large"]
    assert complete_models("no/such/") == []
    assert complete_corpora("") == ["prepared"]


def test_metrics_are_completed_after_a_comma() -> None:
    assert complete_metrics("bleu,ter") == ["bleu,ter"]
    assert complete_metrics("") == list(NAMES)
