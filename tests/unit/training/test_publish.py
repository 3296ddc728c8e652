""""""

from dataclasses import dataclass
from pathlib import Path

import keras
import numpy as np
import pytest

from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.checkpoints.checkpoint import Checkpoints, KeptEpoch
from nmt_cli.training.publish import WeightChoice, choose_weights
from nmt_cli.training.watcher import Validation


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
