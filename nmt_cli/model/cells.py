"""The recurrent cells, which are Keras' own, and how they are run over time.

A step of search is always the cell's own, and so is an encoder's whole sequence; where an encoder is trained, or a
decoder forced, the steps and their gradient are those written out in `recurrence.py`.
Letters: B sentences, T steps, N rows, I width of the input, U units, G gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from nmt_cli.model.fast.gates import Gates, GruGates, LstmGates
from nmt_cli.model.fast.recurrence import states_over_time

Tensor = Any

CELLS = {"gru": keras.layers.GRUCell, "lstm": keras.layers.LSTMCell}
STATES = {"gru": GruGates.states, "lstm": LstmGates.states}  # of a layer, in Keras' order


class WrittenOut:
    """A recurrent layer of Keras; in training with the gradient written out. Gives sequences and the last states."""

    cell: keras.layers.Layer
    units: int
    go_backwards: bool
    compute_dtype: str

    def call(
        self, sequences: Tensor, initial_state: Tensor = None, mask: Tensor = None, training: bool = False
    ) -> tuple[Tensor, ...]:
        """States (B, T, U) of `sequences` (B, T, I), in the order in which they were made, and the last ones (B, U)."""
        if not training or mask is None:
            return super().call(sequences, initial_state=initial_state, mask=mask, training=training)  # type: ignore[misc,no-any-return]
        inputs = ops.transpose(sequences, (1, 0, 2))
        valid = ops.cast(ops.transpose(mask), "float32")
        starts = [ops.zeros((ops.shape(sequences)[0], self.units)) for _ in gates_of(self.cell).states]
        states = run_cell(self.cell, inputs, starts, valid, reverse=self.go_backwards)
        hidden, *others = (ops.flip(one, axis=0) if self.go_backwards else one for one in states)
        made = [ops.transpose(hidden, (1, 0, 2)), *(one[-1] for one in (hidden, *others))]
        return tuple(ops.cast(one, self.compute_dtype) for one in made)


@keras.saving.register_keras_serializable(package="nmt_cli")
class GRU(WrittenOut, keras.layers.GRU):
    """Of one direction."""


@keras.saving.register_keras_serializable(package="nmt_cli")
class LSTM(WrittenOut, keras.layers.LSTM):
    """Of one direction."""


LAYERS = {"gru": GRU, "lstm": LSTM}


def gates_of(cell: keras.layers.Layer) -> Gates:
    return GruGates() if isinstance(cell, keras.layers.GRUCell) else LstmGates()


def biases(cell: keras.layers.Layer) -> tuple[Tensor, Tensor]:
    """(G U,) of the input and of the recurrence. Keras' LSTM has one alone."""
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
    """States (T, N, U) of `cell` over `inputs` (T, N, I), all given beforehand; as in `recurrence.states_over_time`."""
    input_bias, recurrent_bias = biases(cell)
    return states_over_time(
        gates_of(cell),
        projected(inputs, cell.kernel) + input_bias,
        [ops.cast(start, "float32") for start in starts],
        ops.cast(cell.recurrent_kernel, "float32"),
        recurrent_bias,
        ops.ones_like(inputs[..., 0], dtype="float32") if valid is None else valid,
        dtype=cell.compute_dtype,
        reverse=reverse,
    )


def projected(inputs: Tensor, kernel: Tensor) -> Tensor:
    """`inputs` (T, N, I) of all steps times `kernel` (I, G U): made in the type of the inputs, given in float32."""
    return ops.cast(ops.matmul(inputs, ops.cast(kernel, inputs.dtype)), "float32")
