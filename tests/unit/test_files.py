"""Tests of `files.py`.

Files: written whole or not at all, looked for, and what the system says of them. Signals and the processes that are
started.
"""

import errno
import hashlib
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from subprocess import PIPE, Popen
from time import sleep

import pytest

from nmt_cli.errors import ExitCode, NotFoundError, OptionError, OutputError, convert_os_error
from nmt_cli.files import (
    PAGE_OR_JSON,
    REPLACE,
    block_interrupts,
    hash_file,
    require_file,
    require_output,
    stage_file,
    write_json,
)


def test_a_file_takes_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.txt"
    with stage_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), stage_file(path) as temporary:
        temporary.write_text("ha")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_private_file_stays_private_also_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.touch(mode=0o640)
    with stage_file(path) as temporary:
        temporary.write_text("new")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)


def test_a_file_system_without_modes_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no modes here")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "chown", refuse)
    monkeypatch.setattr(Path, "chmod", refuse)
    with stage_file(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link"
    link.symlink_to(target)
    for text in ("new", "newer"):  # at first the link leads nowhere
        with stage_file(link) as temporary:
            temporary.write_text(text)
        assert target.read_text() == text
    assert link.is_symlink()


def test_a_pipe_stays_a_pipe_and_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # before the writer, who would wait for one
    with stage_file(path) as given:
        given.write_text("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert path.is_fifo()


def test_what_the_system_refuses_is_told_of_the_file_that_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(OSError) as caught, stage_file(path) as temporary:
        temporary.mkdir()  # stands in the way of the file
        try:
            temporary.open("w")
        finally:
            temporary.rmdir()
    assert caught.value.filename == str(path)


def test_a_missing_file_names_the_nearest_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "corpus.tsv").touch()
    with pytest.raises(NotFoundError) as caught:
        require_file(tmp_path / "corpsu.tsv")
    assert caught.value.hint == f"did you mean {tmp_path / 'corpus.tsv'}?"
    with pytest.raises(NotFoundError, match="is a directory"):
        require_file(tmp_path)


def test_a_file_that_may_not_be_read_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("hello")
    assert require_file(path) == path
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.R_OK)  # who runs the tests may be allowed everything
    with pytest.raises(NotFoundError, match="cannot be read"):
        require_file(path)


def test_the_checksum_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 1000)
    assert hash_file(tmp_path / "a") == hashlib.sha256(b"abc" * 1000).hexdigest()


def test_json_keeps_order_and_letters(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"z": "ß", "a": 1})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "z": "ß",\n  "a": 1\n}\n'


@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (errno.ENOSPC, ExitCode.CANNOT_WRITE, "the disk is full: f could not be written"),
        (errno.EDQUOT, ExitCode.CANNOT_WRITE, "the disk quota is full: f could not be written"),
        (errno.EFBIG, ExitCode.CANNOT_WRITE, "f: larger than the system allows"),
        (errno.EACCES, ExitCode.CANNOT_WRITE, "f: permission denied"),
        (errno.EROFS, ExitCode.CANNOT_WRITE, "f: read-only file system"),
        (errno.ENOENT, ExitCode.NO_INPUT, "f does not exist"),
        (errno.EISDIR, ExitCode.NO_INPUT, "f is a directory"),
        (errno.EMFILE, ExitCode.FAILURE, "f: too many open files"),
        (errno.EIO, ExitCode.FAILURE, "f: input/output error"),
    ],
)
def test_what_the_system_refuses_is_said_in_plain_words(number: int, code: ExitCode, words: str) -> None:
    error = convert_os_error(OSError(number, os.strerror(number), "f"))
    assert error.exit_code == code
    assert error.message.startswith(words)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EIO, errno.ENOENT, errno.EISDIR, errno.EACCES])
