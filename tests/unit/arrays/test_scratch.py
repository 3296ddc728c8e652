"""Arrays in files: equal to those in memory, and gone when the work is done."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.arrays import scratch
from nmt_cli.arrays.scratch import Column, Scratch, count_numbers, find_first, find_members
from nmt_cli.errors import DamagedError


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "BLOCK", 7)
    monkeypatch.setattr(scratch, "SMALL", 0)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_permutation_is_that_of_numpy(tmp_path: Path, on_disk: bool) -> None:
    arrays = Scratch(tmp_path if on_disk else None)
    permuted = arrays.draw_order(100, np.random.default_rng(1))
    assert permuted.tolist() == np.random.default_rng(1).permutation(100).tolist()


def test_a_large_array_is_in_a_file_without_a_name(tmp_path: Path) -> None:
    array = Scratch(tmp_path).make_array(1000, np.int64)
    assert isinstance(array.base, np.memmap) and not array.any() and not list(tmp_path.iterdir())


def test_a_full_disk_is_an_error_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(scratch.os, "posix_fallocate", refuse)
    with pytest.raises(OSError, match="No space left"):
        Scratch(tmp_path).make_array(1000, np.int64)


@pytest.mark.parametrize("error", [AttributeError(), OSError(errno.EOPNOTSUPP, "Operation not supported")])
def test_where_space_cannot_be_reserved_the_array_is_there_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: int) -> None:
        raise error

    monkeypatch.setattr(scratch.os, "posix_fallocate", refuse)
    array = Scratch(tmp_path).make_array(1000, np.int64)
    array[-1] = 7
    assert array.sum() == 7


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_column_has_what_was_appended(tmp_path: Path, on_disk: bool) -> None:
    column = Column(np.uint16, tmp_path / "column" if on_disk else None)
    assert column.read().tolist() == []
    column.append(np.array([1, 2]))
    assert column.read().tolist() == [1, 2]
    column.append(np.array([3]))
    values = column.read()
    values[0] = 9
    assert (values.tolist(), len(column)) == ([9, 2, 3], 3)
    column.close()


def test_a_column_goes_on_behind_what_remains_of_an_earlier_one(tmp_path: Path) -> None:
    first = Column(np.int64, tmp_path / "column")
    first.append(np.arange(5))
    first.close()
    second = Column(np.int64, tmp_path / "column", 3)
    second.append(np.array([7]))
    assert second.read().tolist() == [0, 1, 2, 7]
    second.close()


def test_a_column_that_is_shorter_than_it_was_is_refused(tmp_path: Path) -> None:
    (tmp_path / "column").write_bytes(bytes(7))
    with pytest.raises(DamagedError, match="shorter"):
        Column(np.int64, tmp_path / "column", 1)


def test_rows_are_found_counted_and_compared_block_by_block() -> None:
    numbers = np.arange(50) % 5
    assert Scratch().find_rows(numbers == 4).tolist() == list(range(4, 50, 5))
    assert find_first(numbers == 4, 3) == [4, 9, 14]
    assert count_numbers(numbers, 6, numbers > 1).tolist() == [0, 0, 10, 10, 10, 0]
    assert find_members(numbers, np.array([0, 3])).tolist() == (numbers == 3).tolist(), "0 is the key of none"
