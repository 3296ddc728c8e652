from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.config import ScoreConfig
from nmt_cli.evaluation.metrics.characters import compute_edit_distance
from nmt_cli.evaluation.metrics.registry import METRICS

WORDS = st.text(alphabet="abcä", max_size=12)


def by_the_table(one: str, other: str) -> int:
    """Wagner and Fischer 1974, a row at a time."""
    row = list(range(len(other) + 1))
    for i, first in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, second in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (first != second))
    return row[-1]


@given(WORDS, WORDS)
def test_the_distance_of_bits_is_that_of_the_table(one: str, other: str) -> None:
    assert compute_edit_distance(one, other) == by_the_table(one, other)


@pytest.mark.parametrize(("one", "other", "distance"), [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3)])
def test_distances_known_by_heart(one: str, other: str, distance: int) -> None:
    assert compute_edit_distance(one, other) == distance


def test_the_error_rate_is_edits_by_characters_of_the_nearest_reference() -> None:
    score = METRICS["cer"](["kitten", "ab"], [["sitting", "kittens"], ["ab", "xyz"]])
    assert score.sentence_values == pytest.approx((100 / 7, 0))
    assert score.value == pytest.approx(100 / 9)
    assert score.lower_is_better


def test_exact_match_forgives_blanks_and_composition_alone() -> None:
    score = METRICS["exact"](["e\u0301te\u0301  a", "Ja", "ja."], [["été a"], ["ja"], ["ja."]])
    assert score.sentence_values == (100, 0, 100)


def test_in_lower_case_the_signature_says_so() -> None:
    config = ScoreConfig(lowercase=True)
    exact, errors = (METRICS[name](["Das Haus"], [["das haus"]], config) for name in ("exact", "cer"))
    assert (exact.value, errors.value) == (100, 0)
    assert "case:lc" in exact.signature and "case:lc" in errors.signature
    assert METRICS["cer"](["Das Haus"], [["das haus"]]).value == 25
