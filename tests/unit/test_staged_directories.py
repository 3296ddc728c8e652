"""Directories that are written beside their place and renamed: one wins, nothing is missing, nothing is left."""

import errno
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from nmt_cli import files
from nmt_cli.errors import OutputError
from nmt_cli.files import hold_file, is_at, stage_directory, take_lock


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
    """One was killed between its two renamings, another while it wrote; a third still writes."""
    (tmp_path / ".out.12.old").mkdir()
    (tmp_path / ".out.12.old" / "a").write_text("old")
    for name in (".out.new.partial", ".out.stale.partial", ".other.stale.partial"):
        (tmp_path / name).mkdir()
    held = take_lock(tmp_path / ".out.new.partial")
    assert held is not None
    with pytest.raises(OutputError, match="already exists"), stage_directory(tmp_path / "out", replace=False):
        pass
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.stale.partial", ".out.new.partial", "out"]
    os.close(held)


def test_where_no_locks_are_what_is_staged_remains_for_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "take_lock", lambda _: None)
    for name in (".out.new.partial", ".out.stale.partial"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / ".out.stale.partial", (0, 0))
    with stage_directory(tmp_path / "out", replace=False):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.new.partial", "out"]


def test_what_is_left_of_a_directory_with_a_longer_name_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / ".out.v2.12.old").mkdir()
    (tmp_path / ".out.v2.stale.partial").mkdir()
    os.utime(tmp_path / ".out.v2.stale.partial", (0, 0))
    with stage_directory(tmp_path / "out", replace=False):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.v2.12.old", ".out.v2.stale.partial", "out"]


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


# A lock of a file keeps others out while it is held, and leaves no file behind.


def test_a_file_is_held_by_one_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with hold_file(path), pytest.raises(BlockingIOError), hold_file(path):
        pass
    assert not path.exists()
    with hold_file(path):
        assert path.exists()


def test_a_file_that_was_replaced_is_another(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    with path.open() as file:
        assert is_at(file.fileno(), path)
        path.rename(tmp_path / "y")
        assert not is_at(file.fileno(), path)
        path.touch()
        assert not is_at(file.fileno(), path)
