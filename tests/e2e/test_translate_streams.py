"""`nmt translate` as a program among others: pipes that wait, pipes that close, workers, interrupts, formats."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from support.commands import nmt
from support.interrupts import hook_interrupt
from support.slow import sample

NASTY = "bade.\n\n\0\n\x1b[31m\nlu\u2028ma\u2029\x85\v\f\rgi.\r\n\r\n\ufeff\n😀 שלום\n\u202eko\n   \t\nno newline"


@pytest.fixture(scope="module", autouse=True)
def lines_file(place: Path) -> None:
    """Makes `lines.txt`, of 2,100 lines, most of them blank, which are translated in three blocks."""
    lines = ("" if n % 8 else f"bade {'giko ' * (n % 5)}{n}." for n in range(2100))
    (place / "lines.txt").write_text("".join(f"{line}\n" for line in lines))


def command(*arguments: str) -> Sequence[str]:
    search = [] if "--score" in arguments else ["--beam-size", "1", "--max-length", "8"]
    return [sys.executable, "-m", "nmt_cli", "translate", *search, *arguments]


def translated(place: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = nmt(*command(*arguments)[3:], cwd=place, text=data)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.encode(), done.stderr.encode())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_line_in_is_a_line_out_for_awkward_text(place: Path, workers: str) -> None:
    arguments = command("--workers", workers)
    done = subprocess.run(arguments, cwd=place, input=NASTY.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.decode().splitlines()) == done.stdout.count(b"\n") == NASTY.count("\n") + 1
    blank = [not re.sub(r"\x1b\[\d+m|[\x00-\x20\x7f-\x9f\ufeff]", "", line) for line in NASTY.split("\n")]
    assert [not line.strip() for line in done.stdout.decode().split("\n")[:-1]] == blank
    assert done.stdout.count(b"\r\n") == NASTY.count("\r\n") == done.stdout.count(b"\r")


def test_bytes_that_are_no_utf8_are_replaced_where_asked(place: Path) -> None:
    data = b"bade.\ncaf\xe9 \xff\nlu.\n"
    assert translated(place, data=data).returncode == 65
    done = translated(place, "--errors", "replace", data=data)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 3)


@pytest.mark.parametrize(
    ("options", "data"), [([], b"bade.\nlu.\ncaf\xe9\n"), (["--score"], b"bade.\tlu.\nlu.\tko.\nno pair\n")]
)
def test_the_lines_of_a_file_before_one_that_will_not_do_are_answered(
    place: Path, options: list[str], data: bytes
) -> None:
    (place / "bad.txt").write_bytes(data)
    done = translated(place, *options, "bad.txt")
    assert (done.returncode, done.stdout.count(b"\n")) == (65, 2), done.stderr


def test_workers_write_what_one_process_writes(place: Path) -> None:
    two = subprocess.run(command("lines.txt", "--workers", "2"), cwd=place, capture_output=True, check=True)
    assert two.stdout.count(b"\n") == 2100
    assert two.stdout == translated(place, "lines.txt").stdout


@contextmanager
def started(place: Path, *arguments: str, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs while the block does, in a session of its own; nothing of it is left, whatever happens."""
    with subprocess.Popen(command(*arguments), cwd=place, start_new_session=True, **streams) as program:
        try:
            yield program
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_line_is_answered_before_the_next_is_sent(place: Path, workers: str) -> None:
    with started(place, "--workers", workers, **PIPES) as program:
        assert program.stdin and program.stdout
        for line in (b"bade.\n", b"\n", b"giko lu.\n"):
            program.stdin.write(line)
            program.stdin.flush()
            assert program.stdout.readline().endswith(b"\n")
        assert (program.communicate(timeout=30)[0], program.returncode) == (b"", 0)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_closed_pipe_ends_it_silently(place: Path, workers: str) -> None:
    with started(place, "lines.txt", "--workers", workers, **PIPES) as program:
        assert program.stdout and program.stderr
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
        program.wait(30)


