"""Cross-entropy over real target tokens, in nats.

Letters: T target positions, B sentences, V vocabulary. Padding has id 0 and counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf


@dataclass(frozen=True)
class TokenLoss:
    """Sums over the real tokens of a batch; divide by `tokens` for a mean."""

    objective: tf.Tensor  # with label smoothing: what is minimised
    nats: tf.Tensor  # without: what is reported
    correct: tf.Tensor  # tokens whose likeliest prediction is the true one
    tokens: tf.Tensor


def token_loss(logits: tf.Tensor, targets: tf.Tensor, smoothing: float) -> TokenLoss:
    """`logits` (T, B, V), `targets` (T, B).

    The smoothed target gives 1 - smoothing to the true token and the rest evenly to all V.
    Source: Szegedy et al. (2016), "Rethinking the Inception Architecture", section 7.
    """
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    objective, nats = cross_entropies(logits, targets, smoothing)
    correct = tf.cast(tf.equal(tf.argmax(logits, axis=-1, output_type=targets.dtype), targets), tf.float32)
    return TokenLoss(
        objective=tf.reduce_sum(objective * real),
        nats=tf.reduce_sum(nats * real),
        correct=tf.reduce_sum(correct * real),
        tokens=tf.reduce_sum(real),
    )


def cross_entropies(logits: tf.Tensor, targets: tf.Tensor, smoothing: float) -> tuple[tf.Tensor, tf.Tensor]:
    """With smoothing and without, (T, B); only the first has a gradient.

    It is written out, probability less smoothed target: TensorFlow's own goes over the largest tensor of the training
    step, (T, B, V), once for each term of the sum.
    """
    vocabulary = logits.shape[-1]

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def both(logits: tf.Tensor) -> tuple[tuple[tf.Tensor, tf.Tensor], Any]:
        exact = tf.cast(logits, tf.float32)
        largest = tf.reduce_max(exact, axis=-1, keepdims=True)
        exponentials = tf.exp(exact - largest)
        total = tf.reduce_sum(exponentials, axis=-1, keepdims=True)
        log_total = tf.squeeze(largest + tf.math.log(total), -1)
        nats = log_total - tf.gather(exact, targets, batch_dims=2)
        even = log_total - tf.reduce_mean(exact, axis=-1)  # the cross-entropy to the even distribution

        def gradient(upstream: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
            upstream = upstream[..., tf.newaxis]
            rest = smoothing / vocabulary
            wanted = tf.one_hot(targets, vocabulary, 1.0 - smoothing + rest, rest)
            return tf.cast(exponentials * (upstream / total) - wanted * upstream, logits.dtype)

        return ((1.0 - smoothing) * nats + smoothing * even, nats), gradient

    return both(logits)  # type: ignore[no-any-return]
