"""Rows with equal keys, and groups of connected rows, whatever the sizes of blocks and partitions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays import equal_rows, scratch
from nmt_cli.arrays.equal_rows import (
    EqualRows,
    Keys,
    connect_rows,
    find_equal_rows,
    mark_repeated,
    store_edges,
    store_equal_rows,
)
from nmt_cli.arrays.scratch import Scratch

# Keys are spread over all partitions; there are few, so that many are equal. 0 is the key of none.
ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.booleans()), min_size=1, max_size=60)
SIZES = st.tuples(st.integers(1, 9), st.integers(1, 30))


def spread(numbers: list[int]) -> Keys:
    return np.array(numbers, np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def cut_small(patch: pytest.MonkeyPatch, sizes: tuple[int, int]) -> None:
    """Sets the sizes of blocks and of partitions, and puts every array into a file."""
    patch.setattr(scratch, "BLOCK", sizes[0])
    patch.setattr(scratch, "SMALL", 0)
    patch.setattr(equal_rows, "PARTITION", sizes[1])


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
