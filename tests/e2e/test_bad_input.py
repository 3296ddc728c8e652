"""What a careless person does, through the real command line: two lines of help, an exit code, nothing half-done."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import nmt


def run(*arguments: str, cwd: Path, text: bytes = b"") -> tuple[int, list[str], str]:
    """Returns the exit code, the lines of standard error, and standard output."""
    done = nmt(*arguments, cwd=cwd, text=text, COLUMNS="")
    return done.returncode, done.stderr.splitlines(), done.stdout


def test_a_damaged_model_is_named_file_by_file(place: Path, tmp_path: Path) -> None:
    from shutil import copytree

    model = copytree(place / "model", tmp_path / "model")
    (model / "decoder.onnx").write_bytes(b"not a graph")
    code, lines, out = run("translate", "--model", str(model), cwd=place, text=b"bade.\n")
    assert (code, out) == (65, "")
    assert "decoder.onnx is damaged" in lines[0]
    (model / "decoder.onnx").unlink()
    assert "decoder.onnx is missing" in run("translate", "--model", str(model), cwd=place)[1][0]


def test_invalid_utf8_on_standard_input_is_reported_after_the_lines_before(place: Path) -> None:
    code, lines, out = run("translate", "--beam-size", "1", cwd=place, text=b"bade.\nlu.\ncaf\xe9\nma.\n")
    assert code == 65
    assert lines[0] == "error: standard input, line 3: byte 0xe9 is not valid UTF-8"
    assert out.count("\n") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model"], "model is a folder, so its translation cannot go to standard output"),
        (["--output", "model"], "-o model names a file for each input, but standard input has no name"),
    ],
)
def test_a_wrong_request_to_translate_is_told(place: Path, arguments: list[str], message: str) -> None:
    code, lines, out = run("translate", *arguments, cwd=place)
    assert code != 0 and out == ""
    assert message in lines[0]


def test_output_is_written_whole_or_not_at_all(place: Path, tmp_path: Path) -> None:
    bad = tmp_path / "in.txt"
    bad.write_bytes(b"bade.\n\xff\n")
    code, _, _ = run("translate", str(bad), "-o", str(tmp_path / "out.txt"), cwd=place)
    assert code == 65
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.txt"]


def test_a_full_disk_is_told_and_leaves_the_old_model(place: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nmt_cli", "translate", "--beam-size", "1"],
            cwd=place,
            input=b"bade.\n",
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 73
    assert b"the disk is full" in done.stderr and b"Traceback" not in done.stderr


def test_training_into_a_foreign_directory_is_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("x")
    code, lines, _ = run("train", "--model", str(tmp_path / "letters"), "--force", cwd=place)
    assert code == 73 and "letters" in lines[-2]
    assert [entry.name for entry in (tmp_path / "letters").iterdir()] == ["dear.txt"]
