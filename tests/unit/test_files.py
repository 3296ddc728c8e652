from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from nmt_cli.errors import ExitCode, NotFoundError, OptionError, OutputError, convert_os_error
from nmt_cli.files import hash_file, require_file, require_output, stage_directory, stage_file, write_json


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


def test_a_staged_directory_replaces_the_old_one_whole_and_only_if_told(tmp_path: Path) -> None:
    path = tmp_path / "d"
    with stage_directory(path, replace=False) as staged:
        (staged / "one").touch()
    with pytest.raises(OutputError, match="already exists"), stage_directory(path, replace=False):
        pass
    with stage_directory(path, replace=True) as staged:
        (staged / "two").touch()
    assert [entry.name for entry in path.iterdir()] == ["two"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_a_directory_that_is_replaced_can_be_kept_in_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "d"
    for content in ("one", "two", "three"):
        with stage_directory(path, replace=True, keep_as="previous") as staged:
            (staged / "f").write_text(content)
    assert (path / "f").read_text() == "three" and (path / "previous" / "f").read_text() == "two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]
    assert sorted(entry.name for entry in (path / "previous").iterdir()) == ["f"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems rename twice")
def test_a_directory_is_never_missing_while_it_is_replaced(tmp_path: Path) -> None:
    path, done, missing = tmp_path / "d", threading.Event(), list[OSError]()

    def read() -> None:
        while not done.is_set():
            try:
                (path / "f").read_text()
            except OSError as error:
                missing.append(error)

    path.mkdir()
    (path / "f").write_text("0")
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        with stage_directory(path, replace=True) as staged:
            (staged / "f").write_text(str(number))
    done.set()
    reader.join()
    assert not missing


def test_of_several_that_fill_one_directory_one_wins_and_the_others_say_so(tmp_path: Path) -> None:
    path = tmp_path / "d"
    loses = pytest.raises(OutputError, match="d/ already exists: another process has written it in the meantime")
    with loses, stage_directory(path, replace=False) as first:
        (first / "one").touch()
        with stage_directory(path, replace=False) as second:
            (second / "two").touch()
    assert [entry.name for entry in path.iterdir()] == ["two"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_of_several_that_replace_one_directory_at_once_the_last_stays(tmp_path: Path) -> None:
    path = tmp_path / "d"
    (path / "old").mkdir(parents=True)
    with stage_directory(path, replace=True) as first:
        (first / "one").touch()
        with stage_directory(path, replace=True) as second:
            (second / "two").touch()
    assert [entry.name for entry in path.iterdir()] == ["one"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize(("written", "named"), [("train.tsv", "train.tsv"), (None, "")])
def test_an_error_names_the_directory_that_was_typed(tmp_path: Path, written: str | None, named: str) -> None:
    with pytest.raises(OSError) as caught, stage_directory(tmp_path / "d", replace=False) as staged:
        raise OSError(errno.ENOSPC, "no space", None if written is None else str(staged / written))
    assert str(caught.value.filename) == str(tmp_path / "d" / named)


def test_a_link_to_a_directory_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    with stage_directory(link, replace=False) as staged:
        (staged / "new").touch()
    assert link.is_symlink() and sorted(tmp_path.iterdir()) == [link, place]
    assert [path.name for path in place.iterdir()] == ["new"]


def test_a_link_that_leads_nowhere_leads_to_the_new_directory(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "place" / "below")
    with stage_directory(link, replace=False) as staged:
        (staged / "new").touch()
    assert link.is_symlink() and (tmp_path / "place" / "below" / "new").is_file()


def test_a_private_directory_stays_private(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    with stage_directory(place, replace=True) as staged:
        assert stat.S_IMODE(staged.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
def test_an_interrupted_directory_leaves_nothing(tmp_path: Path, interruption: type[BaseException]) -> None:
    with pytest.raises(interruption), stage_directory(tmp_path / "d", replace=False) as staged:
        (staged / "half").touch()
        raise interruption
    assert not list(tmp_path.iterdir())


def test_what_killed_processes_left_is_put_back_or_cleared_away(tmp_path: Path) -> None:
    """One was killed between its two renamings; others while they wrote, today and days ago."""
    (tmp_path / ".out.12.old").mkdir()
    (tmp_path / ".out.12.old" / "a").write_text("old")
    for name in (".out.new.partial", ".out.stale.partial", ".other.stale.partial"):
        (tmp_path / name).mkdir()
        if "stale" in name:
            os.utime(tmp_path / name, (0, 0))
    with pytest.raises(OutputError, match="already exists"), stage_directory(tmp_path / "out", replace=False):
        pass
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.stale.partial", ".out.new.partial", "out"]


def test_what_is_left_of_a_directory_with_a_longer_name_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / ".out.v2.12.old").mkdir()
    (tmp_path / ".out.v2.stale.partial").mkdir()
    os.utime(tmp_path / ".out.v2.stale.partial", (0, 0))
    with stage_directory(tmp_path / "out", replace=False):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.v2.12.old", ".out.v2.stale.partial", "out"]


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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.ENOENT, errno.EISDIR, errno.EACCES])
def test_no_file_is_spoken_of_where_the_system_names_none(number: int) -> None:
    message = convert_os_error(OSError(number, os.strerror(number))).message
    assert message and "file" not in message.replace("such file", "") and not message.startswith(":")


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="needs a file that cannot be read")
def test_a_file_that_opens_but_cannot_be_read_is_named() -> None:
    with pytest.raises(NotFoundError, match=r"^/proc/self/mem cannot be read: "):
        require_file(Path("/proc/self/mem"))


def test_an_interruption_right_after_staging_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_directory = Path.mkdir

    def make_and_interrupt(path: Path, *arguments: Any, **options: Any) -> None:
        make_directory(path, *arguments, **options)
        if path.suffix == ".partial":
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "mkdir", make_and_interrupt)
    with pytest.raises(KeyboardInterrupt), stage_directory(tmp_path / "prepared", replace=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_to_write_is_refused_before_the_work_but_a_device_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="is a directory"):
        require_output(tmp_path, "--report")
    with pytest.raises(OutputError, match="file is a file"):
        require_output(tmp_path / "file" / "new" / "r.html", "--report")
    for name in ("file", "new", "a/b/new"):
        require_output(tmp_path / name, "--report")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for name in ("file", "new", "a/b/new"):
        with pytest.raises(OutputError, match=f"no permission to write in {tmp_path}/$") as problem:
            require_output(tmp_path / name, "--report")
        assert "--report" in problem.value.hint
    require_output(Path(os.devnull), "--report")
