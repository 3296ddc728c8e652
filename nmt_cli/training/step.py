"""One update of the weights, compiled: from one batch or several, on one device or several.

Letters: B sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.keras_engine import source_spec
from nmt_cli.training.loss import TrainingLoss, training_loss
from nmt_cli.training.schedule import Schedule, make_optimizer
from nmt_cli.training.scheduled_sampling import with_own_tokens

IDS = tf.TensorSpec((None, None), tf.int32)
SCALAR = tf.TensorSpec((), tf.float32)


class Trainer:
    """Updates a network under a `tf.distribute` strategy (by default, that of one device).

    The objective of an update is the mean over all real target tokens of all its batches, on whatever device they are.
    A device may learn from several `parts` of its rows side by side, a core each. Must be made within the strategy's
    scope.
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
        self.accumulated = [make_accumulator(variable) for variable in self.variables] if config.accumulate > 1 else []
        signature = [source_spec(network), IDS, IDS, SCALAR]
        self.compiled_step = tf.function(self.step, input_signature=signature, autograph=False)
        self.compiled_wait = tf.function(self.wait, input_signature=signature, autograph=False)

    @property
    def state(self) -> list[keras.Variable]:
        """All that the next updates depend on: weights, seeds of dropout, the optimiser's memory and step count."""
        return [*self.network.variables, *self.optimizer.variables]

    @property
    def averages(self) -> list[keras.Variable]:
        """The moving averages of `variables`, in their order; empty unless the settings ask for them."""
        return (
            [variable for variable in self.optimizer.variables if variable.path.endswith("_average")]
            if self.config.ema
            else []
        )

    def update(self, batches: Sequence[Batch]) -> tuple[float, float]:
        """One step of the optimiser. Returns nats and target tokens of the batches."""
        tokens = float(sum(np.count_nonzero(batch.target) for batch in batches))
        *first, last = [(batch.source, batch.previous, batch.target) for batch in batches]
        nats = sum(float(self.compiled_wait(*ids, tokens)) for ids in first)
        return nats + float(self.compiled_step(*last, tokens)), tokens

    def step(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """The update itself; returns nats of this batch. `tokens` are those of all the update's batches."""
        return self.sum_gradients(self.strategy.run(self.replica_step, args=(source, previous, target, tokens)))

    def wait(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        """Keeps the gradients of a batch that is not the last of its update."""
        return self.sum_gradients(self.strategy.run(self.replica_wait, args=(source, previous, target, tokens)))

    def sum_gradients(self, nats: tf.Tensor) -> tf.Tensor:
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, nats, axis=None)

    def replica_step(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        gradients, nats = self.compute_gradients(source, previous, target, tokens)
        if self.accumulated:
            gradients = [new + old for new, old in zip(gradients, self.accumulated, strict=True)]
        self.optimizer.apply(gradients, self.variables)
        for old in self.accumulated:
            old.assign(tf.zeros_like(old))
        return nats

    def replica_wait(self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor) -> tf.Tensor:
        gradients, nats = self.compute_gradients(source, previous, target, tokens)
        for old, new in zip(self.accumulated, gradients, strict=True):
            old.assign_add(new)
        return nats

    def compute_gradients(
        self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor
    ) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Returns the gradients of the trainable weights, and the nats."""
        shares = list(zip(*map(self.split_batch, (source, previous, target)), strict=True))
        if self.config.scheduled_sampling:
            shares = [(source, self.with_own_tokens(source, previous), target) for source, previous, target in shares]
        with tf.GradientTape() as tape:
            # Nothing of one waits for another.
            losses = [teacher_forced(self.network, *share, smoothing=self.config.label_smoothing) for share in shares]
            objective = tf.add_n([loss.objective for loss in losses]) / tokens
        gradients = tape.gradient(objective, [variable.value for variable in self.variables])
        # The embeddings' gradient comes in slices; dense, it can be clipped with the others.
        return [tf.convert_to_tensor(gradient) for gradient in gradients], tf.add_n([loss.nats for loss in losses])

    def with_own_tokens(self, source: tf.Tensor, previous: tf.Tensor) -> tf.Tensor:
        """Scheduled sampling whose share rises from 0, in a straight line: the linear decay of Bengio et al."""
        updates = tf.cast(self.optimizer.iterations.value, tf.int32)
        share = self.config.scheduled_sampling * self.schedule.measure_share(updates)
        seed = self.config.seed % 2**31 + updates  # in 32 bits, of which one is the sign
        seed = tf.stack([seed, tf.reduce_sum(previous)])  # another for each batch of an update
        return with_own_tokens(self.network, source, previous, share, seed)

    def split_batch(self, rows: tf.Tensor) -> list[tf.Tensor]:
        """Returns the rows of this replica, of B, by its parts: of n parts of all replicas each has every n-th row.

        All parts have equally many rows, some padding alone.
        """
        count = self.strategy.num_replicas_in_sync * self.parts
        if count == 1:
            return [rows]
        padded = tf.pad(rows, [[0, -tf.shape(rows)[0] % count], *[[0, 0]] * (rows.shape.rank - 1)])
        first = tf.distribute.get_replica_context().replica_id_in_sync_group * self.parts
        return [padded[first + part :: count] for part in range(self.parts)]


def teacher_forced(
    network: Seq2Seq, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, *, smoothing: float
) -> TrainingLoss:
    """Returns the loss of a network that reads the `previous` tokens (B, T) and predicts `target` (B, T)."""
    output = network.output_layer
    read = output.prepare_readout(network.compute_readouts(source, previous, training=True))
    return training_loss(read, output.rows, output.bias.value, tf.transpose(target), smoothing)


def make_accumulator(variable: keras.Variable) -> tf.Variable:
    """Zeros like `variable`, for each replica its own."""
    return tf.Variable(
        tf.zeros(variable.shape, variable.dtype),
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
