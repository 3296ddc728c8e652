"""The optimiser and its learning rate over the run: both Keras' own, with what Keras leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from nmt_cli.training.config import TrainConfig


@dataclass(frozen=True)
class Handover:
    """Where a longer schedule took over from a shorter one."""

    step: int  # updates that were done
    rate: float  # learning rate of the shorter schedule at that step


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate of a run of `steps` updates: linear warm-up to the peak, then half a cosine down to 0.

    `factor` scales all of it and may be lowered while training. After a `handover` the rate moves from that of the
    shorter schedule to that of this one, in as large a share of the steps that are left as the warm-up has of all.
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
        self.ramp = 1 if handover is None else max(1, round(config.warmup * (steps - handover.step)))
        self.factor = keras.Variable(1.0, trainable=False, aggregation="only_first_replica", name="rate_factor")

    def __call__(self, step: Any) -> Any:
        return self.plan_rate(step) * self.factor

    def follow_time(self, share: float) -> None:
        """Told before each update of a run with a deadline; a schedule that counts updates has no use for it."""

    def measure_share(self, step: Any) -> Any:
        """Share of the run, 0 to 1, that is over at `step`."""
        return ops.minimum(ops.cast(step, "float32") / self.steps, 1.0)

    def plan_rate(self, step: Any) -> Any:
        """The rate at `step` before it is scaled by `factor`."""
        rate = self.cosine(step)
        if self.handover is None:
            return rate
        share = ops.minimum((ops.cast(step, "float32") - self.handover.step) / self.ramp, 1.0)
        return self.handover.rate + share * (rate - self.handover.rate)


class TimedSchedule(Schedule):
    """A schedule that follows the time instead of the updates: whoever knows the time says where it is."""

    TICKS = 100_000

    def __init__(self, config: TrainConfig) -> None:
        super().__init__(config, self.TICKS)
        self.tick = keras.Variable(0.0, trainable=False, aggregation="only_first_replica", name="rate_tick")

    def follow_time(self, share: float) -> None:
        """`share`, 0 to 1, of the run is over."""
        self.tick.assign(share * self.TICKS)

    def plan_rate(self, step: Any) -> Any:
        return super().plan_rate(self.tick.value)

    def measure_share(self, step: Any) -> Any:
        return super().measure_share(self.tick.value)


class ReplicaAdam(keras.optimizers.Adam):
    """Adam that clips the gradient of the whole batch, and reads and writes each weight once.

    Keras 3 clips what each replica has of the gradient and sums what is left: with two replicas another update than
    with one. Here the sum comes first, so that Keras must not take it again. And Keras' update is a dozen operations,
    each a pass over weights or moments; TensorFlow has one for all of it, three times as fast.
    """

    def _clip_gradients(self, grads: list[tf.Tensor]) -> list[tf.Tensor]:
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        norm = tf.linalg.global_norm(grads)
        clipped: list[tf.Tensor] = tf.cond(
            norm <= self.global_clipnorm,  # most are: spares a pass over the gradients of all weights
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
    """Adam along `schedule`.

    beta_2 is that of Vaswani et al. (2017): the second moment of a run of a few thousand steps must not lag.
    """
    return ReplicaAdam(
        schedule,
        beta_2=0.98,
        epsilon=1e-8,
        global_clipnorm=config.clip,
        use_ema=config.ema is not None,
        ema_momentum=config.ema or 0.0,
    )
