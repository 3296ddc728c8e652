"""Scheduled sampling: in training, the network's own predictions replace some of the previous target tokens.

1. A first pass with teacher forcing, without gradient, predicts the token at each position.
2. A part of the previous tokens, drawn at random, is replaced by these predictions.
3. The training step (`step.py`) then learns from the mixture.

Source: Bengio et al. (2015), "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks"; the two
passes are those of Mihaylova and Martins (2019), "Scheduled Sampling for Transformers". They do not depend on the order
of the positions, and so work with every decoder.
Letters: B sentences, T target positions.
"""

from __future__ import annotations

import tensorflow as tf

from nmt_cli.arrays.special_ids import PAD, START
from nmt_cli.model.seq2seq import Seq2Seq


def sample_previous_tokens(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, share: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Returns `previous` (B, T) with a share (0 to 1) of its tokens replaced by the network's predictions; START stays.

    The draw depends only on `seed` (2,). With a share of 0 the first pass does not run.
    """
    return tf.cond(share > 0, lambda: mix_predictions(network, source, previous, share, seed), lambda: previous)


def mix_predictions(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, share: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """Replaces each token of `previous` (B, T), but START and padding, by its prediction with probability `share`."""
    predicted = predict_previous_tokens(network, source, previous)
    is_replaced = tf.random.stateless_uniform(tf.shape(previous), seed) < share
    is_token = tf.logical_and(tf.not_equal(previous, PAD), tf.not_equal(previous, START))
    return tf.where(tf.logical_and(is_replaced, is_token), predicted, previous)


def predict_previous_tokens(network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor) -> tf.Tensor:
    """Returns the likeliest tokens (B, T), shifted to where each would be the previous token, after a START."""
    logits = tf.cast(network(source, previous, training=False), tf.float32) + network.output_layer.make_forbidden_bias()
    likeliest = tf.transpose(tf.argmax(tf.stop_gradient(logits), axis=-1, output_type=previous.dtype))  # (B, T)
    return tf.concat([tf.fill([tf.shape(likeliest)[0], 1], START), likeliest[:, :-1]], axis=1)
