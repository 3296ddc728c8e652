"""The optimiser and its learning rate over the run: both Keras' own."""

from __future__ import annotations

import keras

from nmt_cli.training.config import TrainConfig


def optimizer(config: TrainConfig, steps: int) -> keras.optimizers.Optimizer:
    """Adam for a run of `steps` updates: linear warm-up to the peak, then half a cosine down to 0.

    beta_2 is that of Vaswani et al. (2017): the second moment of a run of a few thousand steps must not lag.
    """
    warmup = min(steps - 1, round(config.warmup * steps))
    learning_rate = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=0.0 if warmup else config.learning_rate,
        decay_steps=max(1, steps - warmup),
        warmup_target=config.learning_rate if warmup else None,
        warmup_steps=warmup,
    )
    return keras.optimizers.Adam(learning_rate, beta_2=0.98, epsilon=1e-8, global_clipnorm=config.clip)
