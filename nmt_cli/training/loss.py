"""Cross-entropy over real target tokens, in nats.

Letters: T target positions, B sentences, N = T x B, R width of what is read out, V vocabulary. Padding has id 0 and
counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

TINY = 1e-37  # no probability is taken for less: its logarithm would be infinite


@dataclass(frozen=True)
class TokenLoss:
    """What the network is measured by. Sums over the real tokens of a batch; divide by `tokens` for a mean."""

    nats: tf.Tensor
    correct: tf.Tensor  # tokens whose likeliest prediction is the true one
    tokens: tf.Tensor


@dataclass(frozen=True)
class TrainingLoss:
    """What the network learns from. Sums over the real tokens of a batch."""

    objective: tf.Tensor  # with label smoothing: what is minimised
    nats: tf.Tensor  # without: what is reported; it has no gradient


def token_loss(logits: tf.Tensor, targets: tf.Tensor) -> TokenLoss:
    """`logits` (T, B, V), `targets` (T, B)."""
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, tf.cast(logits, tf.float32))
    correct = tf.cast(tf.equal(tf.argmax(logits, axis=-1, output_type=targets.dtype), targets), tf.float32)
    return TokenLoss(nats=tf.reduce_sum(nats * real), correct=tf.reduce_sum(correct * real), tokens=tf.reduce_sum(real))


def training_loss(
    read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor, targets: tf.Tensor, smoothing: float
) -> TrainingLoss:
    """Computes the loss and accuracy of the logits `read weights^T + bias`.

    `read` is (T, B, R), `weights` (V, R), `bias` (V,), `targets` (T, B).

    The smoothed target gives 1 - smoothing to the true token and the rest evenly to all V.
    Source: Szegedy et al. (2016), "Rethinking the Inception Architecture", section 7.
    """
    targets = tf.reshape(targets, [-1])
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    rows = tf.reshape(read, [-1, read.shape[-1]])
    objective, nats = SmoothedCrossEntropy(targets, smoothing)(rows, weights, bias)
    return TrainingLoss(objective=tf.reduce_sum(objective * real), nats=tf.reduce_sum(nats * real))


class SmoothedCrossEntropy:
    """The cross-entropies of N positions, with smoothing and without, from the product that makes their logits.

    Its gradient is written out, from the logits back through that product: (N, V) is by far the largest tensor of a
    training step, and what TensorFlow does by itself goes over it a dozen times (what that costs stands in
    benchmarks/log/0003-training-speed.md). Here it is made (the product and its bias), put through the softmax,
    corrected at N places, and read by the two products of the gradient. What an error has in common with all others,
    the even share of the smoothed target, and what weighs a position, `upstream`, are taken into account on the small
    side of those products.
    Products are computed in the type of `read`, all that is small in float32.
    """

    def __init__(self, targets: tf.Tensor, smoothing: float) -> None:
        self.targets = targets  # (N,)
        self.smoothing = smoothing

    def __call__(self, read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """(N,) both; only the first has a gradient. `read` (N, R), `weights` (V, R) and `bias` (V,)."""
        return tf.custom_gradient(self.compute_loss)(read, weights, bias)  # type: ignore[no-any-return]

    def compute_loss(
        self, read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, tf.Tensor], Any]:
        kernel = tf.cast(weights, read.dtype)
        # Told apart by a shape of its own, since TensorFlow's fused product with bias is slower than the two.
        products = tf.matmul(read, kernel, transpose_b=True)[tf.newaxis]
        logits = tf.squeeze(products + tf.cast(bias, read.dtype), 0)
        probabilities = tf.nn.softmax(logits)
        of_target, logit = (
            tf.cast(tf.gather(rows, self.targets, batch_dims=1), tf.float32) for rows in (probabilities, logits)
        )
        nats = -tf.math.log(tf.maximum(of_target, TINY))
        sums = tf.reduce_sum(weights, axis=0)  # (R,)
        mean = (tf.linalg.matvec(tf.cast(read, tf.float32), sums) + tf.reduce_sum(bias)) / bias.shape[0]
        objective = nats + self.smoothing * (logit - mean)

        def compute_gradient(upstream: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            even = self.smoothing / bias.shape[0]
            places = tf.stack([tf.range(tf.size(self.targets, self.targets.dtype)), self.targets], axis=1)
            at_target = tf.cast(of_target - (1.0 - self.smoothing), read.dtype)
            errors = tf.tensor_scatter_nd_update(probabilities, places, at_target)  # but for `even`
            weighed = tf.cast(read, tf.float32) * upstream[:, tf.newaxis]
            to_read = tf.cast(tf.matmul(errors, kernel), tf.float32) - even * sums
            to_weights = tf.cast(tf.matmul(errors, tf.cast(weighed, read.dtype), transpose_a=True), tf.float32)
            to_bias = tf.cast(tf.matmul(tf.cast(upstream, read.dtype)[tf.newaxis], errors), tf.float32)[0]
            return (
                tf.cast(to_read * upstream[:, tf.newaxis], read.dtype),
                to_weights - even * tf.reduce_sum(weighed, axis=0),
                to_bias - even * tf.reduce_sum(upstream),
            )

        return (objective, nats), compute_gradient
