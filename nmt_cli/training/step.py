"""One update of the weights, compiled: from one or several batches, on one or several devices.

Knows no epochs and no files. Letters: B sentences, T target positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.keras_engine import make_source_spec
from nmt_cli.training.kernels import choose_kernels, prepare_network, round_up
from nmt_cli.training.loss import TrainingLoss, compute_training_loss
from nmt_cli.training.schedule import Schedule, make_optimizer
from nmt_cli.training.scheduled_sampling import sample_previous_tokens

IDS = tf.TensorSpec((None, None), tf.int32)
SCALAR = tf.TensorSpec((), tf.float32)

ReplicaUpdate = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


class Trainer:
    """Updates a network under a `tf.distribute` strategy (by default, of one device).

    The objective of an update is the mean over all real target tokens of all its batches, whichever device holds them.
    A device may learn from several `parts` of its rows in parallel, one core each. Must be created within the scope of
    the strategy.
    """

    def __init__(self, network: Seq2Seq, schedule: Schedule, config: TrainConfig, parts: int = 1) -> None:
        self.network = network
        self.schedule = schedule
        self.parts = parts
        self.optimizer = make_optimizer(config, schedule)
        self.config = config
        self.variables = network.trainable_variables
        self.optimizer.build(self.variables)
        self.strategy = tf.distribute.get_strategy()
        self.kernels = choose_kernels(config.kernels, network, self.strategy.num_replicas_in_sync)
        prepare_network(network, self.kernels)
        self.accumulated = [make_accumulator(variable) for variable in self.variables] if config.accumulate > 1 else []
        self.compiled_step = self.compile(self.step)
        self.compiled_accumulation = self.compile(self.accumulate)

    @property
    def state(self) -> list[keras.Variable]:
        """All that the next updates depend on: weights, dropout seeds, the optimizer's moments and step count."""
        return [*self.network.variables, *self.optimizer.variables]

    @property
    def averages(self) -> list[keras.Variable]:
        """The moving averages of `variables`, in the same order; empty without `config.ema`."""
        return (
            [variable for variable in self.optimizer.variables if variable.path.endswith("_average")]
            if self.config.ema
            else []
        )

    def update(self, batches: Sequence[Batch]) -> tuple[float, float]:
        """Makes one step of the optimizer. Returns the nats and the number of target tokens of the batches."""
        # 1. Count the real target tokens of all batches: every gradient is divided by them.
        tokens = float(sum(np.count_nonzero(batch.target) for batch in batches))
        # 2. Accumulate the gradients of all batches but the last.
        *earlier, last = [tuple(map(self.fit, (batch.source, batch.previous, batch.target))) for batch in batches]
        nats = sum(float(self.compiled_accumulation(*ids, tokens)) for ids in earlier)
        # 3. Add those of the last, clip the sum, and update the weights.
        return nats + float(self.compiled_step(*last, tokens)), tokens

    def fit(self, ids: NDArray[Any]) -> NDArray[Any]:
        """Returns ids or features in a shape for which few updates are compiled."""
        return round_up(ids) if self.kernels == "xla" else ids

    def compile(self, update: ReplicaUpdate) -> tf.types.experimental.PolymorphicFunction:
        """Returns `update`, compiled, for a batch whose rows all replicas share; it returns the nats of them all."""

        def run_on_replicas(*batch: tf.Tensor) -> tf.Tensor:
            return self.strategy.reduce(tf.distribute.ReduceOp.SUM, self.strategy.run(update, args=batch), axis=None)

        signature = [make_source_spec(self.network), IDS, IDS, SCALAR]
        fused = self.kernels == "xla" or None  # False would forbid it to those who ask TensorFlow for it
        return tf.function(run_on_replicas, input_signature=signature, autograph=False, jit_compile=fused)

    def step(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Updates the weights from the last batch of an update and all accumulated gradients; returns its nats.

        `tokens` counts the target tokens of all batches of the update.
        """
        gradients, nats = self.compute_gradients(source, previous, target, tokens)
        if self.accumulated:
            gradients = [new + old for new, old in zip(gradients, self.accumulated, strict=True)]
        self.optimizer.apply(gradients, self.variables)
        for old in self.accumulated:
            old.assign(tf.zeros_like(old))
        return nats

    def accumulate(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Adds the gradients of a batch that is not the last of its update to those accumulated; returns its nats."""
        gradients, nats = self.compute_gradients(source, previous, target, tokens)
        for old, new in zip(self.accumulated, gradients, strict=True):
            old.assign_add(new)
        return nats

    def compute_gradients(
        self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor
    ) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Returns the gradients of the trainable weights, and the nats, of the rows of this replica."""
        # 1. Split the rows into parts, one for each core.
        parts = list(zip(*map(self.split_batch, (source, previous, target)), strict=True))
        # 2. With scheduled sampling, replace some previous tokens by the network's own predictions.
        if self.config.scheduled_sampling:
            parts = [
                (source, self.sample_previous_tokens(source, previous), target) for source, previous, target in parts
            ]
        # 3. Compute the losses. No part depends on another, so TensorFlow runs them in parallel.
        with tf.GradientTape() as tape:
            losses = [
                compute_teacher_forced_loss(self.network, *part, smoothing=self.config.label_smoothing)
                for part in parts
            ]
            objective = tf.add_n([loss.objective for loss in losses]) / tokens
        # 4. Differentiate. The gradient of the embeddings is sparse; only a dense one can be clipped with the others.
        gradients = tape.gradient(objective, [variable.value for variable in self.variables])
        return [tf.convert_to_tensor(gradient) for gradient in gradients], tf.add_n([loss.nats for loss in losses])

    def sample_previous_tokens(self, source: tf.Tensor, previous: tf.Tensor) -> tf.Tensor:
        """Applies scheduled sampling with a share that rises linearly from 0: the linear decay of Bengio et al."""
        updates = tf.cast(self.optimizer.iterations.value, tf.int32)
        share = self.config.scheduled_sampling * self.schedule.compute_elapsed_share(updates)
        seed = self.config.seed % 2**31 + updates  # fits into a signed number of 32 bits
        seed = tf.stack([seed, tf.reduce_sum(previous)])  # differs between the batches of an update
        return sample_previous_tokens(self.network, source, previous, share, seed)

    def split_batch(self, rows: tf.Tensor) -> list[tf.Tensor]:
        """Returns this replica's parts of the B rows: each of the n parts of all replicas gets every n-th row.

        All parts have the same number of rows; some may be padding only.
        """
        count = self.strategy.num_replicas_in_sync * self.parts
        if count == 1:
            return [rows]
        padded = tf.pad(rows, [[0, -tf.shape(rows)[0] % count], *[[0, 0]] * (rows.shape.rank - 1)])
        first = tf.distribute.get_replica_context().replica_id_in_sync_group * self.parts
        return [padded[first + part :: count] for part in range(self.parts)]


def compute_teacher_forced_loss(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, *, smoothing: float
) -> TrainingLoss:
    """Returns the loss of a network that reads the `previous` tokens (B, T) and predicts `target` (B, T)."""
    output = network.output_layer
    read = output.prepare_readout(network.compute_readouts(source, previous, training=True))
    return compute_training_loss(read, output.rows, output.bias.value, tf.transpose(target), smoothing)


def make_accumulator(variable: keras.Variable) -> tf.Variable:
    """Returns zeros in the shape of `variable`, separate for each replica."""
    return tf.Variable(
        tf.zeros(variable.shape, variable.dtype),
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
