"""One decoding step: previous token and state in, next state and what the output layer reads out.

Letters: N rows, S source positions, E embedding width, U units, M width of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
from keras import ops

from nmt_cli.model.attention import AdditiveAttention
from nmt_cli.model.config import ModelConfig

Tensor = Any


@dataclass(frozen=True)
class Source:
    """What every step reads of the source and none changes."""

    memory: Tensor  # (N, S, M)
    keys: Tensor  # (N, S, A)
    bias: Tensor  # (N, S), 0 or MASKED


@dataclass(frozen=True)
class Advance:
    """What one step of the recurrence gives."""

    hidden: tuple[Tensor, ...]  # one (N, U) a layer
    context: Tensor  # (N, M)
    weights: Tensor  # (N, S)


class AttentionDecoder(keras.layers.Layer):
    """Bahdanau's decoder: the previous state asks, the context feeds the recurrence (2015, equations 4 to 6).

    Stacked cells, from the second on with a residual; the readout sees state, context and previous token.
    """

    def __init__(self, config: ModelConfig, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.config = config
        layers = range(config.layers)
        self.bridges = [keras.layers.Dense(config.units, activation="tanh", name=f"bridge_{i}") for i in layers]
        self.attention = AdditiveAttention(config.attention_units, name="attention")
        self.cells = [keras.layers.GRUCell(config.units, name=f"cell_{i}") for i in layers]
        self.readout = keras.layers.Dense(config.embedding, activation="tanh", name="readout")
        self.dropout = keras.layers.Dropout(config.dropout)

    def build(self, memory_shape: tuple[int | None, ...]) -> None:
        units, embedding, memory = self.config.units, self.config.embedding, memory_shape[-1] or 0
        self.attention.build((None, units), memory_shape)
        for index, (bridge, cell) in enumerate(zip(self.bridges, self.cells, strict=True)):
            bridge.build((None, memory))
            cell.build((None, units if index else embedding + memory))
        self.readout.build((None, units + memory + embedding))
        self.built = True

    def initial_hidden(self, final: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The first state of each layer from the encoder's last state of that layer."""
        return tuple(bridge(state) for bridge, state in zip(self.bridges, final, strict=True))

    def advance(self, embedded: Tensor, hidden: tuple[Tensor, ...], source: Source) -> Advance:
        """One step of the recurrence; `embedded` (N, E) is the previous token."""
        context, weights = self.attention(hidden[-1], source.memory, source.keys, source.bias)
        value = ops.concatenate([embedded, context], axis=-1)
        states = []
        for index, (cell, state) in enumerate(zip(self.cells, hidden, strict=True)):
            output, _ = cell(value, state)
            states.append(output)
            value = value + output if index else output
        return Advance(hidden=tuple(states), context=context, weights=weights)

    def read(self, hidden: Tensor, context: Tensor, embedded: Tensor, training: bool = False) -> Tensor:
        """What the output layer sees, (..., E): of one step, or of all steps of teacher forcing at once."""
        read = self.readout(ops.concatenate([hidden, context, embedded], axis=-1))
        return self.dropout(read, training=training)
