"""A recurrent decoder: previous token and state in, next state and readout out.

When it attends, and what the context feeds, is in `attentive_decoders.py`.

Letters: T target positions, N rows, S source positions, E embedding width, U units, R width of the readout, G gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.attention import Attention, DecoderState
from nmt_cli.model.cells import CELLS, STATE_NAMES, project_inputs, run_cell, select_gates, split_biases
from nmt_cli.model.config import RnnConfig
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import EncoderOutput
from nmt_cli.model.fast.deferred import Affine


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

    def recur_over_time(self, values: Tensor, state: DecoderState) -> DecoderState:
        """Runs all steps of all layers on the inputs `values` (T, N, ...); returns their states (T, N, U) by name."""
        states: DecoderState = {}
        for index, (cell, names) in enumerate(zip(self.cells, self.state_names, strict=True)):
            layer_states = run_cell(cell, values, [state[name] for name in names])
            states |= dict(zip(names, layer_states, strict=True))
            output = ops.cast(layer_states[0], values.dtype)
            values = values + output if index else output
        return states

    def collect_maps(self, embedded: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """Returns the kernels and biases that `recur_with_maps` applies, by name.

        The input of the first layer is a token concatenated with something else. Tokens are projected before the loop
        (`project_tokens`), so `input_0` holds the other rows of its kernel.
        """
        maps = {}
        for index, cell in enumerate(self.cells):
            input_bias, recurrent_bias = split_biases(cell)
            maps[f"input_{index}"] = (cell.kernel, input_bias)
            maps[f"recurrent_{index}"] = (cell.recurrent_kernel, recurrent_bias)
        return {**maps, "input_0": (self.split_kernel(embedded)[1], split_biases(self.cells[0])[0])}

    def project_tokens(self, embedded: Tensor) -> Tensor:
        """Returns the contribution (T, N, G U) of the tokens `embedded` (T, N, E) to the gates of the first layer."""
        return project_inputs(embedded, self.split_kernel(embedded)[0])

    def split_kernel(self, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """Splits the first layer's kernel into the rows for tokens and the rows for the concatenated input."""
        for_token, for_concat = ops.split(self.cells[0].kernel, [embedded.shape[-1]], axis=0)
        return for_token, for_concat

    def recur_with_maps(self, affine: Affine, token: Tensor, concat: Tensor, state: DecoderState) -> DecoderState:
        """Runs `recur` for teacher forcing.

        `token` (N, G U) is already projected; `concat` (N, ...) is concatenated with it in the first layer's input.
        """
        changed: DecoderState = {}
        value = concat
        for index, (cell, names) in enumerate(zip(self.cells, self.state_names, strict=True)):
            gates = select_gates(cell)
            from_input = affine(f"input_{index}", value)
            from_hidden = affine(f"recurrent_{index}", state[names[0]])
            previous = {kind: state[name] for kind, name in zip(gates.states, names, strict=True)}
            cache = gates.step(from_input if index else from_input + token, from_hidden, previous)
            changed |= {name: cache[kind] for kind, name in zip(gates.states, names, strict=True)}
            value = value + cache["hidden"] if index else cache["hidden"]
        return changed

    def select_layer_states(self, state: DecoderState) -> DecoderState:
        """Returns only the states of the layers, in float32."""
        return {name: ops.cast(state[name], "float32") for names in self.state_names for name in names}

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        """Runs one step on the previous token `embedded` (N, E).

        `state` has the entries of the source as well as those of the decoder.
        """
        raise NotImplementedError

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        """Returns the readouts (T, N, R) of all steps, given all previous tokens (T, N, E)."""
        raise NotImplementedError
