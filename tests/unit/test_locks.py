"""A lock of a file keeps others out while it is held, and leaves no file behind."""

from pathlib import Path

import pytest

from nmt_cli.files import hold_file, is_at


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
