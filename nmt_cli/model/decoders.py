"""A recurrent decoder: previous token and state in, next state and readout out.

When it attends, and what the context feeds, is in `attentive_decoders.py`.

Letters: T target positions, N rows, S source positions, E embedding width, U units, R width of the readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.attention import Attention, DecoderState
from nmt_cli.model.cells import CELLS, STATE_NAMES, VendorRun, make_vendor_run, run_cell
from nmt_cli.model.config import RnnConfig
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import EncoderOutput


@dataclass(frozen=True)
class DecoderStep:
    """The result of one step of a decoder."""

    changed: DecoderState  # the entries of the state that changed
    readout: Tensor  # (N, R): what the output layer sees
    weights: Tensor  # (N, S)


class RecurrentDecoder(keras.layers.Layer):
    """Stacked cells, with residual connections from the second on, that start from the encoder's last states.

    Holds everything shared by decoders with attention. Subclasses define when they attend, and what the context feeds.
    """

    def __init__(self, config: RnnConfig, attention: Attention, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.attention = attention
        self.state_names = [[f"{kind}_{index}" for kind in STATE_NAMES[config.cell]] for index in range(config.layers)]
        self.bridges = [
            [keras.layers.Dense(config.units, activation="tanh", name=f"bridge_{name}") for name in names]
            for names in self.state_names
        ]
        self.cells = [CELLS[config.cell](config.units, name=f"cell_{index}") for index in range(config.layers)]
        self.readout = keras.layers.Dense(config.readout_width, activation=config.readout_activation, name="readout")
        self.dropout = Dropout(config.dropout)
        self.vendor_runs: list[VendorRun] = []

    def build_parts(self, memory_width: int, *, input_width: int, readout_input_width: int) -> None:
        """Builds all layers; `input_width` is the first cell's."""
        units = self.config.units
        self.attention.build((None, units), (None, None, memory_width))
        for index, (bridges, cell) in enumerate(zip(self.bridges, self.cells, strict=True)):
            for bridge in bridges:
                bridge.build((None, self.config.encoder_width))
            cell.build((None, units if index else input_width))
        self.readout.build((None, readout_input_width))
        self.built = True

    def init_state(self, encoded: EncoderOutput, bias: Tensor) -> DecoderState:
        """Returns the state before the first token; `bias` (N, S) is 0 on tokens and MASKED on padding."""
        return {**self.attention.init_state(encoded, bias), **self.init_layer_states(encoded)}

    def init_layer_states(self, encoded: EncoderOutput) -> DecoderState:
        """Returns the first states of all layers, each made from the same state of the same layer of the encoder."""
        return {
            name: bridge(state)
            for names, bridges, states in zip(self.state_names, self.bridges, encoded.final_states, strict=True)
            for name, bridge, state in zip(names, bridges, states, strict=True)
        }

    def use_vendor_kernels(self) -> None:
        """Runs over time by Keras' own implementation from now on."""
        self.vendor_runs = [make_vendor_run(cell) for cell in self.cells]

    @property
    def query_name(self) -> str:
        """The name of the state that is the query of attention: the hidden state of the top layer."""
        return self.state_names[-1][0]

    def recur(self, value: Tensor, state: DecoderState) -> DecoderState:
        """Runs one step of all layers on the input `value` (N, ...); returns their new states."""
        changed: DecoderState = {}
        for index, (cell, names) in enumerate(zip(self.cells, self.state_names, strict=True)):
            output, states = cell(value, [state[name] for name in names])
            states = states if isinstance(states, list | tuple) else [states]
            changed |= dict(zip(names, states, strict=True))
            value = value + output if index else output
        return changed

    def recur_over_time(self, values: Tensor, state: DecoderState) -> Tensor:
        """Runs all steps of all layers on the inputs `values` (T, N, ...); returns the top states (T, N, U)."""
        hidden = values
        for index, (cell, names) in enumerate(zip(self.cells, self.state_names, strict=True)):
            starts = [state[name] for name in names]
            hidden = self.vendor_runs[index](values, starts) if self.vendor_runs else run_cell(cell, values, starts)[0]
            output = ops.cast(hidden, values.dtype)
            values = values + output if index else output
        return hidden

    def run_steps(self, embedded: Tensor, state: DecoderState) -> Tensor:
        """Returns the readouts (T, N, R), given all previous tokens (T, N, E), by one `step` after the other."""

        def step(carry: DecoderState, token: Tensor) -> tuple[DecoderState, DecoderState]:
            after = self.step(token, {**state, **carry})
            carry = {**after.changed, "readout": after.readout}
            return carry, carry

        # Keras' scan returns what it carries and nothing else: so the readout is carried, though no step reads it.
        first = self.step(embedded[0], state)
        start = {**{name: state[name] for name in first.changed}, "readout": ops.zeros_like(first.readout)}
        readouts: Tensor = ops.scan(step, start, embedded)[1]["readout"]
        return readouts

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        """Runs one step on the previous token `embedded` (N, E).

        `state` has the entries of the source as well as those of the decoder.
        """
        raise NotImplementedError

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        """Returns the readouts (T, N, R) of all steps, given all previous tokens (T, N, E)."""
        raise NotImplementedError
