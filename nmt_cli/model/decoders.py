"""A recurrent decoder: previous token and state in, next state and readout out.

`BahdanauDecoder` attends before its cells, `LuongDecoder` after them.

Letters: T target positions, N rows, S source positions, E embedding width, U units, R width of the readout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.arrays.types import Tensor
from nmt_cli.model.attention import (
    AdditiveAttention,
    Attention,
    DecoderState,
    DotAttention,
    GeneralAttention,
    NoAttention,
    ScaledDotAttention,
)
from nmt_cli.model.cells import (
    CELLS,
    STATE_NAMES,
    Dropout,
    VendorRun,
    make_vendor_run,
    project_inputs,
    run_cell,
    select_gates,
    split_biases,
)
from nmt_cli.model.config import RnnConfig
from nmt_cli.model.encoders import EncoderOutput
from nmt_cli.model.recurrence import AttentionTensors, run_attentive_recurrence


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
        """Returns the first states of all layers, each made from the corresponding state of the same encoder layer."""
        return {
            name: bridge(state)
            for names, bridges, states in zip(self.state_names, self.bridges, encoded.final_states, strict=True)
            for name, bridge, state in zip(names, bridges, states, strict=True)
        }

    def use_vendor_kernels(self) -> None:
        """Switches to Keras' own implementation for running over time."""
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
        """Returns the readouts (T, N, R), given all previous tokens (T, N, E), by calling one `step` after another."""

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


# The recurrent decoders with attention, Bahdanau's and Luong's, and the attention of each name.
#
# Letters: T target positions, N rows, E embedding width, U units, M width of the context, R width of the readout.


class BahdanauDecoder(RecurrentDecoder):
    """The previous state is the query, and the context feeds the recurrence; the readout sees state, context and token.

    Source: Bahdanau, Cho, Bengio (2015), equations 4 to 6.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        readout_input_width = self.config.units + memory + embedding
        self.build_parts(memory, input_width=embedding + memory, readout_input_width=readout_input_width)

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        context, weights = self.attention.attend(state[self.query_name], state)
        changed = self.recur(ops.concatenate([embedded, context], axis=-1), state)
        return DecoderStep(changed, self.compute_readout(changed[self.query_name], context, embedded), weights)

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        return self.dropout(self.compute_readouts(embedded, state), training=training)

    def compute_readouts(self, embedded: Tensor, state: DecoderState) -> Tensor:
        """Returns the readouts (T, N, R) of all steps: at once where the recurrence allows it, else step by step."""
        tensors = self.attention.collect_tensors(state)
        if tensors is not None and self.config.layers == 1:
            hidden, context = self.run_attentive(embedded, state, tensors)
        elif not self.attention.uses_query:
            contexts = self.attention(swap_rows_and_time(embedded), state)[0]  # (N, T, M), all steps alike
            context = swap_rows_and_time(contexts)
            inputs = ops.concatenate([embedded, context], axis=-1)
            hidden = self.recur_over_time(inputs, state)
        else:
            return self.run_steps(embedded, state)
        return self.compute_readout(ops.cast(hidden, embedded.dtype), ops.cast(context, embedded.dtype), embedded)

    def run_attentive(self, embedded: Tensor, state: DecoderState, tensors: AttentionTensors) -> tuple[Tensor, Tensor]:
        """Returns the states (T, N, U) and the contexts (T, N, M) of one layer with additive attention.

        Equals `run_steps`, but is several times as fast: its gradients are hand-written (`recurrence.py`).
        """
        (cell,), (names,) = self.cells, self.state_names
        input_bias, recurrent_bias = split_biases(cell)
        from_token, from_context = ops.split(cell.kernel, [embedded.shape[-1]], axis=0)
        return run_attentive_recurrence(
            select_gates(cell),
            project_inputs(embedded, from_token) + input_bias,
            [ops.cast(state[name], "float32") for name in names],
            ops.cast(cell.recurrent_kernel, "float32"),
            recurrent_bias,
            ops.cast(from_context, "float32"),
            tensors,
            dtype=self.compute_dtype,
        )

    def compute_readout(self, hidden: Tensor, context: Tensor, embedded: Tensor) -> Tensor:
        return self.readout(ops.concatenate([hidden, context, embedded], axis=-1))


class LuongDecoder(RecurrentDecoder):
    """The current state is the query; the readout is Luong's attentional vector tanh(W [context; state]).

    With input feeding the next step sees the readout concatenated with the token (`fed` in the state). Without it no
    step depends on the attention of another, and teacher forcing attends for all steps at once.
    Source: Luong, Pham, Manning (2015), section 3.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        fed_width = self.config.readout_width if self.config.input_feeding else 0
        self.build_parts(memory, input_width=embedding + fed_width, readout_input_width=self.config.units + memory)

    def init_layer_states(self, encoded: EncoderOutput) -> DecoderState:
        state = super().init_layer_states(encoded)
        if self.config.input_feeding:
            zeros = ops.zeros_like(state[self.query_name][:, :1])
            state["fed"] = ops.repeat(zeros, self.config.readout_width, axis=1)
        return state

    def step(self, embedded: Tensor, state: DecoderState) -> DecoderStep:
        value = ops.concatenate([embedded, state["fed"]], axis=-1) if "fed" in state else embedded
        changed = self.recur(value, state)
        context, weights = self.attention.attend(changed[self.query_name], state)
        readout = self.compute_readout(changed[self.query_name], context)
        if "fed" in state:
            changed["fed"] = readout
        return DecoderStep(changed, readout, weights)

    def teacher_force(self, embedded: Tensor, state: DecoderState, training: bool) -> Tensor:
        if "fed" in state:
            readouts = self.run_steps(embedded, state)
        else:
            hidden = ops.cast(self.recur_over_time(embedded, state), embedded.dtype)
            contexts = self.attention(swap_rows_and_time(hidden), state)[0]  # (N, T, M)
            readouts = self.compute_readout(hidden, swap_rows_and_time(contexts))
        return self.dropout(readouts, training=training)

    def compute_readout(self, hidden: Tensor, context: Tensor) -> Tensor:
        return self.readout(ops.concatenate([context, ops.cast(hidden, context.dtype)], axis=-1))


def swap_rows_and_time(values: Tensor) -> Tensor:
    """Transposes the first two axes: recurrences put time first, attention puts rows first."""
    return ops.transpose(values, (1, 0, 2))


# The attention of each name: what is compared, and when the decoder attends.
SYSTEMS: dict[str, tuple[type[Attention], type[RecurrentDecoder]]] = {
    "none": (NoAttention, BahdanauDecoder),
    "additive": (AdditiveAttention, BahdanauDecoder),
    "dot": (DotAttention, LuongDecoder),
    "general": (GeneralAttention, LuongDecoder),
    "concat": (AdditiveAttention, LuongDecoder),
    "scaled-dot": (ScaledDotAttention, LuongDecoder),
}


def make_recurrent_decoder(config: RnnConfig, name: str) -> RecurrentDecoder:
    """Returns the decoder with the configured attention."""
    attention, decoder = SYSTEMS[config.attention]
    return decoder(config, attention(config.attention_units, config.heads, name="attention"), name=name)
