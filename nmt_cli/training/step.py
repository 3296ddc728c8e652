"""One update of the weights, compiled: kernels and number format, learning rate, loss, batches and devices.

    trainer = Trainer(network, Schedule(options, steps=1900), options)
    nats, tokens = trainer.update([batch])      # 412.7 nats of 180 target tokens: a loss of 2.29

The objective is the mean over all real target tokens of an update, however many batches, devices or parts it is spread
over. Does not depend on epochs or files. Letters: T target positions, B sentences, N = T x B, R width of the readout, V
vocabulary. Padding has id 0 and is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import ops
from numpy.typing import NDArray

from nmt_cli.model.config import RnnConfig
from nmt_cli.model.encoders import RecurrentEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.data.batches import Batch
from nmt_cli.training.export.keras_engine import make_source_spec
from nmt_cli.training.options import Kernels, TrainOptions

FLOAT32 = "float32"
MIXED = "mixed_bfloat16"  # products in bfloat16, weights in float32

PROCESSOR = Path("/proc/cpuinfo")


class ProcessorKind(NamedTuple):
    """A kind of processor, and whether it trains faster in bfloat16."""

    vendor: str | None  # None: any
    flag: str  # one of the instructions that it has
    fast: bool
    measured: str  # what the row rests on: benchmarks/precision.py, the step of the default network


PROCESSORS = (  # the first row that applies decides; a processor that fits none trains in float32
    ProcessorKind(None, "amx_bf16", True, "1.36 times the target tokens per second of float32, on an Intel Xeon"),
    ProcessorKind(
        "AuthenticAMD",
        "avx512_bf16",
        True,
        "8,430 target tokens per second instead of 5,640, 1.47 times (median of five rounds)",
    ),
    ProcessorKind("GenuineIntel", "avx512_bf16", False, "0.6 times the target tokens per second, on a Xeon"),
)
FIRST_GPU = (8, 0)  # compute capability of the first NVIDIA GPUs with bfloat16


def choose_policy(mixed: bool | None) -> str:
    """Returns the name of the Keras dtype policy; None means mixed precision only if it is faster here."""
    fast = is_fast_in_bfloat16() if mixed is None else mixed
    return MIXED if fast else FLOAT32


def is_fast_in_bfloat16() -> bool:
    """Whether the machine multiplies bfloat16 faster than float32.

    Queries the devices instead of timing them, because equal machines must train equal models.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
        return all(detail.get("compute_capability", (0, 0)) >= FIRST_GPU for detail in details)
    if not PROCESSOR.exists():
        return False
    vendor, flags = read_processor(PROCESSOR.read_text())
    kind = next((kind for kind in PROCESSORS if kind.flag in flags and kind.vendor in (None, vendor)), None)
    return kind is not None and kind.fast


def read_processor(text: str) -> tuple[str, frozenset[str]]:
    """Returns the vendor and the flags of the first processor in the text of /proc/cpuinfo."""
    entries: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        entries.setdefault(name.strip(), value.strip())
    return entries.get("vendor_id", ""), frozenset(entries.get("flags", "").split())


@contextmanager
def dtype_policy(name: str) -> Iterator[None]:
    """Within the block, new layers have this dtype policy."""
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(previous)


ROUNDED = (32, 8)  # XLA compiles for each shape anew, which takes seconds: rows and positions are multiples of these


def choose_kernels(asked: Kernels, network: Seq2Seq, replicas: int) -> Kernels:
    """Returns the kernels for a network that `replicas` devices train; "auto" decides by the kind of device.

    They change the speed of an update but, up to rounding, not its result:

        written  the loops of `model/recurrence.py`, whose gradients are written out: few and large products
        cudnn    each recurrence is one kernel of NVIDIA's library, if Keras finds a GPU, else Keras' own loop
        xla      the whole update is compiled for the shape of the batch

    XLA cannot compile cuDNN's kernels, so no update uses both. Nor can it compile a decoder that TensorFlow
    differentiates step by step: one with input feeding or several layers of additive attention.
    """
    if asked != "auto":
        return asked
    if replicas > 1 or not tf.config.list_physical_devices("GPU"):
        return "written"
    return "cudnn" if isinstance(network.config, RnnConfig) else "xla"


def prepare_network(network: Seq2Seq, kernels: Kernels) -> None:
    """Has the recurrences of a network run by Keras if the kernels are cuDNN's."""
    if kernels == "cudnn":
        parts = (network.encoder, network.decoder) if isinstance(network.encoder, RecurrentEncoder) else ()
        for part in parts:
            part.use_vendor_kernels()


def round_up(ids: NDArray[Any]) -> NDArray[Any]:
    """Pads ids (B, S), or features (B, S, D), at the end of the first two axes, to sizes that suit XLA."""
    padding = [(0, -size % multiple) for size, multiple in zip(ids.shape, ROUNDED, strict=False)]
    fill = 0 if ids.dtype.kind == "i" else np.nan
    return np.pad(ids, padding + [(0, 0)] * (ids.ndim - len(ROUNDED)), constant_values=fill)


