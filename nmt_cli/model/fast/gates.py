"""One step of a GRU and of an LSTM, from projected input and state to the next state, with hand-written gradients.

`recurrence.py` runs them over time in training, `training/export/tracing.py` in the export of an LSTM.
The equations are those of `keras.layers.GRUCell` (with `reset_after`) and `keras.layers.LSTMCell`, repeated because
Keras' cells return no activations from which a backward pass could start. `tests/unit/model/fast` holds the two equal:
`test_a_run_over_time_is_the_cell_step_by_step` the states, `test_written_out_gradients_are_those_of_tensorflow` the
gradients. Letters: N rows, U units, G gates.
"""

from __future__ import annotations

from dataclasses import dataclass

from keras import ops

from nmt_cli.arrays.types import NamedTensors, Tensor


@dataclass(frozen=True)
class GatesGradient:
    """The gradients of one step."""

    inputs: Tensor  # (N, G U): of the projected input
    inner: Tensor  # (N, G U): of the projected state
    direct: NamedTensors  # (N, U): of the states themselves, by name; a state without an entry has a gradient of 0


class GruGates:
    """The gated recurrent unit, with the reset gate applied after the product.

    Source: Cho et al. (2014), "Learning Phrase Representations using RNN Encoder-Decoder", equations 5 to 8.
    `compute_gru_change` in `training/export/tracing.py` repeats the equations gate by gate, which is faster in ONNX
    Runtime; `test_keras_and_onnx_find_the_same_hypotheses` in `tests/unit/training/export` holds the two equal.
    """

    states: tuple[str, ...] = ("hidden",)  # the tensors passed on to the next step, "hidden" first
    cached: tuple[str, ...] = ("update", "reset", "new", "inner")  # activations that the backward pass needs besides

    def step(self, from_input: Tensor, from_hidden: Tensor, previous: NamedTensors) -> NamedTensors:
        """Returns the next states and the cached activations (N, U).

        Both projections are (N, G U), bias included; `previous` has the states before the step.
        """
        input_update, input_reset, input_new = ops.split(from_input, 3, axis=-1)
        hidden_update, hidden_reset, inner = ops.split(from_hidden, 3, axis=-1)
        update = ops.sigmoid(input_update + hidden_update)
        reset = ops.sigmoid(input_reset + hidden_reset)
        new = ops.tanh(input_new + reset * inner)
        hidden = new + update * (previous["hidden"] - new)
        return {"hidden": hidden, "update": update, "reset": reset, "new": new, "inner": inner}

    def backward(self, upstream: NamedTensors, cache: NamedTensors, previous: NamedTensors) -> GatesGradient:
        """Returns the gradients of `step`, given the gradients `upstream` of the next states."""
        to_hidden = upstream["hidden"]
        update, reset, new = (cache[name] for name in ("update", "reset", "new"))
        direct = to_hidden * update
        to_new = (to_hidden - direct) * (1.0 - new * new)
        to_update = to_hidden * (previous["hidden"] - new) * update * (1.0 - update)
        to_reset = to_new * cache["inner"] * reset * (1.0 - reset)
        return GatesGradient(
            inputs=ops.concatenate([to_update, to_reset, to_new], axis=-1),
            inner=ops.concatenate([to_update, to_reset, to_new * reset], axis=-1),
            direct={"hidden": direct},
        )


class LstmGates:
    """The long short-term memory with a forget gate.

    Sources: Hochreiter and Schmidhuber (1997), "Long Short-Term Memory"; Gers et al. (2000), "Learning to Forget".
    """

    states: tuple[str, ...] = ("hidden", "cell")
    cached: tuple[str, ...] = ("input", "forget", "new", "output")

    def step(self, from_input: Tensor, from_hidden: Tensor, previous: NamedTensors) -> NamedTensors:
        to_input, to_forget, to_new, to_output = ops.split(from_input + from_hidden, 4, axis=-1)
        cache = {
            "input": ops.sigmoid(to_input),
            "forget": ops.sigmoid(to_forget),
            "new": ops.tanh(to_new),
            "output": ops.sigmoid(to_output),
        }
        cell = self.compute_cell(cache, previous)
        return {"hidden": cache["output"] * ops.tanh(cell), "cell": cell, **cache}

    def compute_cell(self, cache: NamedTensors, previous: NamedTensors) -> Tensor:
        return cache["forget"] * previous["cell"] + cache["input"] * cache["new"]

    def backward(self, upstream: NamedTensors, cache: NamedTensors, previous: NamedTensors) -> GatesGradient:
        write, forget, new, output = (cache[name] for name in self.cached)
        squashed = ops.tanh(self.compute_cell(cache, previous))
        to_output = upstream["hidden"] * squashed * output * (1.0 - output)
        to_cell = upstream["cell"] + upstream["hidden"] * output * (1.0 - squashed * squashed)
        to_input = to_cell * new * write * (1.0 - write)
        to_forget = to_cell * previous["cell"] * forget * (1.0 - forget)
        to_new = to_cell * write * (1.0 - new * new)
        gates = ops.concatenate([to_input, to_forget, to_new, to_output], axis=-1)
        return GatesGradient(inputs=gates, inner=gates, direct={"cell": to_cell * forget})


Gates = GruGates | LstmGates
