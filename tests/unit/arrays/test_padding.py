from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.padding import pad_ragged, pad_rows
from nmt_cli.arrays.ragged import Ragged

RAGGED = Ragged.from_sequences([[[5, 6, 7], [8], [], [9, 4]]], vocabulary_size=10)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, [[8, 0, 0], [5, 6, 7], [0, 0, 0]]),
        (2, None, [[2, 8, 0, 0], [2, 5, 6, 7], [2, 0, 0, 0]]),
        (None, 3, [[8, 3, 0, 0], [5, 6, 7, 3], [3, 0, 0, 0]]),
        (2, 3, [[2, 8, 3, 0, 0], [2, 5, 6, 7, 3], [2, 3, 0, 0, 0]]),
    ],
)
def test_rows_are_padded_after_their_end(start: int | None, end: int | None, expected: list[list[int]]) -> None:
    padded = pad_ragged(RAGGED, np.array([1, 0, 2]), start=start, end=end)
    assert padded.dtype == np.int32
    assert padded.tolist() == expected


def test_no_rows_make_an_empty_array() -> None:
    assert pad_ragged(RAGGED, np.array([], dtype=np.int64), end=3).shape == (0, 1)


@given(st.lists(st.lists(st.integers(0, 99), max_size=6), max_size=5))
def test_rows_of_ids_are_padded_as_ragged_ones_are(rows: list[list[int]]) -> None:
    ragged = Ragged.from_sequences([rows], vocabulary_size=100)
    padded = pad_rows(rows)
    assert padded.dtype == np.int32
    np.testing.assert_array_equal(padded, pad_ragged(ragged, np.arange(len(rows))))


def test_rows_of_vectors_keep_their_width_and_have_the_fill_asked_for() -> None:
    padded = pad_rows([np.ones((1, 2)), np.zeros((2, 2))], fill=np.nan, dtype=np.float32)
    assert (padded.shape, padded.dtype) == ((2, 2, 2), np.float32)
    assert np.isnan(padded[:, :, 0]).tolist() == [[False, True], [False, False]]