@pytest.mark.parametrize("moment", sample([0, 1, 5, 20, 40, 60, 80, 100, 120, 140], 0, 3, 6))
def test_ctrl_c_while_workers_start_ends_everything_in_silence(place: Path, tmp_path: Path, moment: int) -> None:
    pressed, out = tmp_path / "hook" / "pressed", tmp_path / "out.txt"
    environment = hook_interrupt(pressed, moment)
    with started(place, "--workers", "2", "-o", str(out), **PIPES, env=environment) as program:
        assert program.stdin and program.stderr
        said = program.stderr.read().decode()  # to the end of the last process that has it
        assert (program.wait(30), pressed.exists()) == (130, True)
        assert "Traceback" not in said and "KeyboardInterrupt" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["hook"]


def test_a_request_to_end_leaves_no_half_file(place: Path, tmp_path: Path) -> None:
    with started(place, "-o", str(tmp_path / "out.txt"), stdin=subprocess.PIPE) as program:
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        program.terminate()
        assert program.wait(30) == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("closed", "code", "message"), [("<&-", 0, ""), (">&-", 73, "standard output is closed"), ("2>&-", 0, "")]
)
def test_closed_streams_are_no_traceback(place: Path, closed: str, code: int, message: str) -> None:
    done = subprocess.run(
        f"{shlex.join(command())} {closed}", shell=True, cwd=place, input=b"bade.\n", capture_output=True, check=False
    )
    assert done.returncode == code and message in done.stderr.decode() and b"Traceback" not in done.stderr


def test_nothing_is_sent_anywhere_and_nothing_left_in_the_home_directory(place: Path, tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}  # as outside of CI
    done = subprocess.run(command(), cwd=place, input=b"bade.\n", env={**kept, "HOME": str(tmp_path)}, check=True)
    assert done.returncode == 0 and not list(tmp_path.iterdir())


def test_a_dash_is_a_standard_stream(place: Path) -> None:
    done = translated(place, "-", "-o", "-", data=b"bade.\n")
    assert done.stdout == translated(place, data=b"bade.\n").stdout and done.stdout
    assert not (place / "-").exists()
    assert translated(place, "-", "lines.txt").returncode == 2


