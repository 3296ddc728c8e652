"""The recurrent cells, which are Keras' own, and how they are run over time.

One step is always the cell's; so is a whole sequence, unless a GRU is trained: then its gradient is the one written out
in `recurrence.py`. Letters: B sentences, T steps, N rows, I width of the input, U units.
"""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from nmt_cli.model.recurrence import gru_over_time

Tensor = Any

CELLS = {"gru": keras.layers.GRUCell, "lstm": keras.layers.LSTMCell}
STATES = {"gru": ("hidden",), "lstm": ("hidden", "cell")}  # of a layer, in Keras' order


@keras.saving.register_keras_serializable(package="nmt_cli")
class GRU(keras.layers.GRU):
    """Keras' GRU; in training with the gradient written out. Gives sequences and the last state."""

    def call(
        self, sequences: Tensor, initial_state: Tensor = None, mask: Tensor = None, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """States (B, T, U) of `sequences` (B, T, I), in the order in which they were made, and the last one (B, U)."""
        if not training or mask is None:
            return super().call(sequences, initial_state=initial_state, mask=mask, training=training)  # type: ignore[no-any-return]
        inputs = ops.transpose(sequences, (1, 0, 2))
        valid = ops.cast(ops.transpose(mask), "float32")
        start = ops.zeros((ops.shape(sequences)[0], self.units))
        states = run_gru(self.cell, inputs, start, valid, reverse=self.go_backwards)
        made = ops.flip(states, axis=0) if self.go_backwards else states
        return ops.cast(ops.transpose(made, (1, 0, 2)), self.compute_dtype), ops.cast(made[-1], self.compute_dtype)


LAYERS = {"gru": GRU, "lstm": keras.layers.LSTM}


def run_gru(
    cell: keras.layers.GRUCell, inputs: Tensor, start: Tensor, valid: Tensor | None = None, *, reverse: bool = False
) -> Tensor:
    """States (T, N, U) of `cell` over `inputs` (T, N, I), all given beforehand; as in `recurrence.gru_over_time`."""
    input_bias, recurrent_bias = ops.unstack(ops.cast(cell.bias, "float32"), 2)
    return gru_over_time(
        projected(inputs, cell.kernel, input_bias),
        ops.cast(start, "float32"),
        ops.cast(cell.recurrent_kernel, "float32"),
        recurrent_bias,
        ops.ones_like(inputs[..., 0], dtype="float32") if valid is None else valid,
        dtype=cell.compute_dtype,
        reverse=reverse,
    )


def projected(inputs: Tensor, kernel: Tensor, bias: Tensor) -> Tensor:
    """`inputs` (T, N, I) of all steps times `kernel` (I, 3 U), in the type of the inputs, with the bias in float32."""
    return ops.cast(ops.matmul(inputs, ops.cast(kernel, inputs.dtype)), "float32") + bias
