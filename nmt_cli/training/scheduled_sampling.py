"""Scheduled sampling: while training, some of the previous target tokens are what the network itself would have said.

Source: Bengio et al. (2015), "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks"; in the two
passes of Mihaylova and Martins (2019), "Scheduled Sampling for Transformers", which need no order of the positions and
so go with every decoder: a first pass under teacher forcing, without gradient, says what would come at each position,
and the second one is trained with a mixture of that and the truth.
Letters: B sentences, T target positions, V vocabulary.
"""

from __future__ import annotations

import tensorflow as tf

from nmt_cli.arrays.special_ids import PAD, START
from nmt_cli.model.seq2seq import Seq2Seq


def with_own_tokens(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, share: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    """`previous` (B, T) with this share (0 to 1) of its tokens replaced by the network's likeliest; START stays.

    What is drawn follows from `seed` (2,). At a share of 0 the first pass is not run.
    """
    return tf.cond(share > 0, lambda: mix_tokens(network, source, previous, share, seed), lambda: previous)


def mix_tokens(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, share: tf.Tensor, seed: tf.Tensor
) -> tf.Tensor:
    predicted = own_tokens(network, source, previous)
    chosen = tf.random.stateless_uniform(tf.shape(previous), seed) < share
    is_token = tf.logical_and(tf.not_equal(previous, PAD), tf.not_equal(previous, START))
    return tf.where(tf.logical_and(chosen, is_token), predicted, previous)


def own_tokens(network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor) -> tf.Tensor:
    """(B, T): what the network would have said, in the place where it would be the previous token; START first."""
    logits = tf.cast(network(source, previous, training=False), tf.float32) + network.output_layer.make_forbidden_bias()
    said = tf.transpose(tf.argmax(tf.stop_gradient(logits), axis=-1, output_type=previous.dtype))  # (B, T)
    return tf.concat([tf.fill([tf.shape(said)[0], 1], START), said[:, :-1]], axis=1)
