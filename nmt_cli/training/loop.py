"""The training loop: updates, a validation after each epoch, checkpoints, and the way back when training diverges."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nmt_cli.errors import TrainingError, from_os_error
from nmt_cli.training.checkpoints.checkpoint import Checkpoints, Kept
from nmt_cli.training.checkpoints.progress import Progress
from nmt_cli.training.data.batches import TrainingBatches
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed.cluster import Alone
from nmt_cli.training.divergence import ATTEMPTS, Diverged
from nmt_cli.training.schedule import Schedule
from nmt_cli.training.step import Trainer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import EpochRecord, StepStatus, Validation, Watcher


@dataclass
class TrainingRun:
    """A run and where it is. `identity` says in its checkpoints what they are checkpoints of (`resume.py`)."""

    trainer: Trainer
    schedule: Schedule
    batches: TrainingBatches
    validate: Validator
    checkpoints: Checkpoints
    watcher: Watcher
    identity: Mapping[str, Any]
    deadline: Deadline | None = None
    cluster: Alone = field(default_factory=Alone)
    progress: Progress = field(default_factory=Progress)
    stopped: bool = False
    saved_at: float = 0.0
    latest: Kept | None = None  # what was validated last; the weights are those of the validator's network

    def fit(self) -> None:
        """Runs the epochs that are left; keeps the best weights and the history in `checkpoints`.

        Ends early without harm when the watcher says so or patience runs out. Stopped before the first update was
        done, it raises KeyboardInterrupt: there is nothing to keep. Raises TrainingError if training diverges again
        and again, OSError if there is no room for the first checkpoint.
        """
        if self.updates == 0:
            self.write_checkpoint()  # to come back to, and the proof that there is room for it
        self.saved_at = time.monotonic()
        while not self.cluster.ask_chief(self.is_finished()):
            try:
                self.run_epoch()
            except Diverged as problem:
                self.roll_back(problem)

    @property
    def updates(self) -> int:
        """Done since the start of the run."""
        return int(self.trainer.optimizer.iterations.numpy())

    def is_finished(self) -> bool:
        """Whether no further epoch is to begin."""
        config, best, done = self.trainer.config, self.checkpoints.best, self.progress.epoch - 1
        patient = config.patience is None or best is None or done - best.epoch < config.patience
        ended = done >= config.epochs if self.deadline is None else self.is_time_up
        return self.stopped or ended or not patient

    @property
    def is_time_up(self) -> bool:
        """Whether the deadline allows no further update; never before there is something to keep, nor in a run that
        was killed before its last updates were validated: one more leads it there.
        """
        if self.deadline is None or not self.deadline.over:
            return False
        kept = self.checkpoints.best is not None and not self.is_ahead_of_history
        return kept or self.progress.meter.timed_steps > 0

    @property
    def is_ahead_of_history(self) -> bool:
        """Whether there are updates that no validation has seen."""
        records = self.checkpoints.records
        return self.updates > (records[-1].steps if records else 0)

    @property
    def epochs(self) -> int:
        """How many there are to be; with a deadline, as many as are likely to fit."""
        if self.deadline is None:
            return self.trainer.config.epochs
        left = self.deadline.fit_epochs(self.batches.updates) + self.progress.meter.steps / self.batches.updates
        return self.progress.epoch + max(0, math.ceil(left) - 1)

    def run_epoch(self) -> None:
        """What is left of the epoch, or what of it the watcher lets pass."""
        meter = self.progress.meter
        for group in self.batches.updates_of(self.progress.epoch, skip=meter.steps):
            if self.is_time_up or self.cluster.ask_anyone(self.watcher.should_stop()):
                self.stop()
                return
            if self.deadline is not None:
                self.schedule.follow_time(self.deadline.advance())
            nats, tokens = self.trainer.update(group)
            self.progress.losses.add(nats / tokens)
            meter.add(nats, tokens)
            self.watcher.report_step(self.make_status())
            if self.cluster.ask_chief(self.is_checkpoint_due()):
                self.save()
        self.finish_epoch(complete=True)
        self.stopped = self.cluster.ask_anyone(self.watcher.should_stop())

    def make_status(self) -> StepStatus:
        epoch, meter = self.progress.epoch, self.progress.meter
        epochs, steps = self.epochs, self.batches.updates
        to_go = max(0, (epochs - epoch + 1) * steps - meter.steps)  # an epoch may have a few more than the first
        return StepStatus(
            epoch=epoch,
            epochs=epochs,
            step=meter.steps,
            steps_per_epoch=steps,
            updates=self.updates,
            loss=meter.loss,
            tokens_per_second=meter.tokens_per_second,
            seconds_left=meter.seconds_per_step * to_go if self.deadline is None else max(0.0, self.deadline.left),
        )

    def stop(self) -> None:
        """Ends the run within an epoch: a checkpoint to go on from, then a validation of what was learned.

        The checkpoint comes first, for whoever asks a process to stop may soon make it stop; and it knows nothing of
        the validation, which a run that is not stopped would not make. At a deadline every run makes it.
        """
        if self.is_ahead_of_history:
            self.save()
            self.finish_epoch(complete=False)
            if self.is_time_up:
                self.save()
        elif self.checkpoints.best is None:
            raise KeyboardInterrupt
        self.stopped = True

    def finish_epoch(self, *, complete: bool) -> None:
        """Validates, keeps the weights if they are among the best, and the record of the epoch in any case."""
        epoch = self.progress.epoch
        validation = self.validate_epoch()
        if not math.isfinite(validation.loss):
            raise Diverged("the loss of the development set is no number")
        self.latest = Kept(epoch, validation)
        best = self.keep(epoch, validation)
        record = self.record_epoch(validation, best=best, complete=complete)
        self.checkpoints.records.append(record)
        if complete:
            self.progress.next_epoch()
            self.save()
        self.try_to_write("history.jsonl", self.checkpoints.write_history)
        self.watcher.report_epoch(record, validation)

    def validate_epoch(self) -> Validation:
        before = 0.0 if self.deadline is None else self.deadline.elapsed
        self.watcher.report_validation(self.progress.epoch)
        validation = self.cluster.share_validation(lambda: self.validate(self.trainer))
        if self.deadline is not None:
            self.deadline.validation = self.deadline.elapsed - before
        return validation

    def keep(self, epoch: int, validation: Validation) -> bool:
        """Whether the weights are the best so far, and are kept."""
        best, network = self.checkpoints.is_better(validation), self.validate.network
        return self.try_to_write("weights", lambda: self.checkpoints.keep(network, epoch, validation)) and best

    def record_epoch(self, validation: Validation, *, best: bool, complete: bool) -> EpochRecord:
        meter = self.progress.meter
        return EpochRecord(
            epoch=self.progress.epoch,
            steps=self.updates,
            loss=meter.loss,
            dev_loss=validation.loss,
            perplexity=math.exp(min(validation.loss, 700.0)),
            accuracy=validation.accuracy,
            bleu=validation.bleu,
            chrf=validation.chrf,
            learning_rate=float(self.trainer.optimizer.learning_rate.numpy()),
            tokens_per_second=meter.tokens_per_second,
            seconds=meter.seconds,
            best=best,
            complete=complete,
        )

    def is_checkpoint_due(self) -> bool:
        """Not after the last update of an epoch, since another checkpoint follows then."""
        progress, minutes = self.progress, self.trainer.config.checkpoint_minutes
        waited = time.monotonic() - self.saved_at >= 60 * minutes
        return waited and progress.losses.is_calm and progress.meter.steps < self.batches.updates

    def save(self) -> None:
        """Writes a checkpoint, or warns that it cannot. Raises Diverged if there is nothing worth saving."""
        if not all(np.isfinite(variable.numpy()).all() for variable in self.trainer.variables):
            raise Diverged("weights are no longer numbers")
        self.try_to_write("checkpoint", self.write_checkpoint)
        self.saved_at = time.monotonic()

    def write_checkpoint(self) -> None:
        if self.deadline is not None:
            self.progress.elapsed, self.progress.share = self.deadline.elapsed, self.deadline.share
        facts = {"identity": self.identity, "progress": self.progress.to_mapping(), "updates": self.updates}
        self.checkpoints.save_state(self.trainer.state, facts)

    def try_to_write(self, what: str, write: Callable[[], None]) -> bool:
        """Whether it could be written. If not, the watcher is told, and training goes on: it may succeed later."""
        try:
            write()
        except OSError as error:
            problem = from_os_error(error)
            advice = f" ({problem.hint})" if problem.hint else ""
            self.watcher.warn(f"no {what} written, training goes on: {problem.message}{advice}")
            return False
        return True

    def restore(self) -> None:
        """Brings everything to where the checkpoint was written."""
        facts = self.checkpoints.load_state(self.trainer.state)
        self.progress = Progress.from_mapping(facts["progress"])
        # The checkpoint may be of the shorter run that this one goes on from, and has another.
        self.progress.handover = self.schedule.handover
        self.schedule.factor.assign(self.progress.factor)

    def roll_back(self, problem: Diverged) -> None:
        """Back to the last checkpoint, from there on with half the learning rate."""
        tried = self.progress.rollbacks
        if tried == ATTEMPTS:
            raise self.give_up(problem)
        where, factor = f"epoch {self.progress.epoch}, step {self.progress.meter.steps + 1}", self.progress.factor / 2
        self.restore()
        self.cluster.check_same({"updates": self.updates})  # one of them may have found no room for its last checkpoint
        self.progress.rollbacks, self.progress.factor = tried + 1, factor
        self.schedule.factor.assign(factor)
        back = f"epoch {self.progress.epoch}, step {self.progress.meter.steps}"
        rate = self.trainer.config.peak_rate * factor
        self.watcher.warn(f"{where}: {problem}; back to {back} with half the learning rate (peak now {rate:g})")
        self.save()

    def give_up(self, problem: Diverged) -> TrainingError:
        config = self.trainer.config
        rate = config.peak_rate * self.progress.factor
        return TrainingError(
            f"training diverged again in epoch {self.progress.epoch}, with a peak learning rate of {rate:g}: {problem}",
            hint=f"begin anew with --force --learning-rate {rate / 2:g} or less, a longer --warmup or a smaller --clip",
        )
