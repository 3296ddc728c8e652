"""Measures of attention: its entropy, and its share near the diagonal."""

import numpy as np
import pytest

from nmt_cli.api.drawings.attention import compute_diagonal_share, compute_entropy


def test_entropy_is_in_bits_and_a_mean_over_the_words() -> None:
    assert compute_entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])) == pytest.approx(1)


def test_the_diagonal_is_as_wide_as_a_word_at_least() -> None:
    assert compute_diagonal_share(np.eye(5)) == pytest.approx(1)
    assert compute_diagonal_share(np.eye(5)[::-1]) == pytest.approx(1 / 5)
    assert compute_diagonal_share(np.full((4, 8), 1 / 8)) < 0.5
    assert compute_diagonal_share(np.ones((1, 1))) == 1