def test_no_file_is_spoken_of_where_the_system_names_none(number: int) -> None:
    message = convert_os_error(OSError(number, os.strerror(number))).message
    assert message and "file" not in message.replace("such file", "") and not message.startswith(":")


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="needs a file that cannot be read")
def test_a_file_that_opens_but_cannot_be_read_is_named() -> None:
    with pytest.raises(NotFoundError, match=r"^/proc/self/mem cannot be read: "):
        require_file(Path("/proc/self/mem"))


def test_a_file_to_write_is_refused_before_the_work_but_a_device_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="is a directory"):
        require_output(tmp_path, "--report")
    with pytest.raises(OptionError, match=r"--report cannot be r\.pdf"):
        require_output(Path("r.pdf"), "--report", endings=PAGE_OR_JSON)
    with pytest.raises(OptionError, match=r"would replace an input of this command"):
        require_output(tmp_path / ".." / tmp_path.name / "file", "--report", inputs=[tmp_path / "file"])
    require_output(tmp_path / "r.HTML", "--report", endings=PAGE_OR_JSON, inputs=[tmp_path / "file"])
    with pytest.raises(OutputError, match="file is a file"):
        require_output(tmp_path / "file" / "new" / "r.html", "--report")
    for name in ("file", "new", "a/b/new"):
        require_output(tmp_path / name, "--report")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for name in ("file", "new", "a/b/new"):
        with pytest.raises(OutputError, match=f"no permission to write in {tmp_path}/\n") as problem:
            require_output(tmp_path / name, "--report")
        assert "--report" in problem.value.hint
    require_output(Path(os.devnull), "--report")


def test_only_a_file_that_nmt_wrote_is_replaced_unasked(tmp_path: Path) -> None:
    path, beginning = tmp_path / "a.csv", "system,metric,score"
    for content, is_free in (
        ("", True),
        (f"{beginning}\n1\n", True),
        (f"{'x' * 99_999}{beginning}", True),
        ("a", False),
    ):
        path.write_text(content, encoding="utf-8")
        with nullcontext() if is_free else pytest.raises(OutputError, match=r"a\.csv already exists"):
            require_output(path, "--report", way_on=REPLACE, renewed=[beginning])
    require_output(path, "--report", renewed=[beginning])
    path.write_text(beginning, encoding="utf-8")
    with pytest.raises(OutputError, match="replace it with --force, or name another file with --report"):
        require_output(path, "--report", way_on=REPLACE)


def test_a_folder_of_a_process_goes_with_it_though_it_is_killed(tmp_path: Path) -> None:
    code = "from nmt_cli.files import make_folder_of_process as make; f = make(); (f / 'a').touch(); print(f); input()"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.parent == tmp_path and (folder / "a").exists()
        process.kill()
    for _ in range(2_000):
        if not folder.exists():
            return
        sleep(0.05)
    pytest.fail(f"{folder} is still there")


STARTS_TWO = """
import multiprocessing, time
from nmt_cli.files import PAGE_OR_JSON, block_interrupts

if __name__ == "__main__":
    processes = [multiprocessing.get_context("spawn").Process(target=time.sleep, args=[60]) for _ in range(2)]
    with block_interrupts():
        for process in processes:
            process.start()
    for process in processes:
        status = open(f"/proc/{process.pid}/status").read()
        print(next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk")))
        process.kill()
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the blocked signals in /proc")
def test_interrupts_are_blocked_from_the_first_moment_of_every_process(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STARTS_TWO)
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True)
    masks = [int(line, 16) for line in done.stdout.split()]
    assert [mask >> (signal.SIGINT - 1) & 1 for mask in masks] == [1, 1]


def test_interrupts_wait_for_the_end_of_the_block_beside_other_threads() -> None:
    waits = threading.Event()
    thread = threading.Thread(target=waits.wait)  # which blocks no signal
    thread.start()
    reached = []
    try:
        with pytest.raises(KeyboardInterrupt), block_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            reached.append("end of the block")
    finally:
        waits.set()
        thread.join()
    assert reached == ["end of the block"]
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