def test_places_in_a_document_on_standard_input_are_its_lines(place: Path) -> None:
    page = "<html>\n<body>\n<h1>Title</h1>\n<p>Our landlord evicted the lodgers.</p>\n</body></html>\n"
    done = nmt("translate", "--model", "eng-deu", "--beam-size", "1", cwd=place, text=page)
    assert "low confidence (line 4)" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("a.tsv", "id\ttext\n1\tbade.\n", ["--column", "text"]),
        ("a.csv", "id,text\n1,bade.\n", ["--column", "text"]),
        ("a.jsonl", '{"text": "bade."}\n', ["--column", "text"]),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nbade.\n", []),
        ("a.po", 'msgid "bade."\nmsgstr ""\n', []),
        ("a.md", "# bade\n\n- **giko** lu.\n", []),
    ],
)
def test_a_format_is_known_by_its_ending(
    place: Path, tmp_path: Path, name: str, text: str, arguments: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    done = translated(place, str(tmp_path / name), "-o", str(tmp_path / "out"), *arguments)
    assert (done.returncode, done.stdout) == (0, b"")
    written = (tmp_path / "out").read_text()
    assert written != text
    assert translated(place, "--format", name[2:], *arguments, data=text.encode()).stdout.decode() == written


def on_a_terminal(place: Path, *arguments: str, typing: Sequence[bytes], prompt: str = "") -> tuple[int, list[str]]:
    """Exit code and what stands on the screen in the end; each of `typing` is sent when the prompt is there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    with subprocess.Popen(command(*arguments), cwd=place, env=environment, **streams) as program:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # Linux tells the end of a terminal as an error
            for keys in typing:
                while not shown.endswith(prompt.encode()):
                    shown += os.read(ours, 1000)
                os.write(ours, keys)
                shown += b"|"
            while more := os.read(ours, 1000):
                shown += more
    os.close(ours)
    return program.returncode, shown.decode(errors="replace").replace("\r", "").splitlines()


def test_on_a_terminal_there_is_a_prompt_and_the_translation_stands_below(place: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "nmt_cli", "translate"]
    with subprocess.Popen(command, cwd=place, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        shown = b""
        for awaited, answer in (("› ", b"bade giko.\n"), ("› ", b"\x04")):
            while not shown.endswith(awaited.encode()):
                shown += os.read(ours, 1000)
            os.write(ours, answer)
            shown += b"|"
        with suppress(OSError):  # Linux tells the end of a terminal as an error
            while more := os.read(ours, 1000):
                shown += more
    os.close(ours)
    lines = shown.decode().replace("\r", "").split("\n")
    assert process.returncode == 0
    assert "One sentence per line; Ctrl-D to stop." in lines[0]
    assert lines[2].startswith("  ") and lines[2].strip()


def test_what_is_typed_in_bytes_that_are_no_utf8_is_told_or_replaced(place: Path) -> None:
    code, shown = on_a_terminal(place, typing=[b"\xff\n"], prompt="› ")
    assert code == 65
    assert "error: typed line 1 is invalid UTF-8: byte 0xff" in "".join(shown)
    code, shown = on_a_terminal(place, "--errors", "replace", typing=[b"\xff\n", b"\x04"], prompt="› ")
    assert code == 0 and any(line.startswith("  ") for line in shown)


def test_with_an_option_about_documents_a_terminal_is_read_as_one(place: Path) -> None:
    code, shown = on_a_terminal(
        place, "--format", "jsonl", "--column", "text", typing=[b'{"text": "bade."}\n', b"\x04"]
    )
    assert code == 0
    assert any('"text_yy"' in line for line in shown) and not any("›" in line for line in shown)


def test_pairs_are_scored_from_a_table_as_from_a_pipe(place: Path, tmp_path: Path) -> None:
    pairs = "bade giko.\tokig edab.\nlu.\tul.\n"
    (tmp_path / "pairs.tsv").write_text(pairs)
    named = translated(place, "--score", str(tmp_path / "pairs.tsv"))
    assert named.stdout.endswith(b"\tul.\n")
    assert named.stdout == translated(place, "--score", data=pairs.encode()).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.csv"], "--column is missing: which column of a.csv should nmt translate?"),
        (["a.md", "--scores"], "a Markdown page can store only the translation"),
        (["a.md", "lines.txt"], "several files, one of them md, cannot be joined into one"),
    ],
)
def test_what_cannot_be_is_said(place: Path, arguments: list[str], message: str) -> None:
    (place / "a.csv").write_text("id,text\n")
    (place / "a.md").write_text("text\n")
    done = translated(place, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[0] == f"error: {message}"


def test_one_process_imports_nothing_that_it_does_not_need(place: Path) -> None:
    code = (
        "import sys; sys.argv = ['nmt', 'translate', '--beam-size', '1', 'one.txt'];"
        "from nmt_cli.cli.app import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "names = ('nmt_cli.workers.pool', 'ray', 'mdurl', *(f'nmt_cli.{name}' for name in ("
        " 'formats.reader', 'documents.encodings', 'documents.reading_back', 'documents.paragraph',"
        " 'translation.placement.span_placement', 'translation.memory.lookup', 'translation.memory.recall',"
        " 'translation.forced')))\n"
        "from importlib.util import find_spec\n"
        "assert all(find_spec(name) for name in names if name.startswith('nmt_cli.'))\n"
        "print([name for name in names if name in sys.modules])"
    )
    (place / "one.txt").write_text("bade.\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
