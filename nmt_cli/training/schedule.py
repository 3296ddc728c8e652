"""The optimizer and its learning rate over the run: Keras' Adam and cosine decay, adapted where Keras falls short."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from nmt_cli.training.config import TrainConfig


@dataclass(frozen=True)
class Handover:
    """The point where a schedule takes over from another, which was shorter or had other batches."""

    step: int  # updates done by then; of a timed schedule, ticks
    rate: float  # learning rate of the former schedule at that step
    steps: int | None = None  # of the whole run, if its epochs do not all have the same number


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate of a run of `steps` updates: a linear warm-up to the peak, then half a cosine down to 0.

    `factor` scales the whole schedule and may be lowered during training. After a `handover` the rate moves linearly
    from the former schedule to this one, over the same share of the remaining steps as the warm-up has of all.
    """

    def __init__(self, config: TrainConfig, steps: int, handover: Handover | None = None) -> None:
        self.steps = steps
        warmup = min(steps - 1, round(config.warmup * steps))
        self.cosine = keras.optimizers.schedules.CosineDecay(
            initial_learning_rate=0.0 if warmup else config.peak_rate,
            decay_steps=max(1, steps - warmup),
            warmup_target=config.peak_rate if warmup else None,
            warmup_steps=warmup,
        )
        self.handover = handover
        self.ramp_steps = 1 if handover is None else max(1, round(config.warmup * (steps - handover.step)))
        self.factor = keras.Variable(1.0, trainable=False, aggregation="only_first_replica", name="rate_factor")

    def __call__(self, step: Any) -> Any:
        return self.compute_rate(step) * self.factor

    def set_elapsed_share(self, share: float) -> None:
        """Sets the share of the time that has passed; a schedule that counts updates ignores it."""

    def compute_elapsed_share(self, step: Any) -> Any:
        """Returns the share of the run, 0 to 1, that has passed at `step`."""
        return ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)

    def compute_rate(self, step: Any) -> Any:
        """Returns the learning rate at `step` before `factor` scales it."""
        rate = self.cosine(step)
        if self.handover is None:
            return rate
        share = ops.minimum((ops.cast(step, "float32") - self.handover.step) / self.ramp_steps, 1.0)
        return self.handover.rate + share * (rate - self.handover.rate)


class TimedSchedule(Schedule):
    """A schedule that follows time instead of updates; the training loop sets the share that has passed."""

    TICKS = 100_000  # the schedule's steps

    def __init__(self, config: TrainConfig, handover: Handover | None = None) -> None:
        super().__init__(config, self.TICKS, handover)
        self.tick = keras.Variable(0.0, trainable=False, aggregation="only_first_replica", name="rate_tick")

    def set_elapsed_share(self, share: float) -> None:
        self.tick.assign(share * self.TICKS)

    def compute_rate(self, step: Any) -> Any:
        return super().compute_rate(self.tick.value)

    def compute_elapsed_share(self, step: Any) -> Any:
        return super().compute_elapsed_share(self.tick.value)


class ReplicaAdam(keras.optimizers.Adam):
    """Adam that clips the gradient of the whole batch, and reads and writes each weight only once.

    Keras 3 clips the gradient of each replica and then sums: two replicas would make another update than one. Here the
    sum comes first, and Keras must not sum again. Keras' update also takes a dozen operations, each a pass over the
    weights or moments; TensorFlow does it in a single operation, three times as fast.
    """

    def _clip_gradients(self, grads: list[tf.Tensor]) -> list[tf.Tensor]:
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        norm = tf.linalg.global_norm(grads)
        clipped: list[tf.Tensor] = tf.cond(
            norm <= self.global_clipnorm,  # usually true, which saves a pass over all gradients
            lambda: list(grads),
            lambda: tf.clip_by_global_norm(grads, self.global_clipnorm, use_norm=norm)[0],
        )
        return clipped

    def update_step(self, gradient: tf.Tensor, variable: tf.Variable, learning_rate: tf.Tensor) -> None:
        index = self._get_variable_index(variable)
        steps = tf.cast(self.iterations.value + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(tf.cast(self.beta_1, variable.dtype), steps),
            beta2_power=tf.pow(tf.cast(self.beta_2, variable.dtype), steps),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=gradient,
        )

    def _all_reduce_sum_gradients(self, grads_and_vars: Any) -> Any:
        return grads_and_vars


def make_optimizer(config: TrainConfig, schedule: Schedule) -> keras.optimizers.Optimizer:
    """Returns Adam with the learning rate of `schedule`.

    beta_2 is that of Vaswani et al. (2017): in a run of a few thousand steps the second moment must not lag.
    """
    return ReplicaAdam(
        schedule,
        beta_2=0.98,
        epsilon=1e-8,
        global_clipnorm=config.clip,
        use_ema=config.ema is not None,
        ema_momentum=config.ema or 0.0,
    )
