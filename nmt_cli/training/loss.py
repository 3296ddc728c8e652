"""Cross-entropy over real target tokens, in nats.

Letters: T target positions, B sentences, V vocabulary. Padding has id 0 and counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    logits = tf.cast(logits, tf.float32)
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)  # (T, B)
    true_logits = tf.gather(logits, targets, batch_dims=2)
    # The cross-entropy to the even distribution is log sum exp - mean of the logits; the log sum exp is in `nats`.
    even = nats + true_logits - tf.reduce_mean(logits, axis=-1)
    objective = (1.0 - smoothing) * nats + smoothing * even
    correct = tf.cast(tf.equal(tf.argmax(logits, axis=-1, output_type=targets.dtype), targets), tf.float32)
    return TokenLoss(
        objective=tf.reduce_sum(objective * real),
        nats=tf.reduce_sum(nats * real),
        correct=tf.reduce_sum(correct * real),
        tokens=tf.reduce_sum(real),
    )
