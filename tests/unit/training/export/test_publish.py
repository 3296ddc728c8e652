from dataclasses import dataclass
from pathlib import Path

import keras
import numpy as np
import pytest

from nmt_cli.evaluation.analysis.reliability import compute_auc, compute_calibration_error, split_bins
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.checkpoints import Checkpoints, KeptEpoch
from nmt_cli.training.export.publish import (
    WeightChoice,
    choose_threshold,
    choose_weights,
    cross_validate,
    describe_fit,
    fit_logistic,
)
from nmt_cli.training.watcher import Validation
from nmt_cli.translation.checks.confidence import FEATURES, GOOD_CHRF, LOW_CONFIDENCE, ConfidenceModel

""""""


def network(seed: int) -> Seq2Seq:
    keras.utils.set_random_seed(seed)
    return Seq2Seq(
        ModelConfig.from_options(embedding=4, units=4, attention_units=2), Vocabularies(source=9, target=9, joint=True)
    )


def validation(bleu: float) -> Validation:
    return Validation(1.0, 50.0, bleu, bleu, "b", "c", "a source", "a hypothesis")


@dataclass
class Measured:
    """Stands for a validator that finds `bleu`."""

    network: Seq2Seq
    bleu: float

    def measure(self) -> Validation:
        return validation(self.bleu)


@pytest.mark.parametrize(("bleu", "epochs"), [(9.0, (3, 1)), (5.0, (3,))], ids=["better", "no better"])
def test_the_mean_of_the_best_epochs_is_taken_where_it_is_better(
    bleu: float, epochs: tuple[int, ...], tmp_path: Path
) -> None:
    models = {epoch: network(epoch) for epoch in (1, 2, 3)}
    checkpoints = Checkpoints(tmp_path, count=2)
    for epoch, score in ((1, 4.0), (2, 3.0), (3, 5.0)):
        checkpoints.keep(models[epoch], epoch, validation(score))
    validator = Measured(network(9), bleu)
    chosen = choose_weights(checkpoints, validator, None)  # type: ignore[arg-type]
    assert (chosen.epochs, chosen.validation.bleu) == (epochs, bleu)
    for number, weight in enumerate(validator.network.weights):
        expected = np.mean([models[epoch].weights[number].numpy() for epoch in epochs], axis=0)
        np.testing.assert_allclose(weight.numpy(), expected, rtol=1e-6)


def test_weights_that_could_not_be_written_are_exported_as_they_are(tmp_path: Path) -> None:
    validator, latest = Measured(network(9), 1.0), KeptEpoch(2, validation(4.0))
    before = [weight.numpy() for weight in validator.network.weights]
    assert choose_weights(Checkpoints(tmp_path), validator, latest) == WeightChoice((2,), latest.validation)  # type: ignore[arg-type]
    for weight, expected in zip(validator.network.weights, before, strict=True):
        np.testing.assert_array_equal(weight.numpy(), expected)


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
    for value, count in ((GOOD_CHRF + 1, 500), (GOOD_CHRF - 1, 0)):
        refused = describe_fit(features, np.full(500, value))["refused"]
        assert refused.startswith(
            f"good translations: {count} of 500 development sentences; confidence needs at least 30"
        )


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
