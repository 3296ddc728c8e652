"""The step that the weights of a model take in further training, of which a part may be better than the whole.

Source of the interpolation: Wortsman et al. (2022), "Robust fine-tuning of zero-shot models".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from nmt_cli.evaluation.metrics.bleu import compute_bleu
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import TagSet
from nmt_cli.training.checkpoints.checkpoint import KeptEpoch, assign_weights, save_weights
from nmt_cli.training.checkpoints.npz import NamedArrays
from nmt_cli.training.loop import TrainingRun
from nmt_cli.training.publish import publish
from nmt_cli.training.request import TrainingRequest
from nmt_cli.training.run import explain_errors
from nmt_cli.training.setup.prepare import prepare_run
from nmt_cli.training.validation import copy_weights
from nmt_cli.translation.by_tags import translate_tagged

SEARCH = SearchConfig()
RESOLUTION = 1 / 16  # of the share of a step
TRIES = 3  # at a share that suits the model in 8 bits too, each SHORTER than the last
SHORTER = 0.5


@dataclass(frozen=True)
class WeightStep:
    """A finished training, and the weights with which it began and ended."""

    run: TrainingRun
    initial: NamedArrays
    trained: NamedArrays

    @classmethod
    def take(cls, request: TrainingRequest) -> Self:
        """Trains as requested, writing only checkpoints. Raises the errors of `train`."""
        with explain_errors(request.role):
            run = prepare_run(request)
            network = run.validator.network
            copy_weights(run.trainer, network)
            initial = read_weights(run)
            run.fit()
            run.checkpoints.restore_best(network)
        return cls(run, initial, read_weights(run))

    def assign(self, share: float) -> None:
        """Gives the validator's network the weights after this share of the step."""
        weights = {name: array + share * (self.trained[name] - array) for name, array in self.initial.items()}
        assign_weights(self.run.validator.network, weights, self.run.checkpoints.state_path)

    def translate(self, sources: Sequence[str], tags: Sequence[TagSet], share: float) -> list[str]:
        """Returns the translations of texts with these tags, searched for as usual, after this share of the step."""
        self.assign(share)
        translations = translate_tagged(self.run.validator.translator, sources, tags, SEARCH)
        return [translation.text for translation in translations]

    def find_share(self, most_lost: float) -> float:
        """Returns about the largest share after which the development set has lost at most so many BLEU."""
        least = self.measure(0.0) - most_lost
        if self.measure(1.0) >= least:
            return 1.0
        share, above = 0.0, 1.0
        while above - share > RESOLUTION:
            middle = (share + above) / 2
            share, above = (middle, above) if self.measure(middle) >= least else (share, middle)
        return max(share, RESOLUTION)

    def measure(self, share: float) -> float:
        """Returns the BLEU of the development set after this share of the step."""
        validator = self.run.validator
        hypotheses = self.translate(validator.sources, validator.tags, share)
        return compute_bleu(hypotheses, validator.references, validator.scoring).value

    def publish(self, share: float, request: TrainingRequest) -> None:
        """Writes a complete model with the weights after this share of the step."""
        self.assign(share)
        validation, checkpoints = self.run.validator.measure(), self.run.checkpoints
        kept = KeptEpoch(1 if checkpoints.best is None else checkpoints.best.epoch, validation)
        save_weights(self.run.validator.network, checkpoints.locate_weights(kept.epoch))
        checkpoints.best_epochs = [kept]
        publish(self.run, request.corpus)


def train_in_shorter_steps(request: TrainingRequest, most_lost: float) -> Iterator[float]:
    """Trains a network, writes a complete model after a share of the step, and yields the share.

    Begins with about the largest share that loses at most `most_lost` BLEU on the development set; asked again, it
    writes a model that is nearer to the initial one. Raises the errors of `train`.
    """
    step = WeightStep.take(request)
    request.watcher.report_export()
    share = step.find_share(most_lost)
    for _ in range(TRIES):
        step.publish(share, request)
        yield share
        share *= SHORTER


def read_weights(run: TrainingRun) -> NamedArrays:
    """Returns copies of the weights of the validator's network by name."""
    return {weight.path: np.array(weight.value) for weight in run.validator.network.weights}
