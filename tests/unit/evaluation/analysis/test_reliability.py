import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.evaluation.analysis.reliability import (
    compute_auc,
    compute_calibration_error,
    format_reliability,
    measure_reliability,
    score_surest,
    split_bins,
)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[int, bool]]) -> None:
    good = [score for score, is_good in pairs if is_good]
    bad = [score for score, is_good in pairs if not is_good]
    scores = np.array([score for score, _ in pairs], dtype=float)
    area = compute_auc(scores, np.array([is_good for _, is_good in pairs]))
    if not good or not bad:
        assert area == 0.5
        return
    wins = sum((a > b) + (a == b) / 2 for a in good for b in bad)
    assert area == pytest.approx(wins / (len(good) * len(bad)))


def test_the_calibration_error_of_a_hand_worked_example() -> None:
    confidences = np.array([0.1] * 10 + [0.9] * 10)
    good = np.array([True] * 3 + [False] * 7 + [True] * 10)
    bins = split_bins(confidences, good)
    assert [part.sentences for part in bins] == [2] * 10
    # The first bin is all good and the second half: |0.1 - 1|, |0.1 - 0.5|, three of |0.1 - 0|, five of |0.9 - 1|.
    assert compute_calibration_error(bins) == pytest.approx((0.9 + 0.4 + 3 * 0.1 + 5 * 0.1) / 10)


def test_confidences_that_are_the_truth_have_no_error() -> None:
    good = np.arange(100) >= 30
    assert compute_calibration_error(split_bins(good.astype(float), good)) == 0


def test_leaving_out_the_least_sure_raises_the_score() -> None:
    values = np.array([10.0, 90.0, 50.0, 70.0])
    confidences = np.array([0.1, 0.9, 0.3, 0.6])
    assert score_surest(confidences, values, 0.0) == 55
    assert score_surest(confidences, values, 0.5) == 80
    assert score_surest(confidences, values, 1.0) == 90


def test_all_of_it_is_measured_and_told() -> None:
    values = [20.0, 80.0] * 50
    measured = measure_reliability([0.2, 0.9] * 50, [-1.0] * 100, values, 50)
    assert (measured.good, measured.auc, measured.plain_auc) == (0.5, 1.0, 0.5)
    assert measured.calibration_error == pytest.approx(0.15)
    assert measured.coverage[0] == (0.0, 50.0) and measured.coverage[-1] == (0.5, 80.0)
    summary = " ".join(format_reliability(measured))
    assert "ECE 0.150" in summary and "AUC 1.000 (mean log-probability 0.500)" in summary and "50% 80.0" in summary
    assert measured.to_mapping()["chrf_without_least_sure"][-1] == [0.5, 80.0]
