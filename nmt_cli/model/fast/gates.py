"""One step of a GRU and of an LSTM, from projected input and state to the next state, and its gradient written out.

`recurrence.py` runs them over time for training, `training/export/tracing.py` for the export. The equations are those
of `keras.layers.GRUCell` (with `reset_after`) and `keras.layers.LSTMCell`; tests hold both to them. Letters: N rows,
U units, G gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from keras import ops

Tensor = Any
Notes = dict[str, Tensor]  # of one step; with T in front, of all


@dataclass(frozen=True)
class GatesGradient:
    """Of one step."""

    inputs: Tensor  # (N, G U): of what came from the input
    inner: Tensor  # (N, G U): of what came from the state through the kernel
    direct: Notes  # (N, U): of the states themselves, by their names; none is 0


class Gates(Protocol):
    """`states` are names of what a cell hands to its next step, "hidden" first; `noted` of what its gradient needs."""

    states: tuple[str, ...]
    noted: tuple[str, ...]

    def step(self, from_input: Tensor, from_hidden: Tensor, before: Notes) -> Notes:
        """The next states (N, U) and what is noted (N, U). Both projections are (N, G U), with their biases."""
        ...

    def gradient(self, upstream: Notes, notes: Notes, before: Notes) -> GatesGradient:
        """The gradient of `step`, given that of the next states."""
        ...


class GruGates:
    """Cho et al. (2014), "Learning Phrase Representations using RNN Encoder-Decoder", equations 5 to 8, with the reset
    gate after the product."""

    states: tuple[str, ...] = ("hidden",)
    noted: tuple[str, ...] = ("update", "reset", "new", "inner")

    def step(self, from_input: Tensor, from_hidden: Tensor, before: Notes) -> Notes:
        input_update, input_reset, input_new = ops.split(from_input, 3, axis=-1)
        hidden_update, hidden_reset, inner = ops.split(from_hidden, 3, axis=-1)
        update = ops.sigmoid(input_update + hidden_update)
        reset = ops.sigmoid(input_reset + hidden_reset)
        new = ops.tanh(input_new + reset * inner)
        hidden = new + update * (before["hidden"] - new)
        return {"hidden": hidden, "update": update, "reset": reset, "new": new, "inner": inner}

    def gradient(self, upstream: Notes, notes: Notes, before: Notes) -> GatesGradient:
        to_hidden = upstream["hidden"]
        update, reset, new = (notes[name] for name in ("update", "reset", "new"))
        direct = to_hidden * update
        to_new = (to_hidden - direct) * (1.0 - new * new)
        to_update = to_hidden * (before["hidden"] - new) * update * (1.0 - update)
        to_reset = to_new * notes["inner"] * reset * (1.0 - reset)
        return GatesGradient(
            inputs=ops.concatenate([to_update, to_reset, to_new], axis=-1),
            inner=ops.concatenate([to_update, to_reset, to_new * reset], axis=-1),
            direct={"hidden": direct},
        )


class LstmGates:
    """Hochreiter and Schmidhuber (1997), "Long Short-Term Memory", with the forget gate of Gers et al. (2000)."""

    states: tuple[str, ...] = ("hidden", "cell")
    noted: tuple[str, ...] = ("input", "forget", "new", "output")

    def step(self, from_input: Tensor, from_hidden: Tensor, before: Notes) -> Notes:
        to_input, to_forget, to_new, to_output = ops.split(from_input + from_hidden, 4, axis=-1)
        notes = {
            "input": ops.sigmoid(to_input),
            "forget": ops.sigmoid(to_forget),
            "new": ops.tanh(to_new),
            "output": ops.sigmoid(to_output),
        }
        cell = self.next_cell(notes, before)
        return {"hidden": notes["output"] * ops.tanh(cell), "cell": cell, **notes}

    def next_cell(self, notes: Notes, before: Notes) -> Tensor:
        return notes["forget"] * before["cell"] + notes["input"] * notes["new"]

    def gradient(self, upstream: Notes, notes: Notes, before: Notes) -> GatesGradient:
        into, forget, new, output = (notes[name] for name in self.noted)
        shown = ops.tanh(self.next_cell(notes, before))
        to_output = upstream["hidden"] * shown * output * (1.0 - output)
        to_cell = upstream["cell"] + upstream["hidden"] * output * (1.0 - shown * shown)
        to_input = to_cell * new * into * (1.0 - into)
        to_forget = to_cell * before["cell"] * forget * (1.0 - forget)
        to_new = to_cell * into * (1.0 - new * new)
        gates = ops.concatenate([to_input, to_forget, to_new, to_output], axis=-1)
        return GatesGradient(inputs=gates, inner=gates, direct={"cell": to_cell * forget})
