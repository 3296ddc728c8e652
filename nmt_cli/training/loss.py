"""Cross-entropy over real target tokens, in nats.

Letters: T target positions, B sentences, N = T x B, R width of the readout, V vocabulary. Padding has id 0 and is
ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

TINY = 1e-37  # smaller probabilities count as this one: the logarithm of 0 is infinite


@dataclass(frozen=True)
class TokenLoss:
    """The loss reported for the development set: sums over the real tokens of a batch."""

    nats: tf.Tensor
    correct: tf.Tensor  # number of tokens that are also the likeliest prediction
    tokens: tf.Tensor  # number of real tokens: divide by it for a mean


@dataclass(frozen=True)
class TrainingLoss:
    """The training objective: sums over the real tokens of a batch."""

    objective: tf.Tensor  # with label smoothing; minimised
    nats: tf.Tensor  # without label smoothing; reported, and has no gradient


def compute_token_loss(logits: tf.Tensor, targets: tf.Tensor) -> TokenLoss:
    """Returns the sums for `logits` (T, B, V) and the true tokens `targets` (T, B)."""
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, tf.cast(logits, tf.float32))
    correct = tf.cast(tf.equal(tf.argmax(logits, axis=-1, output_type=targets.dtype), targets), tf.float32)
    return TokenLoss(nats=tf.reduce_sum(nats * real), correct=tf.reduce_sum(correct * real), tokens=tf.reduce_sum(real))


def compute_training_loss(
    read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor, targets: tf.Tensor, smoothing: float
) -> TrainingLoss:
    """Returns the loss of the logits `read weights^T + bias`, for `read` (T, B, R), `weights` (V, R) and `bias` (V,).

    `targets` (T, B) are the true tokens. The smoothed target gives 1 - smoothing to the true token and spreads the rest
    evenly over all V tokens.
    Source: Szegedy et al. (2016), "Rethinking the Inception Architecture", section 7.
    """
    targets = tf.reshape(targets, [-1])
    real = tf.cast(tf.not_equal(targets, 0), tf.float32)
    rows = tf.reshape(read, [-1, read.shape[-1]])
    objective, nats = SmoothedCrossEntropy(targets, smoothing)(rows, weights, bias)
    return TrainingLoss(objective=tf.reduce_sum(objective * real), nats=tf.reduce_sum(nats * real))


class SmoothedCrossEntropy:
    """The cross-entropies of N positions, with smoothing and without, computed together with the logits.

    The gradient is written out, from the logits back through the product that makes them. (N, V) is by far the largest
    tensor of a training step, and TensorFlow's own gradient passes over it a dozen times (what this costs is in
    benchmarks/log/training-speed.md). Here there are few passes:

    1. the product with `weights`, plus the bias, gives the logits;
    2. the softmax gives the probabilities;
    3. subtracting the true token, at N positions, gives the errors;
    4. two products of the errors give the gradients of `read` and `weights`.

    All errors share the even part of the smoothed target, and each position has its weight, `upstream`; both are
    applied on the small side of the products. Products are computed in the type of `read`, small tensors in float32.
    """

    def __init__(self, targets: tf.Tensor, smoothing: float) -> None:
        self.targets = targets  # (N,)
        self.smoothing = smoothing

    def __call__(self, read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the losses (N,) with smoothing and without, for `read` (N, R), `weights` (V, R) and `bias` (V,).

        Only the first has a gradient.
        """
        return tf.custom_gradient(self.compute_loss)(read, weights, bias)  # type: ignore[no-any-return]

    def compute_loss(
        self, read: tf.Tensor, weights: tf.Tensor, bias: tf.Tensor
    ) -> tuple[tuple[tf.Tensor, tf.Tensor], Any]:
        """Returns both losses, and the gradient function of the first."""
        kernel = tf.cast(weights, read.dtype)
        # The extra axis keeps TensorFlow from fusing the product with the bias, which is slower than one by one.
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
            """Returns the gradients of `read`, `weights` and `bias`, given those of the N objectives."""
            even = self.smoothing / bias.shape[0]
            indices = tf.stack([tf.range(tf.size(self.targets, self.targets.dtype)), self.targets], axis=1)
            target_errors = tf.cast(of_target - (1.0 - self.smoothing), read.dtype)
            errors = tf.tensor_scatter_nd_update(probabilities, indices, target_errors)  # (N, V), without `even`
            weighted = tf.cast(read, tf.float32) * upstream[:, tf.newaxis]
            read_gradient = tf.cast(tf.matmul(errors, kernel), tf.float32) - even * sums
            weight_gradient = tf.cast(tf.matmul(errors, tf.cast(weighted, read.dtype), transpose_a=True), tf.float32)
            bias_gradient = tf.cast(tf.matmul(tf.cast(upstream, read.dtype)[tf.newaxis], errors), tf.float32)[0]
            return (
                tf.cast(read_gradient * upstream[:, tf.newaxis], read.dtype),
                weight_gradient - even * tf.reduce_sum(weighted, axis=0),
                bias_gradient - even * tf.reduce_sum(upstream),
            )

        return (objective, nats), compute_gradient
