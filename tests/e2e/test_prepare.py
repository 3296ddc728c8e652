"""`nmt prepare` as a user meets it: what is printed, the exit code, and what is on disk afterwards."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.commands import nmt
from support.corpora import toy_pairs, write_tsv
from support.interrupts import hook_interrupt
from support.slow import sample

WITH_WORKERS = """
from nmt_cli.cli import prepare
from nmt_cli.cli.app import main
from nmt_cli.corpus.steps import reading

prepare.count_cores = lambda: 2
reading.CHUNK, reading.CHUNKS_ALONE = 1_000, 0
main()
"""
SAMPLE = Path(__file__).parents[2] / "data" / "eng-deu.tsv"


def prepare(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return nmt("prepare", *arguments, cwd=folder, text=text, COLUMNS="")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [(*pair, "CC-BY 2.0") for pair in toy_pairs(400)]
    return write_tsv(tmp_path / "toy.en-de.tsv", [*rows, rows[0], ("", "leer")])


def test_a_corpus_is_prepared_and_the_next_command_named(table: Path) -> None:
    done = prepare(table.parent, table.name)
    assert (done.returncode, done.stdout) == (0, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("toy.en-de.tsv: 402 pairs en -> de")
    assert lines[1] == "  kept 400   dropped 2: 1 empty, 1 duplicate   -> prepared/rejected.tsv.gz"
    assert lines[2] == "  ! 401 lines have more than two columns; the first two were used"
    assert "train 320   dev 40   test 40" in lines[3]
    assert "no sentence appears in two splits" in lines[3]
    assert "joint unigram" in lines[4]
    assert "every character can be encoded" in lines[4]
    assert lines[5:7] == ["  with 40 test pairs, a BLEU score is accurate to ± 10.1", "  What helps most:"]
    assert lines[7].split(maxsplit=4)[-1] == f"nmt prepare {table.name} --monolingual-target more.de --force"
    assert lines[-1] == "prepared/ is ready. Next: nmt train"
    assert "\x1b" not in done.stderr


def test_quiet_says_nothing_and_verbose_more(table: Path) -> None:
    assert prepare(table.parent, table.name, "-q").stderr == ""
    verbose = prepare(table.parent, table.name, "-v", "--force", "--data", "other").stderr
    assert "groups of connected pairs" in verbose
    assert verbose.endswith("other/ is ready. Next: nmt train --data other\n")


def test_the_counts_and_the_advice_are_an_object_too(table: Path) -> None:
    done = prepare(table.parent, table.name, "--json", "-q")
    values = json.loads(done.stdout)
    assert done.stderr == "" and values["counts"]["kept"] == 400
    advice = values["advice"]
    assert (advice["test_pairs"], advice["interval"], advice["usual"]) == (40, 10.1, None)
    assert advice["suggestions"][-1]["command"] == f"nmt prepare {table.name} more.tsv --force"


def test_several_inputs_standard_input_and_given_test_data_in_one_command(table: Path) -> None:
    pairs = toy_pairs(500)
    for side, name in enumerate(("new.en", "new.de")):
        (table.parent / name).write_text("".join(f"{pair[side]}\n" for pair in pairs[400:450]))
    write_tsv(table.parent / "test.tsv", pairs[395:410])
    stdin = "".join(f"{source}\t{target}\n" for source, target in pairs[450:])
    arguments = [table.name, "-", "new.en,new.de=2", "--dev", "10%", "--test", "test.tsv", "--report", "r.html"]
    done = prepare(table.parent, *arguments, text=stdin)
    lines = done.stderr.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0].startswith("toy.en-de.tsv, standard input, new.en and 2 more: 517 pairs en -> de")
    assert "15 held-out" in lines[1]
    assert "! 15 dropped: a sentence of the given dev or test data; toy.en-de.tsv, row 396: " in done.stderr
    assert "repetitions, by weight" in done.stderr
    assert "dev 48   test 15" in done.stderr
    assert "<h2>held-out: 15 dropped</h2>" in (table.parent / "r.html").read_text()


def test_findings_are_told_with_file_line_and_pair_and_can_be_kept(table: Path) -> None:
    with table.open("a") as file:
        file.write("fÃ¼r &amp; wider\tx y z\nHe said: Привет, мой друг\tПривет, мой друг\n")
        file.write("A (lit. b) c\td e f\nThe dog runs. The dog runs.\tder Hund rennt weg\n")
    told = prepare(table.parent, table.name).stderr
    line = 'toy.en-de.tsv, row 403: "fÃ¼r &amp; wider" / "x y z"'
    assert f"  ! 1 repaired: HTML entities or tags; {line}   [markup]" in told
    assert "1 script" in told and 'row 404: "He said: Привет, мой друг"' in told
    listing = f"nmt prepare {table.name} --report report.html --force"
    assert "! 1 repaired: a note such as (lit. ...)" in told
    assert "! 1 reported: the same text twice in a cell" in told
    assert f"To list their rows: {listing}\n" in told
    assert "To list their rows" not in prepare(table.parent, *listing.split()[2:]).stderr
    kept = prepare(table.parent, table.name, "--force", "--keep", "script", "--keep", "empty").stderr
    assert "dropped 1: 1 duplicate " in kept and "! 1 kept: one side is in a script" in kept


@pytest.mark.slow
def test_the_sample_of_the_project_is_prepared_in_seconds(tmp_path: Path) -> None:
    done = prepare(tmp_path, str(SAMPLE))
    assert done.returncode == 0
    assert "50,000 pairs eng -> deu" in done.stderr
    assert "subwords 4,000 (2,880 for the target), joint unigram" in done.stderr


@pytest.mark.parametrize(
    ("name", "data", "code", "message"),
    [
        ("nothing.tsv", None, 66, "nothing.tsv does not exist"),
        ("empty.tsv", b"", 65, "empty.tsv is empty"),
        ("one.tsv", b"a\tb\nonly\n", 65, "one.tsv, row 2: one column"),
        ("latin.tsv", b"a\tb\n\x81\tb\n", 65, "latin.tsv, line 2: invalid UTF-8"),
        ("wide.tsv", "a\tb\n".encode("utf-16"), 65, "wide.tsv: 1 pair can be used"),
        ("cut.tsv.gz", b"\x1f\x8b\x08", 65, "cut.tsv.gz is damaged"),
        ("bomb.tmx", b'<!DOCTYPE a [<!ENTITY a "b">]><tmx/>', 65, "declares entities"),
        ("quote.csv", b'a,b\nc,"' + b"d,e\n" * 50_000, 65, "quote.csv, row 2: field larger than"),
        ("nul.tsv", b"a\tb\nc\td\0\n", 65, "nul.tsv, line 2: a NUL byte"),
        ("blank.tsv", b"\n\n\n", 65, "blank.tsv: "),
        ("few.tsv", b"a\tb\n", 65, "few.tsv: 1 pair can be used, too few to split: the splits need at least 10"),
        (".", None, 66, "is a directory"),
    ],
)
def test_bad_input_is_told_in_two_lines_and_leaves_nothing(
    tmp_path: Path, name: str, data: bytes | None, code: int, message: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    before = sorted(tmp_path.iterdir())
    done = prepare(tmp_path, name)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--vocab-size", "60000"], 2, "yields at most"),
        (["--vocab-size", "20"], 2, "characters of this text"),
        (["--tokenizer", "chra"], 2, "chra"),
        (["--max-ratio", "0"], 2, "--max-ratio is 0"),
        (["--keep", "swaped"], 2, "there is no check 'swaped'"),
        (["--keep", "held-out"], 2, "cannot be kept"),
        (["--format", "tsvv"], 2, "did you mean 'tsv'?"),
        (["--encoding", "klingon"], 2, "there is no encoding 'klingon'"),
        (["--dev", "100%"], 2, "a share must be between 0 and 1"),
        (["--test", "300"], 65, "340 of them would be held out"),
        (["--test", "missing.tsv"], 66, "missing.tsv does not exist"),
        (["--source-file", "toy.en-de.tsv"], 2, "--source-file needs --target-file"),
        (["--strict"], 65, "--strict: 1 empty, 1 duplicate (first: toy.en-de.tsv, row 402)"),
        (["--report", "r.doc"], 2, "end the name with .html or .json"),
        (["--data", "toy.en-de.tsv"], 73, "toy.en-de.tsv is a file"),
        (["--data", ".", "--force"], 73, "something other than a prepared corpus"),
    ],
)
def test_options_that_cannot_be_are_told_and_leave_nothing(
    table: Path, options: list[str], code: int, message: str
) -> None:
    done = prepare(table.parent, table.name, *options)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_without_write_permission_is_refused(table: Path) -> None:
    table.parent.chmod(0o500)
    try:
        done = prepare(table.parent, table.name)
    finally:
        table.parent.chmod(0o700)
    assert done.returncode == 73
    assert "no permission to write" in done.stderr


def test_an_interruption_is_answered_at_once_and_leaves_no_half_directory(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nmt_cli", "prepare", str(SAMPLE), "-v"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SAMPLE.parents[1]), os.environ.get("PYTHONPATH", "")]),
    }
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".prepared.*.partial")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=5)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", sample([0, 1, 5, 20, 60, 100, 140], 3))
def test_ctrl_c_while_workers_start_ends_everything_in_silence(tmp_path: Path, moment: int) -> None:
    pressed, folder = tmp_path / "hook" / "pressed", tmp_path / "empty"
    folder.mkdir()
    environment = hook_interrupt(pressed, moment)
    environment["PYTHONPATH"] += os.pathsep + str(SAMPLE.parents[1])
    command = [sys.executable, "-c", WITH_WORKERS, "prepare", str(SAMPLE)]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        _, told = process.communicate(timeout=120)
    assert (process.returncode, pressed.exists()) == (130, True)
    assert "Traceback" not in told and "KeyboardInterrupt" not in told
    assert list(folder.iterdir()) == []
