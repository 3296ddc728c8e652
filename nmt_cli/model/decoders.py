"""One decoding step: previous token and state in, next state and what the output layer reads out.

Letters: T target positions, N rows, E embedding width, U units, M width of the context, R width of the readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.model.attention import (
    AdditiveAttention,
    Attention,
    DotAttention,
    GeneralAttention,
    NoAttention,
    ScaledDotAttention,
    State,
)
from nmt_cli.model.cells import CELLS, STATES, biases, gates_of, projected, run_cell
from nmt_cli.model.config import ModelConfig
from nmt_cli.model.dropout import Dropout
from nmt_cli.model.encoders import Encoded
from nmt_cli.model.fast.deferred import Affine, states_with_maps
from nmt_cli.model.fast.recurrence import Attended, attentive_states_over_time

Tensor = Any


@dataclass(frozen=True)
class Advance:
    """What one step gives."""

    changed: State  # the entries of the state that changed
    read: Tensor  # (N, R): what the output layer sees
    weights: Tensor  # (N, S)


class RecurrentDecoder(keras.layers.Layer):
    """Stacked cells, from the second on with a residual, started from the encoder's last states.

    What is the same for all decoders with attention; when they ask, and what the context feeds, is theirs.
    """

    def __init__(self, config: ModelConfig, attention: Attention, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        self.attention = attention
        self.names = [[f"{kind}_{index}" for kind in STATES[config.cell]] for index in range(config.layers)]
        self.bridges = [
            [keras.layers.Dense(config.units, activation="tanh", name=f"bridge_{name}") for name in of_layer]
            for of_layer in self.names
        ]
        self.cells = [CELLS[config.cell](config.units, name=f"cell_{index}") for index in range(config.layers)]
        self.readout = keras.layers.Dense(config.readout_width, activation=config.readout_activation, name="readout")
        self.dropout = Dropout(config.dropout)

    def build_parts(self, memory_width: int, *, input_width: int, read_width: int) -> None:
        units = self.config.units
        self.attention.build((None, units), (None, None, memory_width))
        for index, (bridges, cell) in enumerate(zip(self.bridges, self.cells, strict=True)):
            for bridge in bridges:
                bridge.build((None, self.config.encoder_width))
            cell.build((None, units if index else input_width))
        self.readout.build((None, read_width))
        self.built = True

    def start(self, encoded: Encoded, bias: Tensor) -> State:
        """The state before the first token; `bias` (N, S) is 0 on tokens and MASKED on padding."""
        return {**self.attention.remember(encoded, bias), **self.initial(encoded)}

    def initial(self, encoded: Encoded) -> State:
        """The first state of each layer, each kind from the same kind of the encoder's last state of that layer."""
        return {
            name: bridge(state)
            for names, bridges, states in zip(self.names, self.bridges, encoded.final, strict=True)
            for name, bridge, state in zip(names, bridges, states, strict=True)
        }

    @property
    def top(self) -> str:
        """Name of the state that attention is asked with."""
        return self.names[-1][0]

    def recur(self, value: Tensor, state: State) -> State:
        """One step of all layers on the input `value`."""
        changed: State = {}
        for index, (cell, names) in enumerate(zip(self.cells, self.names, strict=True)):
            output, states = cell(value, [state[name] for name in names])
            states = states if isinstance(states, list | tuple) else [states]
            changed |= dict(zip(names, states, strict=True))
            value = value + output if index else output
        return changed

    def recur_over_time(self, values: Tensor, state: State) -> State:
        """States (T, N, U), by their names, of all layers on the inputs `values` (T, N, ...), given beforehand."""
        states: State = {}
        for index, (cell, names) in enumerate(zip(self.cells, self.names, strict=True)):
            own = run_cell(cell, values, [state[name] for name in names])
            states |= dict(zip(names, own, strict=True))
            output = ops.cast(own[0], values.dtype)
            values = values + output if index else output
        return states

    def maps(self, embedded: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """Kernel and bias of all that `recur_mapped` applies, by its names.

        What the first layer makes of tokens is made beforehand: here are the rows for what it sees beside them.
        """
        maps = {}
        for index, cell in enumerate(self.cells):
            input_bias, recurrent_bias = biases(cell)
            maps[f"input_{index}"] = (cell.kernel, input_bias)
            maps[f"recurrent_{index}"] = (cell.recurrent_kernel, recurrent_bias)
        return {**maps, "input_0": (self.split_kernel(embedded)[1], biases(self.cells[0])[0])}

    def project(self, embedded: Tensor) -> Tensor:
        """What the first layer makes of the tokens (T, N, E) alone (T, N, G U)."""
        return projected(embedded, self.split_kernel(embedded)[0])

    def split_kernel(self, embedded: Tensor) -> tuple[Tensor, Tensor]:
        """Of the first layer: the rows for tokens, and those for what it sees beside them."""
        token, beside = ops.split(self.cells[0].kernel, [embedded.shape[-1]], axis=0)
        return token, beside

    def recur_mapped(self, affine: Affine, token: Tensor, beside: Tensor, state: State) -> State:
        """`recur` for teacher forcing: on a token projected already, and on what the first layer sees beside it."""
        changed: State = {}
        value = beside
        for index, (cell, names) in enumerate(zip(self.cells, self.names, strict=True)):
            gates = gates_of(cell)
            from_input = affine(f"input_{index}", value)
            from_hidden = affine(f"recurrent_{index}", state[names[0]])
            before = {kind: state[name] for kind, name in zip(gates.states, names, strict=True)}
            notes = gates.step(from_input if index else from_input + token, from_hidden, before)
            changed |= {name: notes[kind] for kind, name in zip(gates.states, names, strict=True)}
            value = value + notes["hidden"] if index else notes["hidden"]
        return changed

    def own_entries(self, state: State) -> State:
        """The decoder's own entries of `state` alone."""
        return {name: ops.cast(state[name], "float32") for names in self.names for name in names}

    def advance(self, embedded: Tensor, state: State) -> Advance:
        """One step; `embedded` (N, E) is the previous token, `state` has the source's entries and the decoder's."""
        raise NotImplementedError

    def force(self, embedded: Tensor, state: State, training: bool) -> Tensor:
        """What the output layer sees (T, N, R) of all steps, given all previous tokens (T, N, E)."""
        raise NotImplementedError


class BahdanauDecoder(RecurrentDecoder):
    """The previous state asks, the context feeds the recurrence; the readout sees state, context and token.

    Source: Bahdanau, Cho, Bengio (2015), equations 4 to 6.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        read = self.config.units + memory + embedding
        self.build_parts(memory, input_width=embedding + memory, read_width=read)

    def advance(self, embedded: Tensor, state: State) -> Advance:
        context, weights = self.attention.ask(state[self.top], state)
        changed = self.recur(ops.concatenate([embedded, context], axis=-1), state)
        return Advance(changed, self.read(changed[self.top], context, embedded), weights)

    def force(self, embedded: Tensor, state: State, training: bool) -> Tensor:
        attended = self.attention.written_out(state)
        if attended is not None and self.config.layers == 1:
            hidden, context = self.run_attentive(embedded, state, attended)
        elif not self.attention.asks:
            context = swapped(self.attention(swapped(embedded), state)[0])  # (T, N, M), all steps alike
            hidden = self.recur_over_time(ops.concatenate([embedded, context], axis=-1), state)[self.top]
        else:
            hidden, context = self.run_steps(embedded, state)
        read = self.read(ops.cast(hidden, embedded.dtype), ops.cast(context, embedded.dtype), embedded)
        return self.dropout(read, training=training)

    def run_steps(self, embedded: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """States (T, N, U) of the top layer and contexts (T, N, M), step after step."""

        def step(affine: Affine, carry: State, token: Tensor) -> State:
            context = ops.cast(self.attention.ask(carry[self.top], state)[0], "float32")
            return {**self.recur_mapped(affine, token, context, carry), "context": context}

        # Keras' scan gives back what it carries, no more: so the context is carried, though nothing reads it.
        start = self.own_entries(state)
        start["context"] = ops.zeros_like(self.attention.ask(start[self.top], state)[0], dtype="float32")
        states = states_with_maps(step, start, self.project(embedded), self.maps(embedded), dtype=self.compute_dtype)
        return states[self.top], states["context"]

    def run_attentive(self, embedded: Tensor, state: State, attended: Attended) -> tuple[Tensor, Tensor]:
        """The same, of one layer with additive attention, with the gradient written out: several times as fast."""
        (cell,), (names,) = self.cells, self.names
        input_bias, recurrent_bias = biases(cell)
        from_token, from_context = self.split_kernel(embedded)
        return attentive_states_over_time(
            gates_of(cell),
            projected(embedded, from_token) + input_bias,
            [ops.cast(state[name], "float32") for name in names],
            ops.cast(cell.recurrent_kernel, "float32"),
            recurrent_bias,
            ops.cast(from_context, "float32"),
            attended,
            dtype=self.compute_dtype,
        )

    def read(self, hidden: Tensor, context: Tensor, embedded: Tensor) -> Tensor:
        return self.readout(ops.concatenate([hidden, context, embedded], axis=-1))


class LuongDecoder(RecurrentDecoder):
    """The current state asks; the readout is Luong's attentional vector tanh(W [context; state]).

    With input feeding the next step sees it beside the token. Without, no step needs the attention of another, and
    teacher forcing asks for all steps at once. Source: Luong, Pham, Manning (2015), section 3.
    """

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        memory, embedding = memory_shape[-1] or 0, self.config.embedding
        fed = self.config.readout_width if self.config.input_feeding else 0
        self.build_parts(memory, input_width=embedding + fed, read_width=self.config.units + memory)

    def initial(self, encoded: Encoded) -> State:
        state = super().initial(encoded)
        if self.config.input_feeding:
            nothing = ops.zeros_like(state[self.top][:, :1])
            state["fed"] = ops.repeat(nothing, self.config.readout_width, axis=1)
        return state

    def advance(self, embedded: Tensor, state: State) -> Advance:
        value = ops.concatenate([embedded, state["fed"]], axis=-1) if "fed" in state else embedded
        changed = self.recur(value, state)
        context, weights = self.attention.ask(changed[self.top], state)
        read = self.read(changed[self.top], context)
        if "fed" in state:
            changed["fed"] = read
        return Advance(changed, read, weights)

    def force(self, embedded: Tensor, state: State, training: bool) -> Tensor:
        if "fed" in state:
            read = self.run_fed(embedded, state)
        else:
            hidden = ops.cast(self.recur_over_time(embedded, state)[self.top], embedded.dtype)
            read = self.read(hidden, swapped(self.attention(swapped(hidden), state)[0]))
        return self.dropout(read, training=training)

    def run_fed(self, embedded: Tensor, state: State) -> Tensor:
        """What is read out (T, N, R), step after step, since each step sees what the one before read."""

        def step(affine: Affine, carry: State, token: Tensor) -> State:
            changed = self.recur_mapped(affine, token, carry["fed"], carry)
            context = ops.cast(self.attention.ask(changed[self.top], state)[0], "float32")
            read = affine("readout", ops.concatenate([context, changed[self.top]], axis=-1))
            return {**changed, "fed": self.readout.activation(read)}

        start = {**self.own_entries(state), "fed": ops.cast(state["fed"], "float32")}
        maps = {**self.maps(embedded), "readout": (self.readout.kernel, self.readout.bias)}
        states = states_with_maps(step, start, self.project(embedded), maps, dtype=self.compute_dtype)
        return ops.cast(states["fed"], embedded.dtype)

    def read(self, hidden: Tensor, context: Tensor) -> Tensor:
        return self.readout(ops.concatenate([context, ops.cast(hidden, context.dtype)], axis=-1))


def swapped(values: Tensor) -> Tensor:
    """The first two axes in each other's place: steps of rows are rows of steps, which attention takes."""
    return ops.transpose(values, (1, 0, 2))


# Every attention of the textbooks: what is compared, and when it is asked.
SYSTEMS: dict[str, tuple[type[Attention], type[RecurrentDecoder]]] = {
    "none": (NoAttention, BahdanauDecoder),
    "additive": (AdditiveAttention, BahdanauDecoder),
    "dot": (DotAttention, LuongDecoder),
    "general": (GeneralAttention, LuongDecoder),
    "concat": (AdditiveAttention, LuongDecoder),
    "scaled-dot": (ScaledDotAttention, LuongDecoder),
}


def decoder_of(config: ModelConfig, name: str) -> RecurrentDecoder:
    """The decoder with the attention that the settings name."""
    attention, decoder = SYSTEMS[config.attention]
    return decoder(config, attention(config.attention_units, config.heads, name="attention"), name=name)
