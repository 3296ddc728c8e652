import numpy as np
import pytest

from nmt_cli.evaluation.analysis.reliability import compute_auc, compute_calibration_error, split_bins
from nmt_cli.training.publish import choose_threshold, cross_validate, describe_fit, fit_logistic
from nmt_cli.translation.checks.confidence import FEATURES, GOOD_CHRF, LOW_CONFIDENCE, ConfidenceModel


def draw(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Features of which the first two say how probable it is that a translation is good, and whether it is."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(count, len(FEATURES)))
    features[:, 5] = np.nan  # unknown
    features[:, 6] = 3.0  # the same for all
    logits = 2 * features[:, 0] - features[:, 1] + 0.5
    return features, generator.random(count) < 1 / (1 + np.exp(-logits))


def test_the_weights_that_made_the_data_are_found() -> None:
    features, good = draw(20_000)
    model = fit_logistic(features, good)
    weights = np.array(model.weights) / model.scales
    assert weights[:2] == pytest.approx([2, -1], abs=0.1)
    assert np.abs(weights[2:]).max() < 0.1
    assert model.weights[5] == model.weights[6] == 0


def test_it_is_calibrated_on_other_data() -> None:
    model = fit_logistic(*draw(2_000))
    features, good = draw(5_000, seed=2)
    predicted = model.rate(features)
    assert compute_calibration_error(split_bins(predicted, good)) < 0.03
    assert compute_auc(predicted, good) > 0.85


def test_each_sentence_is_predicted_by_a_model_that_never_saw_it() -> None:
    features, good = draw(400)
    noise = np.random.default_rng(3).normal(size=features.shape)
    assert 0.4 < compute_auc(cross_validate(noise, good), good) < 0.6


def test_what_the_card_gets_gives_the_model_back() -> None:
    features, good = draw(500)
    values = np.where(good, GOOD_CHRF + 10, GOOD_CHRF - 10)
    entry = describe_fit(features, values)
    assert entry["sentences"] == 500 and 0.7 < entry["quality"]["auc"] < 1
    assert ConfidenceModel.from_mapping(entry).rate(features) == pytest.approx(
        fit_logistic(features, good).rate(features)
    )


def test_nothing_is_learned_where_nearly_all_or_none_are_good() -> None:
    features, _ = draw(500)
    assert "too few or too many" in describe_fit(features, np.full(500, GOOD_CHRF + 1))["refused"]
    assert "too few or too many" in describe_fit(features, np.full(500, GOOD_CHRF - 1))["refused"]


def test_at_most_three_in_a_hundred_of_the_good_are_below_the_threshold() -> None:
    confidences = np.random.default_rng(4).uniform(size=1_000)
    threshold = choose_threshold(confidences)
    assert 0.027 < (confidences < threshold).mean() <= 0.03
    assert choose_threshold(confidences[:5]) == LOW_CONFIDENCE


def test_the_threshold_is_part_of_the_entry() -> None:
    features, good = draw(500)
    values = np.where(good, GOOD_CHRF + 15, GOOD_CHRF - 10)
    entry = describe_fit(features, values)
    assert 0 < entry["threshold"] == ConfidenceModel.from_mapping(entry).threshold < 1
    assert ConfidenceModel.from_mapping({**entry, "threshold": 0.25}).threshold == 0.25
    del entry["threshold"]
    assert ConfidenceModel.from_mapping(entry).threshold == LOW_CONFIDENCE
