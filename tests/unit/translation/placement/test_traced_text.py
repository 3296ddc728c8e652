"""The heaviest run is the one that a search over all runs would return."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.translation.placement.traced_text import find_heaviest_run


def test_a_stray_weight_does_not_stretch_a_run() -> None:
    assert find_heaviest_run([1, -1, -1, -1, 1, 1, -1, 1]) == (4, 6)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_no_run_is_heavier(weights: list[int]) -> None:
    start, end = find_heaviest_run(weights)
    sums = [sum(weights[i:j]) for i in range(len(weights)) for j in range(i + 1, len(weights) + 1)]
    assert start < end
    assert sum(weights[start:end]) == max(sums)


def test_of_no_weights_there_is_no_run() -> None:
    with pytest.raises(ValueError):
        find_heaviest_run([])
