"""From the corrections of a model's translations to a better model, or to the reason why there is none.

1. Find old pairs to replay with the corrections.
2. Train on both, in one pass in which each correction occurs several times, and compare both models (`course.py`).
3. The new one takes the place of the old one only if it passes the gate.

Source of the mixture: Chu, Dabre, Kurohashi (2017), "An Empirical Comparison of Domain Adaptation Methods".
"""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from nmt_cli.api.corrections.course import STAGE_NAMES, Course
from nmt_cli.api.corrections.gate import Verdict
from nmt_cli.api.corrections.pairs import read_corrections
from nmt_cli.api.corrections.replayed import find_old_pairs
from nmt_cli.api.options.arguments import PathLike, build_settings, explain_os_errors
from nmt_cli.api.options.explicit import ExplicitOptions
from nmt_cli.api.progress import StageReporter
from nmt_cli.api.startup import require_tensorflow
from nmt_cli.api.train import TrainRequest
from nmt_cli.api.training_watchers import combine_watchers
from nmt_cli.errors import OptionError
from nmt_cli.files import refuse_to_overwrite, stage_directory
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.runtime.model_directory import CARD, CHECKPOINTS, CORRECTIONS, PREVIOUS, WEIGHTS, ModelDirectory, read_card
from nmt_cli.text.wrapping import format_count
from nmt_cli.training.checkpoints.lock import lock_model
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.transfer.finetune import find_parent
from nmt_cli.training.watcher import Watcher

if TYPE_CHECKING:
    from nmt_cli.api.options.keywords import TrainKeywords


@dataclass(frozen=True)
class Lesson:
    """What came of learning corrections."""

    model: Path
    learned: int
    share: float  # of the step of the weights, 0 to 1
    verdict: Verdict
    previous: Path | None  # where the model is that has learned no corrections; None if the new one failed

    @property
    def is_accepted(self) -> bool:
        return self.verdict.objection is None

    def __str__(self) -> str:
        fate = f"{self.model}/ stays as it was, since the new model fails: {self.verdict.objection}"
        if self.is_accepted:
            fate = f"{self.model}/ is the new model" + (f", {self.previous}/ the old one" if self.previous else "")
        parts = [
            format_count(self.learned, "correction") + " learned",
            f"development set: {self.verdict.development}",
            f"each correction by a model without it: {self.verdict.corrections or 'not tried'}",
            f"{self.share:.0%} of the step",
            fate,
        ]
        return "; ".join(parts)

    def to_mapping(self) -> dict[str, Any]:
        """Returns the lesson in the form of `--json`."""
        return {
            "model": str(self.model),
            "accepted": self.is_accepted,
            "previous": None if self.previous is None else str(self.previous),
            "learned": self.learned,
            "share": self.share,
            **self.verdict.to_mapping(),
        }


@explain_os_errors
def learn(
    corrections: PathLike,
    *,
    model: PathLike = "model",
    data: PathLike = "prepared",
    progress: StageReporter | None = None,
    watcher: Watcher | None = None,
    **options: Unpack[TrainKeywords],
) -> Lesson:
    """Trains a model further on corrections of its translations, and replaces it if that does it good.

    A model that has learned corrections before begins anew, with all of them. `options` are those of `nmt
    train`, such as `learning_rate=1e-4`; each correction occurs `epochs` times. The model may be one of a package,
    which stays as it is: a directory of its name then gets the new model. Raises NotFoundError for a model without
    weights, DataError for too few corrections, and the errors of `nmt.train`.
    """
    others = {"corrections": corrections}
    network, training = build_settings("train", options, ModelConfig, TrainConfig, others=others, where="learn")
    explicit = ExplicitOptions.from_arguments(options, ModelConfig, TrainConfig)
    request = TrainRequest(
        network=network, training=training, explicit=explicit, data=Path(data), model=Path(model), force=True
    )
    return learn_corrections(request, Path(corrections), combine_watchers(watcher, progress, None))


def learn_corrections(request: TrainRequest, path: Path, watcher: Watcher) -> Lesson:
    """Learns the corrections in a file, as `learn` does. Raises KeyboardInterrupt if the watcher stops it."""
    require_tensorflow()
    latest = ModelDirectory.load(find_model(request.model))
    if latest.card.has_pictures:
        raise OptionError(f"{latest.directory}/ reads pictures, which have no corrections", hint="name a model of text")
    old = find_original(latest)
    training = replace(request.training, init_from=str(old.directory), synthetic="none")
    find_parent(training)  # refuses a model without weights
    has_learned = old.directory != latest.directory
    corrections = read_corrections(path, old, latest.directory / CORRECTIONS if has_learned else None)
    is_named = not latest.directory.is_relative_to(request.model)  # one of a package, which stays as it is
    target = request.model if is_named else latest.directory
    refuse_to_overwrite(target, replace=not is_named)
    lock = nullcontext() if is_named else lock_model(target, replace=True)
    with lock, TemporaryDirectory(prefix="nmt.") as scratch:
        watcher.report_stage(STAGE_NAMES[0], 1, len(STAGE_NAMES))
        replayed = find_old_pairs(old, request.data, training.seed).exclude_corrected(corrections)
        replayed = replayed.sample(len(replayed.train), training.seed)
        course = Course(replace(request, training=training), old, corrections, replayed, Path(scratch), watcher)
        share, verdict = course.learn()
        if verdict.objection is None:
            with stage_directory(target, replace=not is_named) as staged:
                shutil.copytree(course.new, staged, dirs_exist_ok=True, ignore=shutil.ignore_patterns(CHECKPOINTS))
                shutil.copytree(old.directory, staged / PREVIOUS, ignore=shutil.ignore_patterns(PREVIOUS))
    return Lesson(target, len(corrections), share, verdict, None if verdict.objection else target / PREVIOUS)


def find_original(model: ModelDirectory) -> ModelDirectory:
    """Returns the model as it was before it learned corrections, which it keeps.

    Each lesson begins there, so that what all of them together may lose is what one may lose.
    """
    previous = model.directory / PREVIOUS
    if (previous / CARD).is_file() and read_card(previous).checksums.get(WEIGHTS) == model.card.parent.get("weights"):
        return ModelDirectory.load(previous)
    return model
