"""The training loop: a compiled step, epochs of it, a validation after each. Writes through `Checkpoints` alone."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import tensorflow as tf
from keras import Optimizer

from nmt_cli.errors import TrainingError
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.checkpoint import Checkpoints
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data import Batch, TrainingBatches
from nmt_cli.training.engine import source_spec
from nmt_cli.training.loss import token_loss
from nmt_cli.training.validation import IDS, Validator
from nmt_cli.training.watch import EpochRecord, StepStatus, Validation, Watcher


@dataclass
class Meter:
    """Sums of one epoch. Speed is told without the first step, in which TensorFlow may compile for seconds."""

    nats: float = 0.0
    tokens: float = 0.0
    steps: int = 0
    started: float = field(default_factory=time.perf_counter)
    first_tokens: float = 0.0
    first_done: float = 0.0  # moments
    last_done: float = 0.0

    def add(self, nats: float, tokens: float) -> None:
        self.nats += nats
        self.tokens += tokens
        self.steps += 1
        self.last_done = time.perf_counter()
        if self.steps == 1:
            self.first_done, self.first_tokens = self.last_done, tokens

    @property
    def loss(self) -> float:
        """Nats per target token."""
        return self.nats / max(self.tokens, 1.0)

    @property
    def seconds(self) -> float:
        """Since the epoch began."""
        return time.perf_counter() - self.started

    # Of the two that follow, only once a step was done.

    @property
    def tokens_per_second(self) -> float:
        if self.steps == 1:
            return self.tokens / (self.last_done - self.started)
        return (self.tokens - self.first_tokens) / (self.last_done - self.first_done)

    @property
    def seconds_per_step(self) -> float:
        if self.steps == 1:
            return self.last_done - self.started
        return (self.last_done - self.first_done) / (self.steps - 1)


class Trainer:
    """Fits a network to batches of pairs under a `tf.distribute` strategy (by default, that of one device)."""

    def __init__(self, network: Seq2Seq, optimizer: Optimizer, config: TrainConfig) -> None:
        self.network = network
        self.optimizer = optimizer
        self.config = config
        self.variables = network.trainable_variables
        optimizer.build(self.variables)
        self.strategy = tf.distribute.get_strategy()
        self.compiled_step = tf.function(self.step, input_signature=[source_spec(network), IDS, IDS])

    def update(self, batch: Batch) -> tuple[float, float]:
        """One step of the optimiser. Returns nats and target tokens of the batch."""
        nats, tokens = self.compiled_step(batch.source, batch.previous, batch.target)
        if not math.isfinite(float(nats)):
            raise TrainingError(
                "the loss is no longer a number: training diverged",
                hint=f"try a lower --learning-rate than {self.config.learning_rate:g}",
            )
        return float(nats), float(tokens)

    def step(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        nats, tokens = self.strategy.run(self.replica_step, args=(source, previous, target))
        return nats, tokens

    def replica_step(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            logits = self.network(source, previous, training=True)
            loss = token_loss(logits, tf.transpose(target), self.config.label_smoothing)
            objective = loss.objective / loss.tokens
        gradients = tape.gradient(objective, [variable.value for variable in self.variables])
        # The embeddings' gradient comes in slices; dense, it can be clipped with the others.
        dense = [tf.convert_to_tensor(gradient) for gradient in gradients]
        self.optimizer.apply(dense, self.variables)
        return loss.nats, loss.tokens


def fit(
    trainer: Trainer, batches: TrainingBatches, validate: Validator, checkpoints: Checkpoints, watcher: Watcher
) -> None:
    """Runs the epochs; keeps the best weights and the history in `checkpoints`.

    Ends early without harm when the watcher says so or patience runs out. Stopped before the first step was done, it
    raises KeyboardInterrupt: there is nothing to keep.
    """
    for epoch in range(1, trainer.config.epochs + 1):
        meter = run_epoch(trainer, batches, epoch, watcher)
        if meter.steps == 0:
            if checkpoints.best is None:
                raise KeyboardInterrupt
            return
        watcher.validating(epoch)
        validation = validate(trainer.network)
        keep_epoch(trainer, epoch, meter, meter.steps == batches.steps, validation, checkpoints, watcher)
        if watcher.should_stop() or out_of_patience(checkpoints, epoch, trainer.config.patience):
            return


def run_epoch(trainer: Trainer, batches: TrainingBatches, epoch: int, watcher: Watcher) -> Meter:
    """One pass over the pairs, or what of it the watcher lets pass."""
    meter = Meter()
    epochs, steps = trainer.config.epochs, batches.steps
    for batch in batches.epoch(epoch):
        if watcher.should_stop():
            break
        meter.add(*trainer.update(batch))
        watcher.stepped(
            StepStatus(
                epoch=epoch,
                epochs=epochs,
                step=meter.steps,
                steps_per_epoch=steps,
                loss=meter.loss,
                tokens_per_second=meter.tokens_per_second,
                seconds_left=meter.seconds_per_step * ((epochs - epoch + 1) * steps - meter.steps),
            )
        )
    return meter


def keep_epoch(
    trainer: Trainer,
    epoch: int,
    meter: Meter,
    complete: bool,
    validation: Validation,
    checkpoints: Checkpoints,
    watcher: Watcher,
) -> None:
    """Keeps the weights if they are the best so far, and the record of the epoch in any case."""
    best = checkpoints.is_better(validation)
    if best:
        checkpoints.keep(trainer.network, epoch, validation)
    record = EpochRecord(
        epoch=epoch,
        steps=int(trainer.optimizer.iterations.numpy()),
        loss=meter.loss,
        dev_loss=validation.loss,
        perplexity=math.exp(min(validation.loss, 700.0)),
        accuracy=validation.accuracy,
        bleu=validation.bleu,
        chrf=validation.chrf,
        learning_rate=float(trainer.optimizer.learning_rate.numpy()),
        tokens_per_second=meter.tokens_per_second,
        seconds=meter.seconds,
        best=best,
        complete=complete,
    )
    checkpoints.record(record)
    watcher.epoch_ended(record, validation)


def out_of_patience(checkpoints: Checkpoints, epoch: int, patience: int | None) -> bool:
    return patience is not None and checkpoints.best is not None and epoch - checkpoints.best.epoch >= patience
