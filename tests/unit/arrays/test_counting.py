"""Quantiles and medians from counts, against numpy's of all values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.counting import ValueCounts, count_values, find_float_median

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
