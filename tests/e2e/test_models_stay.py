"""Whoever uses a model only reads it: every command leaves the directory of a model, such as a package's, as it is."""

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from nmt_cli.runtime.installed_models import find_model
from support.commands import nmt, succeed
from support.models import list_state, prepare_toy


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a copy of a bundled model that nobody may write, and with a text."""
    folder = tmp_path_factory.mktemp("place")
    shutil.copytree(find_model(Path("eng-deu")), folder / "copy")
    for path in (folder / "copy", *(folder / "copy").rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    (folder / "in.txt").write_text("I see a dog.\n", encoding="utf-8")
    languages = {"source_language": "eng", "target_language": "deu"}
    prepare_toy(folder, 80, dev="10", test="10", tokenizer_from=str(folder / "copy"), vocab_size=None, **languages)
    return folder


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("translate in.txt -o out-{name}.txt --model {name}", 0),
        ("translate --info --model {name}", 0),
        ("translate --export ctranslate2 -o exported --model {name}", 2),
        ("evaluate --model {name} --data prepared --beam-size 1 --metric bleu4", 0),
        ("visualize Hello. --model {name} -o drawn-{name}.svg", 0),
        ("visualize --curves --model {name} -o curves-{name}.svg", 0),
        ("prepare toy.tsv --data prepared-{name} --tokenizer-from {name} --dev 10 --test 10", 0),
    ],
)
@pytest.mark.parametrize("name", ["copy", "eng-deu"])
def test_a_command_leaves_a_model_that_it_names_as_it_is(read_only: Path, name: str, command: str, code: int) -> None:
    directory = read_only / "copy" if name == "copy" else find_model(Path(name))
    before = list_state(directory)
    done = nmt(*command.format(name=name).split(), cwd=read_only)
    assert done.returncode == code, done.stderr
    assert list_state(directory) == before


def test_a_training_that_is_refused_leaves_the_model_as_it_is(read_only: Path) -> None:
    package = find_model(Path("eng-deu"))
    for directory, options in (
        (read_only / "copy", []),
        (read_only / "copy", ["--resume"]),
        (package, []),
        (package, ["--force"]),
    ):
        before = list_state(directory)
        done = nmt("train", "--data", "prepared", "--model", str(directory), *options, cwd=read_only)
        assert done.returncode == 73 and ("package" in done.stderr) is (directory == package)
        assert list_state(directory) == before


def test_a_server_leaves_its_model_as_it_is(read_only: Path) -> None:
    before = list_state(read_only / "copy")
    command = [sys.executable, "-m", "nmt_cli", "translate", "--serve", "0", "--model", "copy"]
    with subprocess.Popen(command, cwd=read_only, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = next(word for line in server.stderr for word in line.split() if word.startswith("http://"))
            data = b"q=I+see.&source=en&target=de"
            with urllib.request.urlopen(f"{url}/translate", data, timeout=60) as answer:
                assert b"sehe" in answer.read()
        finally:
            server.send_signal(signal.SIGTERM)
    assert list_state(read_only / "copy") == before


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_model_that_nobody_may_write_translates(read_only: Path) -> None:
    assert succeed("translate", "--model", "copy", cwd=read_only, text="I see.\n").stdout == "Ich sehe.\n"
