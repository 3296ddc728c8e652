"""Tests of `arrays/scratch.py`.

Arrays in files: equal to those in memory, and gone when the work is done. Quantiles and medians from counts, against
numpy's of all values. Rows with equal keys, and groups of connected rows, whatever the sizes of blocks and
partitions.
"""

import errno
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays import scratch
from nmt_cli.arrays.scratch import (
    Column,
    EqualRows,
    Keys,
    Scratch,
    ValueCounts,
    connect_rows,
    count_numbers,
    count_values,
    find_equal_rows,
    find_first,
    find_float_median,
    find_members,
    mark_repeated,
    store_edges,
    store_equal_rows,
)
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


VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=60)
FLOATS = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=60)


@given(VALUES, st.lists(st.floats(0, 1), min_size=1, max_size=5), st.integers(0, 60))
def test_quantiles_and_median_are_those_of_all_values(values: list[int], shares: list[float], border: int) -> None:
    counts = count_values([np.array(values[:border], np.int64), np.array(values[border:], np.int64)])
    logarithms = ValueCounts(np.log(counts.values + 10.0), counts.counts)
    everything = np.log(np.array(values) + 10.0)
    assert counts.total == len(values)
    assert logarithms.find_quantiles(shares).tolist() == np.quantile(everything, shares).tolist()
    assert logarithms.find_median() == np.median(everything)


@given(FLOATS, st.integers(0, 60))
def test_the_median_of_floats_is_that_of_all_values(values: list[float], border: int) -> None:
    parts = [np.array(values[:border], np.float32), np.array(values[border:], np.float32)]
    with np.errstate(over="ignore"):
        assert find_float_median(lambda: parts) == np.median(np.concatenate(parts))


# Keys are spread over all partitions; there are few, so that many are equal. 0 is the key of none.
ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.booleans()), min_size=1, max_size=60)
SIZES = st.tuples(st.integers(1, 9), st.integers(1, 30))


def spread(numbers: list[int]) -> Keys:
    return np.array(numbers, np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def cut_small(patch: pytest.MonkeyPatch, sizes: tuple[int, int]) -> None:
    """Sets the sizes of blocks and of partitions, and puts every array into a file."""
    patch.setattr(scratch, "BLOCK", sizes[0])
    patch.setattr(scratch, "SMALL", 0)
    patch.setattr(scratch, "PARTITION", sizes[1])


@given(ROWS, SIZES)
def test_groups_are_the_connected_components(rows: list[tuple[int, int, bool]], sizes: tuple[int, int]) -> None:
    kinds = [list(kind) for kind in list(zip(*rows, strict=True))[:2]]
    is_chosen = np.array([row[2] for row in rows])
    expected = list(range(len(rows)))
    for _ in rows:
        for one, other in np.argwhere(np.outer(is_chosen, is_chosen)).tolist():
            if any(kind[one] == kind[other] != 0 for kind in kinds):
                expected[one] = expected[other] = min(expected[one], expected[other])
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        cut_small(patch, sizes)
        arrays = Scratch(Path(folder))
        parts = [part for kind in kinds for part in store_equal_rows(spread(kind), is_chosen, arrays)]
        assert connect_rows(len(rows), parts, arrays).tolist() == expected


@given(ROWS, SIZES)
def test_repeated_rows_are_those_whose_keys_all_came_before(
    rows: list[tuple[int, int, bool]], sizes: tuple[int, int]
) -> None:
    seen: set[tuple[int, int]] = set()
    expected = []
    for source, target, is_chosen in rows:
        expected.append(is_chosen and (source, target) in seen)
        seen |= {(source, target)} if is_chosen else set()
    sources, targets, chosen = map(list, zip(*rows, strict=True))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        cut_small(patch, sizes)
        keys = [spread(sources), spread(targets)]
        assert mark_repeated(keys, np.array(chosen), Scratch(Path(folder))).tolist() == expected


def test_rows_of_a_key_come_together_in_order_and_others_not_at_all() -> None:
    keys = spread([3, 1, 2, 1, 3, 1])
    (part,) = find_equal_rows([keys], np.ones(6, np.bool_), Scratch())
    groups = np.split(part.rows, part.starts[1:])
    assert sorted(group.tolist() for group in groups) == [[0, 4], [1, 3, 5]]


def test_the_order_of_keys_matters() -> None:
    keys = [np.array([5, 9], np.uint64), np.array([9, 5], np.uint64)]
    assert not mark_repeated(keys, np.ones(2, np.bool_), Scratch()).any()


def test_what_edges_connect_has_one_label() -> None:
    part: EqualRows = store_edges(np.array([[5, 3], [3, 1], [0, 2]]), Scratch())
    assert connect_rows(6, [part], Scratch()).tolist() == [0, 1, 0, 1, 4, 1]


def test_a_long_chain_is_one_group_after_few_rounds() -> None:
    """Row n shares its source with the row before, and its target with the row behind it."""
    numbers = np.arange(1, 20_001)
    kinds = [spread((numbers // 2 + 1).tolist()), spread(((numbers + 1) // 2 + 1).tolist())]
    everywhere = np.ones(len(numbers), np.bool_)
    parts = [part for kind in kinds for part in store_equal_rows(kind, everywhere, Scratch())]
    assert not connect_rows(len(numbers), parts, Scratch()).any()
