"""`nmt.train`: what `nmt train` does, as a function, on one machine."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.arguments import PathLike, build_settings, explain_os_errors, find_path
from nmt_cli.api.progress import StageReporter
from nmt_cli.api.startup import require_tensorflow, silent_tensorflow
from nmt_cli.model.config import ModelConfig
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.watcher import EpochRecord, StepStatus, Validation, Watcher, Watchers

if TYPE_CHECKING:
    from nmt_cli.training.request import TrainingRequest
    from nmt_cli.training.run import TrainReport


class StageWatcher(Watcher):
    """Reports a training as the stages of a `StageReporter`: updates, validations, the export."""

    def __init__(self, progress: StageReporter) -> None:
        self.progress = progress

    def report_step(self, status: StepStatus) -> None:
        self.progress(f"epoch {status.epoch}", status.step, status.steps_per_epoch)

    def report_validation(self, epoch: int) -> None:
        self.progress(f"validating epoch {epoch}", 0, 0)

    def report_epoch(self, record: EpochRecord, validation: Validation) -> None:
        self.progress(f"validating epoch {record.epoch}", 1, 1)

    def report_stage(self, name: str, number: int, stages: int) -> None:
        self.progress(name, number, stages)

    def report_translations(self, done: int, total: int, seconds_left: float) -> None:
        self.progress("translating", done, total)

    def report_export(self) -> None:
        self.progress("exporting", 0, 0)


@explain_os_errors
def train(
    *,
    data: PathLike = "prepared",
    model: PathLike = "model",
    force: bool = False,
    resume: bool = False,
    reverse: bool = False,
    keep_stages: bool = False,
    tensorboard: PathLike | None = None,
    progress: StageReporter | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> TrainReport:
    """Trains a network on the prepared corpus `data`, and writes the model directory `model`.

    With `reverse`, the network translates from target to source. `options` are those of `nmt train`, such as `epochs=5`
    or `attention="dot"`. A `watcher` sees every update, epoch and warning, and its `should_stop` may end training early
    with a usable model. Raises DataError, OptionError, OutputError or TrainingError, and MissingExtraError without
    TensorFlow.
    """
    from nmt_cli.training.checkpoints.lock import lock_model
    from nmt_cli.training.synthetic.plan import make_plan

    network, training = build_settings(
        "train", options, ModelConfig, TrainConfig, others={"force": force, "resume": resume}
    )
    request = make_request(Path(data), Path(model), network, training, options, reverse=reverse, resume=resume)
    watchers = combine_watchers(watcher, progress, find_path(tensorboard))
    is_synthetic = bool(make_plan(request.corpus, request.training).tasks)
    with lock_model(request.directory, replace=force, resume=resume):
        with silent_tensorflow():
            run = load_training(with_synthetic=is_synthetic, keep_stages=keep_stages)
        return run(replace(request, watcher=watchers))


def make_request(
    data: Path,
    model: Path,
    network: ModelConfig,
    training: TrainConfig,
    explicit: Collection[str],
    *,
    reverse: bool,
    resume: bool,
) -> TrainingRequest:
    """Returns what is trained, on which corpus; the time of a deadline begins now. Raises MissingExtraError."""
    from nmt_cli.corpus.dataset import PreparedCorpus
    from nmt_cli.corpus.reversed import reverse_corpus
    from nmt_cli.training.deadline import Deadline
    from nmt_cli.training.request import TrainingRequest

    deadline = Deadline.from_option(training.time)
    require_tensorflow()
    corpus = PreparedCorpus.load(data)
    corpus = reverse_corpus(corpus) if reverse else corpus
    return TrainingRequest(corpus, model, network, training, resume=resume, deadline=deadline, explicit=set(explicit))


def load_training(*, with_synthetic: bool, keep_stages: bool) -> Callable[[TrainingRequest], TrainReport]:
    """Returns the function that trains, whose import starts TensorFlow."""
    if not with_synthetic:
        from nmt_cli.training.run import train as run

        return run
    from nmt_cli.training.synthetic.run import train_with_synthetic

    return partial(train_with_synthetic, keep_stages=keep_stages)


def combine_watchers(watcher: Watcher | None, progress: StageReporter | None, tensorboard: Path | None) -> Watcher:
    """Returns one watcher of all that watch: nobody, if none does."""
    watchers = [] if watcher is None else [watcher]
    if progress is not None:
        watchers.append(StageWatcher(progress))
    if tensorboard is not None:
        from nmt_cli.training.tensorboard import TensorBoard

        watchers.append(TensorBoard(tensorboard, watcher.warn if watcher is not None else lambda problem: None))
    return watchers[0] if len(watchers) == 1 else Watchers(*watchers)
