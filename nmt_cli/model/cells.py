"""Runs recurrent cells, which are Keras' own, over time.

A search step always uses the cell itself, and so does a whole encoder in inference. Training an encoder and
teacher-forcing a decoder use the steps and hand-written gradients of `recurrence.py`. Letters: B sentences, T steps, N
rows, I width of the input, U units, G gates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.recurrence import Gates, GruGates, LstmGates, run_recurrence

CELLS = {"gru": keras.layers.GRUCell, "lstm": keras.layers.LSTMCell}
STATE_NAMES = {"gru": GruGates.states, "lstm": LstmGates.states}  # the states of a layer, in Keras' order


class FastRecurrentLayer:
    """A Keras recurrent layer that trains with hand-written gradients. It returns sequences and the last states.

    `test_padding_leaves_the_state_alone_as_keras_does` in `tests/unit/model` checks that it equals Keras' own layer.
    """

    cell: keras.layers.Layer
    units: int
    go_backwards: bool
    compute_dtype: str
    vendor = False  # train by Keras' own implementation, which on a GPU is cuDNN's

    def call(
        self, sequences: Tensor, initial_state: Tensor = None, mask: Tensor = None, training: bool = False
    ) -> tuple[Tensor, ...]:
        """Returns the states (B, T, U) of `sequences` (B, T, I), in the order of computation, and the last ones (B, U).

        Only training with a mask uses the hand-written gradients, unless `vendor` is set.
        """
        if not training or mask is None or self.vendor:
            return super().call(sequences, initial_state=initial_state, mask=mask, training=training)  # type: ignore[misc,no-any-return]
        inputs = ops.transpose(sequences, (1, 0, 2))
        valid = ops.cast(ops.transpose(mask), "float32")
        starts = [ops.zeros((ops.shape(sequences)[0], self.units)) for _ in select_gates(self.cell).states]
        states = run_cell(self.cell, inputs, starts, valid, reverse=self.go_backwards)
        hidden, *others = (ops.flip(state, axis=0) if self.go_backwards else state for state in states)
        outputs = [ops.transpose(hidden, (1, 0, 2)), *(state[-1] for state in (hidden, *others))]
        return tuple(ops.cast(output, self.compute_dtype) for output in outputs)


@keras.saving.register_keras_serializable(package="nmt_cli")
class GRU(FastRecurrentLayer, keras.layers.GRU):
    """A GRU in one direction."""


@keras.saving.register_keras_serializable(package="nmt_cli")
class LSTM(FastRecurrentLayer, keras.layers.LSTM):
    """An LSTM in one direction."""


LAYERS = {"gru": GRU, "lstm": LSTM}
VendorRun = Callable[[Tensor, Sequence[Tensor]], Tensor]


def make_vendor_run(cell: keras.layers.Layer) -> VendorRun:
    """Returns a function that runs Keras' own layer of `cell` over time, which on a GPU is cuDNN's kernel.

    It takes inputs (T, N, I) and the first states, (N, U) each, and returns the hidden states (T, N, U).
    """
    layer = LAYERS["gru" if isinstance(cell, keras.layers.GRUCell) else "lstm"](cell.units, return_sequences=True)
    layer.cell = cell

    def run(inputs: Tensor, starts: Sequence[Tensor]) -> Tensor:
        states = [ops.cast(start, inputs.dtype) for start in starts]
        return ops.transpose(layer.call(ops.transpose(inputs, (1, 0, 2)), initial_state=states), (1, 0, 2))

    return run


def select_gates(cell: keras.layers.Layer) -> Gates:
    """Returns the equations of a Keras cell."""
    return GruGates() if isinstance(cell, keras.layers.GRUCell) else LstmGates()


def split_biases(cell: keras.layers.Layer) -> tuple[Tensor, Tensor]:
    """Returns the biases of the input and of the recurrence, (G U,) each. Keras' LSTM has only the first."""
    bias = ops.cast(cell.bias, "float32")
    return tuple(ops.unstack(bias, 2)) if isinstance(cell, keras.layers.GRUCell) else (bias, ops.zeros_like(bias))


def run_cell(
    cell: keras.layers.Layer,
    inputs: Tensor,
    starts: Sequence[Tensor],
    valid: Tensor | None = None,
    *,
    reverse: bool = False,
) -> tuple[Tensor, ...]:
    """Returns the states (T, N, U) of `cell` over `inputs` (T, N, I), all known beforehand.

    `starts` are the first states, (N, U) each. Where `valid` (T, N) is 0, the states are unchanged; `reverse` runs from
    the last step to the first.
    """
    input_bias, recurrent_bias = split_biases(cell)
    return run_recurrence(
        select_gates(cell),
        project_inputs(inputs, cell.kernel) + input_bias,
        [ops.cast(start, "float32") for start in starts],
        ops.cast(cell.recurrent_kernel, "float32"),
        recurrent_bias,
        ops.ones_like(inputs[..., 0], dtype="float32") if valid is None else valid,
        dtype=cell.compute_dtype,
        reverse=reverse,
    )


def project_inputs(inputs: Tensor, kernel: Tensor) -> Tensor:
    """Multiplies `inputs` (T, N, I) of all steps by `kernel` (I, G U), in the type of the inputs.

    The result is float32.
    """
    return ops.cast(ops.matmul(inputs, ops.cast(kernel, inputs.dtype)), "float32")


# Dropout that draws one random byte per value.


BYTE_LEVELS = 256
BYTES_PER_WORD = 4


class Dropout(keras.layers.Dropout):
    """Keras' dropout in less than half the time: Keras spends most of it drawing 32 random bits per value.

    This layer draws 8 bits, so `rate` is rounded to a multiple of 1/256, and kept values are scaled by the rounded
    rate. Keras' own layer, in bfloat16, compares 8-bit numbers and scales as if they had more: at a rate of 0.15 it
    drops 0.156. Source: Srivastava et al. (2014), "Dropout", section 10 (scaled during training).
    """

    def call(self, inputs: Tensor, training: bool = False) -> Tensor:
        dropped_levels = round(self.rate * BYTE_LEVELS)
        if not training or dropped_levels == 0:
            return inputs
        is_kept = ops.cast(self.draw_bytes(inputs) >= ops.cast(dropped_levels, "uint8"), inputs.dtype)
        return inputs * (is_kept * ops.cast(BYTE_LEVELS / (BYTE_LEVELS - dropped_levels), inputs.dtype))

    def draw_bytes(self, inputs: Tensor) -> Tensor:
        """Returns a random byte per value of `inputs`, in their shape."""
        count = ops.prod(ops.shape(inputs))
        words = keras.random.randint(
            ((count + BYTES_PER_WORD - 1) // BYTES_PER_WORD, 1),
            -(2**31),
            2**31 - 1,
            dtype="int32",
            seed=self.seed_generator,
        )
        random_bytes = ops.reshape(ops.view(words, "uint8"), (-1,))
        return ops.reshape(random_bytes[:count], ops.shape(inputs))