@dataclass(frozen=True)
class Handover:
    """The point where a schedule takes over from another, which was shorter or had other batches."""

    step: int  # updates done by then; of a timed schedule, ticks
    rate: float  # learning rate of the former schedule at that step
    steps: int | None = None  # of the whole run, if its epochs do not all have the same number


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    """The learning rate of a run of `steps` updates: a linear warm-up to the peak, then half a cosine down to 0.

    `factor` scales the whole schedule and may be lowered during training. After a `handover`, the rate moves linearly
    from the former schedule to this one; this takes the same share of the remaining steps as the warm-up takes of all
    steps.
    """

    def __init__(self, config: TrainOptions, steps: int, handover: Handover | None = None) -> None:
        self.steps = steps
        warmup = min(steps - 1, round(config.warmup * steps))
        self.cosine = keras.optimizers.schedules.CosineDecay(
            initial_learning_rate=0.0 if warmup else config.peak_rate,
            decay_steps=max(1, steps - warmup),
            warmup_target=config.peak_rate if warmup else None,
            warmup_steps=warmup,
        )
        self.handover = handover
        self.ramp_steps = 1 if handover is None else max(1, round(config.warmup * (steps - handover.step)))
        self.factor = keras.Variable(1.0, trainable=False, aggregation="only_first_replica", name="rate_factor")

    def __call__(self, step: Any) -> Any:
        return self.compute_rate(step) * self.factor

    def set_elapsed_share(self, share: float) -> None:
        """Sets the share of the time that has passed; a schedule that counts updates ignores it."""

    def compute_rate(self, step: Any) -> Any:
        """Returns the learning rate at `step` before `factor` scales it."""
        rate = self.cosine(step)
        if self.handover is None:
            return rate
        share = ops.minimum((ops.cast(step, "float32") - self.handover.step) / self.ramp_steps, 1.0)
        return self.handover.rate + share * (rate - self.handover.rate)


class TimedSchedule(Schedule):
    """A schedule that follows time instead of updates; the training loop sets the share that has passed."""

    TICKS = 100_000  # the schedule's steps

    def __init__(self, config: TrainOptions, handover: Handover | None = None) -> None:
        super().__init__(config, self.TICKS, handover)
        self.tick = keras.Variable(0.0, trainable=False, aggregation="only_first_replica", name="rate_tick")

    def set_elapsed_share(self, share: float) -> None:
        self.tick.assign(share * self.TICKS)

    def compute_rate(self, step: Any) -> Any:
        return super().compute_rate(self.tick.value)


class ReplicaAdam(keras.optimizers.Adam):
    """Adam that clips the gradient of the whole batch, and reads and writes each weight only once.

    Keras 3 clips the gradient of each replica and then sums, so two replicas would make a different update from one.
    Here the sum comes first, and Keras must not sum again. Keras' update also takes a dozen operations, each a pass
    over the weights or moments; TensorFlow does it in a single operation, three times as fast.
    """

    def _clip_gradients(self, grads: list[tf.Tensor]) -> list[tf.Tensor]:
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            grads = context.all_reduce(tf.distribute.ReduceOp.SUM, grads)
        norm = tf.linalg.global_norm(grads)
        clipped: list[tf.Tensor] = tf.cond(
            norm <= self.global_clipnorm,  # usually true, which saves a pass over all gradients
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


def make_optimizer(config: TrainOptions, schedule: Schedule) -> keras.optimizers.Optimizer:
    """Returns Adam with the learning rate of `schedule`.

    beta_2 is that of Vaswani et al. (2017): in a run of a few thousand steps the second moment must not lag.
    """
    return ReplicaAdam(
        schedule,
        beta_2=0.98,
        epsilon=1e-8,
        global_clipnorm=config.clip,
        use_ema=config.ema is not None,
        ema_momentum=config.ema or 0.0,
    )


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
    tensor of a training step, and TensorFlow's own gradient passes over it a dozen times (for the cost, see
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


IDS = tf.TensorSpec((None, None), tf.int32)
SCALAR = tf.TensorSpec((), tf.float32)

ReplicaUpdate = Callable[[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]


class Trainer:
    """Updates a network under a `tf.distribute` strategy (by default, with one device).

    The objective of an update is the mean over all real target tokens of all its batches, whichever device holds them.
    A device may learn from several `parts` of its rows in parallel, one core each. Must be created within the scope of
    the strategy.
    """

    def __init__(self, network: Seq2Seq, schedule: Schedule, config: TrainOptions, parts: int = 1) -> None:
        self.network = network
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
        """Everything the next updates depend on: weights, dropout seeds, the optimizer's moments and step count."""
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
        """Returns ids or features in a shape that keeps the number of compiled updates small."""
        return round_up(ids) if self.kernels == "xla" else ids

    def compile(self, update: ReplicaUpdate) -> tf.types.experimental.PolymorphicFunction:
        """Compiles `update` for a batch whose rows are shared among all replicas; it returns the nats of all rows."""

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
        """Accumulates the gradients of a batch that is not the last of its update; returns its nats."""
        gradients, nats = self.compute_gradients(source, previous, target, tokens)
        for old, new in zip(self.accumulated, gradients, strict=True):
            old.assign_add(new)
        return nats

    def compute_gradients(
        self, source: tf.Tensor, previous: tf.Tensor, target: tf.Tensor, tokens: tf.Tensor
    ) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Returns, for the rows of this replica, the gradients of the trainable weights and the nats."""
        # 1. Split the rows into parts, one for each core.
        parts = list(zip(*map(self.split_batch, (source, previous, target)), strict=True))
        # 2. Compute the losses. No part depends on another, so TensorFlow runs them in parallel.
        with tf.GradientTape() as tape:
            losses = [
                compute_teacher_forced_loss(self.network, *part, smoothing=self.config.label_smoothing)
                for part in parts
            ]
            objective = tf.add_n([loss.objective for loss in losses]) / tokens
        # 3. Differentiate. The gradient of the embeddings is sparse; only a dense one can be clipped with the others.
        gradients = tape.gradient(objective, [variable.value for variable in self.variables])
        return [tf.convert_to_tensor(gradient) for gradient in gradients], tf.add_n([loss.nats for loss in losses])

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
