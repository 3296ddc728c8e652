"""The training loop: epochs, validations, checkpoints, and rollbacks when training diverges.

    epoch 1: 79 updates, validation, checkpoint
    epoch 2: 40 updates, checkpoint (five minutes are over), 39 updates, validation, checkpoint
    epoch 3: 12 updates, the loss is NaN: back to the last checkpoint, with half the learning rate

Everything that changes between updates, except arrays, is in `Progress`, which is part of a checkpoint. A run that is
killed and resumed thus makes the same updates as an uninterrupted one. Knows neither the network nor the devices:
`Trainer` makes an update, `Validator` measures the weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from nmt_cli.errors import TrainingError, convert_os_error
from nmt_cli.records import build
from nmt_cli.training.checkpoints import Checkpoints, KeptEpoch
from nmt_cli.training.data.batches import EarlierBatches, TrainingBatches
from nmt_cli.training.deadline import Deadline
from nmt_cli.training.distributed import SingleProcess
from nmt_cli.training.request import TrainRequest
from nmt_cli.training.step import Handover, Schedule, Trainer
from nmt_cli.training.validation import Validator
from nmt_cli.training.watcher import EpochRecord, ParentInfo, StepStatus, Validation

WARM_UP = 20  # updates of a process before which its speed says little: TensorFlow compiles in the first


@dataclass
class Meter:
    """The sums of one epoch, possibly started by an earlier process.

    The speed counts only the steps of this process, except the first, in which TensorFlow may compile for seconds.
    """

    nats: float = 0.0
    tokens: float = 0.0
    steps: int = 0
    earlier_seconds: float = 0.0  # that earlier processes spent on the epoch
    started: float = field(default_factory=time.perf_counter)
    timed_steps: int = 0  # of this process, like all fields below
    timed_tokens: float = 0.0
    first_tokens: float = 0.0
    first_done: float = 0.0  # times on the clock
    last_done: float = 0.0

    def add(self, nats: float, tokens: float) -> None:
        """Adds a finished step: its nats and its number of target tokens."""
        self.nats += nats
        self.tokens += tokens
        self.steps += 1
        self.timed_steps += 1
        self.timed_tokens += tokens
        self.last_done = time.perf_counter()
        if self.timed_steps == 1:
            self.first_done, self.first_tokens = self.last_done, tokens

    @property
    def loss(self) -> float:
        """Mean nats per target token."""
        return self.nats / max(self.tokens, 1.0)

    @property
    def seconds(self) -> float:
        """Seconds since the epoch began, without the time between two processes."""
        return self.earlier_seconds + time.perf_counter() - self.started

    @property
    def tokens_per_second(self) -> float:
        """Target tokens per second; 0 if this process only validated the epoch."""
        if not self.timed_steps:
            return 0.0
        if self.timed_steps == 1:
            return self.first_tokens / (self.last_done - self.started)
        return (self.timed_tokens - self.first_tokens) / (self.last_done - self.first_done)

    def to_mapping(self) -> dict[str, Any]:
        """Returns the values with which another process continues the epoch."""
        return {"nats": self.nats, "tokens": self.tokens, "steps": self.steps, "earlier_seconds": self.seconds}


DECAY = 0.95  # of the moving mean: it remembers about twenty updates
MAX_ROLLBACKS = 3  # before a run is given up


class Diverged(Exception):
    """Training diverged and must be rolled back; the message names the symptom."""


@dataclass
class LossMonitor:
    """The moving mean of the losses of updates, in nats per token, and its minimum."""

    mean: float | None = None
    least: float | None = None
    last: float = 0.0

    def add(self, loss: float) -> None:
        """Adds the loss of an update.

        Raises Diverged if it is NaN or infinite, or if the mean is both twice its minimum and 2 nats above it.
        Differences between batches of long and short sentences, or a single batch of noise, stay below that.
        """
        if not math.isfinite(loss):
            raise Diverged("the loss is NaN or infinite")
        self.last = loss
        self.mean = loss if self.mean is None else DECAY * self.mean + (1 - DECAY) * loss
        self.least = self.mean if self.least is None else min(self.least, self.mean)
        if self.mean > self.least + self.allowance:
            raise Diverged(f"the loss rose from {self.least:.2f} to {self.mean:.2f}")

    @property
    def allowance(self) -> float:
        """How far the mean may rise above its minimum, in nats."""
        return max(self.least or 0.0, 2.0)

    @property
    def is_calm(self) -> bool:
        """Whether the loss is not rising towards a divergence already; if it were, a checkpoint would be useless."""
        return max(self.mean or 0.0, self.last) <= (self.least or 0.0) + self.allowance / 2


def explain_divergence(problem: Diverged, epoch: int, peak_rate: float) -> TrainingError:
    """Returns the error for a run that still diverges after all rollbacks, with this peak learning rate."""
    return TrainingError(
        f"training diverged again in epoch {epoch}, with a peak learning rate of {peak_rate:g}: {problem}",
        hint=f"start over with --force --learning-rate {peak_rate / 2:g} or less, "
        "a longer --warmup or a smaller --clip",
    )


@dataclass
class Progress:
    """The current epoch, its sums, and the history of the loss and the learning rate."""

    epoch: int = 1  # the current one, from 1; `meter.steps` of its updates are done
    meter: Meter = field(default_factory=Meter)
    losses: LossMonitor = field(default_factory=LossMonitor)
    rollbacks: int = 0
    factor: float = 1.0  # of the learning rate
    handover: Handover | None = None
    earlier_batches: EarlierBatches | None = None
    elapsed: float = 0.0  # seconds; of a run with a deadline, like `share`
    share: float = 0.0  # of the training that has passed, 0 to 1

    def to_mapping(self) -> dict[str, Any]:
        """Returns the progress in the form stored in the checkpoint, from which `records.build` restores it."""
        return asdict(self) | {"meter": self.meter.to_mapping()}


@dataclass
class TrainingRun:
    """A training run and its progress; its checkpoints belong to its request (`TrainRequest.identify`)."""

    request: TrainRequest
    trainer: Trainer
    schedule: Schedule
    batches: TrainingBatches
    validator: Validator
    checkpoints: Checkpoints
    replay: str | None = None  # fingerprint of the old pairs
    profile: str = ""  # of the training text, for the model; read early, since the corpus may be replaced meanwhile
    parent: ParentInfo | None = None  # the model that it started from
    deadline: Deadline | None = None
    cluster: SingleProcess = field(default_factory=SingleProcess)
    progress: Progress = field(default_factory=Progress)
    stopped: bool = False
    began_at: int = 0  # updates that were made before this process
    saved_at: float = 0.0
    warm_since: float = 0.0  # when WARM_UP updates of this process were made: later ones tell how long the rest takes
    last_validated: KeptEpoch | None = None  # its weights are those of the validator's network

    def fit(self) -> None:
        """Runs the remaining epochs; keeps the best weights and the history in `checkpoints`.

        Ends early, with a usable model, if the watcher asks for it or patience runs out. Raises KeyboardInterrupt if
        stopped before the first update, since there is nothing to keep; TrainingError if training diverges again after
        all rollbacks; OSError if there is no room for the first checkpoint.
        """
        if self.updates == 0:
            self.write_checkpoint()  # to roll back to; and if the disk is too small, it fails now and not in hours
        self.began_at, self.saved_at = self.updates, time.monotonic()
        while not self.cluster.ask_chief(self.stopped or self.is_complete):
            try:
                self.run_epoch()
            except Diverged as problem:
                self.roll_back(problem)

    def run_epoch(self) -> None:
        """Runs the remaining updates of the epoch, and validates; stops within the epoch if it must."""
        meter = self.progress.meter
        for batches in self.batches.make_updates(self.progress.epoch, skip=meter.steps):
            # 1. Stop if the time is up, or if the watcher of any process asks for it.
            if self.cluster.ask_chief(self.is_time_up) or self.cluster.ask_anyone(self.request.watcher.should_stop()):
                self.stop()
                return
            # 2. With a deadline, the learning rate follows the clock.
            if self.deadline is not None:
                self.follow_clock(self.deadline)
            # 3. Update the weights, from one batch or several.
            nats, tokens = self.trainer.update(batches)
            # 4. Check the loss (a divergence leads back to `fit`), add it up, and report it.
            self.progress.losses.add(nats / tokens)
            meter.add(nats, tokens)
            self.request.watcher.report_step(self.make_status())
            if self.deadline is not None:
                self.deadline.finish_update()
            # 5. Write a checkpoint every few minutes.
            if self.cluster.ask_chief(self.is_checkpoint_due()):
                self.save_checkpoint()
        # 6. Validate the weights, keep them if they are among the best, and write a checkpoint.
        self.finish_epoch(complete=True)
        self.stopped = self.cluster.ask_anyone(self.request.watcher.should_stop())

    def follow_clock(self, deadline: Deadline) -> None:
        """Sets the learning rate for the share of time that has passed; measures a validation again when due."""
        self.schedule.set_elapsed_share(deadline.advance())
        if deadline.is_measure_due:
            deadline.set_validation(self.cluster.share_number(self.validator.estimate_seconds(self.trainer)))

    @property
    def updates(self) -> int:
        """Updates since the start of the run."""
        return int(self.trainer.optimizer.iterations.numpy())

    @property
    def updates_of_epoch(self) -> int:
        """Updates of the current epoch, done or not."""
        return self.batches.count_updates(self.progress.epoch)

    @property
    def passed_epochs(self) -> float:
        """Number of epochs that have passed, including the finished share of the current one."""
        return self.progress.epoch - 1 + self.progress.meter.steps / self.updates_of_epoch

    @property
    def is_complete(self) -> bool:
        """Whether all epochs are passed, the time is up, or patience has run out."""
        config, best, completed = self.trainer.config, self.checkpoints.best, self.progress.epoch - 1
        is_patient = config.patience is None or best is None or completed - best.epoch < config.patience
        is_over = completed >= config.epochs if self.deadline is None else self.is_time_up
        return is_over or not is_patient

    @property
    def is_time_up(self) -> bool:
        """Whether the deadline allows no further update.

        If no weights were ever kept, or if the run was killed before it validated the last ones, a process makes one
        update in any case. After that update it stops, and thereby validates the weights.
        """
        if self.deadline is None or not self.deadline.is_over:
            return False
        is_validated = self.checkpoints.best is not None and not self.is_ahead_of_history
        return is_validated or self.progress.meter.timed_steps > 0

    @property
    def is_ahead_of_history(self) -> bool:
        """Whether updates were made since the last validation."""
        records = self.checkpoints.records
        return self.updates > (records[-1].steps if records else 0)

    @property
    def epochs(self) -> int:
        """Number of epochs of the run; with a deadline, as many as are likely to fit."""
        if self.deadline is None:
            return self.trainer.config.epochs
        left = self.deadline.fit_epochs(self.batches.updates) + self.progress.meter.steps / self.batches.updates
        return self.progress.epoch + max(0, math.ceil(left) - 1)

    def make_status(self) -> StepStatus:
        """Returns the watcher's report after an update."""
        epoch, meter = self.progress.epoch, self.progress.meter
        epochs, steps = self.epochs, self.updates_of_epoch
        # Later epochs may have a few more updates.
        steps_left = max(0, steps - meter.steps) + max(0, epochs - epoch) * self.batches.updates
        timed = self.updates - self.began_at - WARM_UP
        self.warm_since = time.monotonic() if timed == 0 else self.warm_since
        seconds_left = (time.monotonic() - self.warm_since) / max(1, timed) * steps_left
        seconds_left = seconds_left if self.deadline is None else self.deadline.seconds_left
        is_known = self.deadline is not None or not steps_left or timed > 0
        return StepStatus(
            epoch=epoch,
            epochs=epochs,
            step=meter.steps,
            steps_per_epoch=steps,
            updates=self.updates,
            loss=meter.loss,
            tokens_per_second=meter.tokens_per_second,
            seconds_left=max(0.0, seconds_left) if is_known else None,
        )

    def stop(self) -> None:
        """Ends the run within an epoch: writes a checkpoint to resume from, then validates the weights.

        The checkpoint comes first, since whoever asks a process to stop may soon kill it. It does not include this
        validation, which an uninterrupted run would not make. At a deadline, however, every run makes it, so another
        checkpoint follows.
        """
        if self.is_ahead_of_history:
            self.save_checkpoint()
            self.finish_epoch(complete=False)
            if self.cluster.ask_chief(self.is_time_up):
                self.save_checkpoint()
        elif self.checkpoints.best is None:
            raise KeyboardInterrupt
        self.stopped = True

    def finish_epoch(self, *, complete: bool) -> None:
        """Validates, keeps the weights if they are among the best, and adds the epoch to the history."""
        epoch = self.progress.epoch
        # 1. Translate the development set.
        validation = self.validate_epoch()
        if not math.isfinite(validation.loss):
            raise Diverged("the development loss is NaN or infinite")
        # 2. Keep the weights if they are among the best.
        self.last_validated = KeptEpoch(epoch, validation)
        best = self.keep_weights(epoch, validation)
        # 3. Write the epoch to the history and, if it is complete, a checkpoint.
        record = self.record_epoch(validation, best=best, complete=complete)
        self.checkpoints.records.append(record)
        if complete:
            self.progress.epoch, self.progress.meter = self.progress.epoch + 1, Meter()
            self.save_checkpoint()
        self.try_to_write("history.jsonl", self.checkpoints.write_history)
        self.request.watcher.report_epoch(record, validation)
        if validation.failures:
            self.request.watcher.warn(validation.failures)

    def validate_epoch(self) -> Validation:
        """Validates the current weights, and tells the deadline, if there is one, how long that took."""
        before = 0.0 if self.deadline is None else self.deadline.elapsed
        self.request.watcher.report_validation(self.progress.epoch)
        validation = self.cluster.share_validation(lambda: self.validator.validate(self.trainer))
        if self.deadline is not None:
            self.deadline.set_validation(self.deadline.elapsed - before)
        return validation

    def keep_weights(self, epoch: int, validation: Validation) -> bool:
        """Keeps the weights if they are among the best; returns whether they are the best so far and were written."""
        is_best, network = self.checkpoints.is_better(validation), self.validator.network
        return self.try_to_write("weights", lambda: self.checkpoints.keep(network, epoch, validation)) and is_best

    def record_epoch(self, validation: Validation, *, best: bool, complete: bool) -> EpochRecord:
        """Returns the line of the history for the finished epoch."""
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
        """Whether it is time for a checkpoint; never after an epoch's last update, where one is written anyway."""
        progress, minutes = self.progress, self.trainer.config.checkpoint_minutes
        is_old = time.monotonic() - self.saved_at >= 60 * minutes
        return is_old and progress.losses.is_calm and progress.meter.steps < self.updates_of_epoch

    def save_checkpoint(self) -> None:
        """Writes a checkpoint, or warns that it cannot. Raises Diverged if a weight is NaN or infinite."""
        if not all(np.isfinite(variable.numpy()).all() for variable in self.trainer.variables):
            raise Diverged("a weight is NaN or infinite")
        self.try_to_write("checkpoint", self.write_checkpoint)
        self.saved_at = time.monotonic()

    def write_checkpoint(self) -> None:
        """Writes the state of the run. Raises OSError."""
        if self.deadline is not None:
            self.progress.elapsed, self.progress.share = self.deadline.elapsed, self.deadline.share
        identity, progress = self.request.identify(self.replay), self.progress.to_mapping()
        facts: dict[str, Any] = {"identity": identity, "progress": progress, "updates": self.updates}
        facts |= {"typed": self.request.typed, "complete": self.is_complete}
        if self.parent is not None:
            facts["parent"] = asdict(self.parent)
        self.checkpoints.save_state(self.trainer.state, facts)

    def try_to_write(self, content: str, write: Callable[[], None]) -> bool:
        """Calls `write` and returns whether it succeeded. If not, warns the watcher and continues training.

        A disk that is full now may have room later.
        """
        try:
            write()
        except OSError as error:
            problem = convert_os_error(error)
            advice = f" ({problem.hint})" if problem.hint else ""
            self.request.watcher.warn(
                f"the {content} could not be written, but training continues: {problem.message}{advice}"
            )
            return False
        return True

    def restore(self) -> None:
        """Loads the checkpoint: weights, optimiser, progress and kept epochs."""
        facts = self.checkpoints.load_state(self.trainer.state)
        self.progress = build(Progress, facts["progress"])
        # Not that of the checkpoint: it may come from the shorter run that this run extends.
        self.progress.handover = self.schedule.handover
        self.progress.earlier_batches = self.batches.earlier
        self.schedule.factor.assign(self.progress.factor)

    def roll_back(self, problem: Diverged) -> None:
        """Returns to the last checkpoint and continues with half the learning rate.

        Raises TrainingError if no rollback is left.
        """
        rollbacks = self.progress.rollbacks
        if rollbacks == MAX_ROLLBACKS:
            raise explain_divergence(problem, self.progress.epoch, self.trainer.config.peak_rate * self.progress.factor)
        diverged_at, factor = self.describe_position(1), self.progress.factor / 2
        # 1. Restore the checkpoint. All processes must have the same: one may have had no room for its last.
        self.restore()
        self.cluster.require_same_facts({"updates": self.updates})
        # 2. Halve the learning rate, and count the rollback, which the checkpoint knows nothing of.
        self.progress.rollbacks, self.progress.factor = rollbacks + 1, factor
        self.schedule.factor.assign(factor)
        # 3. Report it, and save it, so that a killed run does not try the same learning rate again.
        rate = self.trainer.config.peak_rate * factor
        half = f"with half the learning rate (peak now {rate:g})"
        self.request.watcher.warn(f"{diverged_at}: {problem}; back to {self.describe_position()} {half}")
        self.save_checkpoint()

    def describe_position(self, further: int = 0) -> str:
        """Describes the epoch and its finished updates, plus `further` ones."""
        return f"epoch {self.progress.epoch}, step {self.progress.meter.steps + further}"
