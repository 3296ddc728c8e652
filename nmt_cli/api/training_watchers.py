"""Watchers of a training: stages for programs, TensorBoard, and the few reports of an assisting process."""

from __future__ import annotations

from pathlib import Path

from nmt_cli.api.log import log_warnings
from nmt_cli.api.progress import StageReporter
from nmt_cli.training.watcher import EpochRecord, StepStatus, Validation, Watcher, Watchers


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


class LogWatcher(Watcher):
    """Logs warnings, for programs."""

    def warn(self, problem: str) -> None:
        log_warnings([problem])


class AssistantWatcher(Watcher):
    """Passes on only warnings and the wish to stop, since the chief shows everything else."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def warn(self, problem: str) -> None:
        self.watcher.warn(problem)

    def should_stop(self) -> bool:
        return self.watcher.should_stop()


def combine_watchers(watcher: Watcher | None, progress: StageReporter | None, tensorboard: Path | None) -> Watcher:
    """Returns one watcher for all given ones; without a watcher, one that logs warnings."""
    watchers = [LogWatcher() if watcher is None else watcher]
    if progress is not None:
        watchers.append(StageWatcher(progress))
    if tensorboard is not None:
        from nmt_cli.training.tensorboard import TensorBoard

        watchers.append(TensorBoard(tensorboard, watchers[0].warn))
    return watchers[0] if len(watchers) == 1 else Watchers(*watchers)
