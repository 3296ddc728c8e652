"""A GRU or LSTM run over time, with and without additive attention, with hand-written gradients.

Used only in training; search and the export use the cells' own steps.

By default, TensorFlow multiplies and accumulates every kernel's gradient at every step of a loop. In this
module instead,
1. the forward loop caches its activations,
2. the backward loop runs through them from the last step to the first and collects the gradients of the products,
3. a single matrix product over all steps then gives the gradient of each kernel.

The equations of a cell are in `GruGates` and `LstmGates`. Those of additive attention are written twice, for speed: in
`attention.AdditiveAttention`, layer by layer, and in `AttentiveLoop`, with their gradients. `tests/unit/model` checks
that the two agree (`test_written_out_gradients_are_those_of_tensorflow`, loss and gradients). Knows only tensors,
neither layers nor configurations.

Letters: T steps, N rows, U units, G gates, S source positions, A width of the comparison, M width of the memory.
Products are computed in `dtype`, everything else in float32. A loop gets the index of its step, since Keras' scan on
TensorFlow does not accept two sequences of unknown length. The scan returns only what it carries, so the cache is
carried too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from keras import ops

from nmt_cli.arrays.types import NamedTensors, Tensor

# One step of a GRU and of an LSTM, from projected input and state to the next state, with hand-written gradients.
#
# `recurrence.py` runs them over time in training, `training/export/trace.py` in the export of an LSTM. The equations
# are those of `keras.layers.GRUCell` (with `reset_after`) and `keras.layers.LSTMCell`, repeated because Keras' cells
# return no activations from which a backward pass could start. `tests/unit/model/fast` holds the two equal:
# `test_a_run_over_time_is_the_cell_step_by_step` the states, `test_written_out_gradients_are_those_of_tensorflow` the
# gradients. Letters: N rows, U units, G gates.


@dataclass(frozen=True)
class GatesGradient:
    """The gradients of one step."""

    inputs: Tensor  # (N, G U): of the projected input
    inner: Tensor  # (N, G U): of the projected state
    direct: NamedTensors  # (N, U): of the states themselves, by name; a state without an entry has a gradient of 0


class GruGates:
    """The gated recurrent unit, with the reset gate applied after the product.

    Source: Cho et al. (2014), "Learning Phrase Representations using RNN Encoder-Decoder", equations 5 to 8.
    `compute_gru_change` in `training/export/trace.py` repeats the equations gate by gate, which is faster in ONNX
    Runtime; `test_keras_and_onnx_find_the_same_hypotheses` in `tests/unit/training/export` checks that the two agree.
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


def run_recurrence(
    gates: Gates, inputs: Tensor, starts: Sequence[Tensor], kernel: Tensor, bias: Tensor, valid: Tensor, *,
    dtype: str, reverse: bool
) -> tuple[Tensor, ...]:  # fmt: skip
    """Returns the states (T, N, U) of a cell after each step, in the order of `gates.states`.

    `inputs` (T, N, G U) are already projected, bias included. `starts` are the first states, (N, U) each; `kernel` (U,
    G U) and `bias` (G U,) are the recurrence's. Where `valid` (T, N) is 0, the states are unchanged. `reverse` runs
    from the last step to the first.
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, ...], Any]:
        loop = GatedLoop(gates, *tensors, valid=ops.expand_dims(valid, -1), dtype=dtype, reverse=reverse)
        return tuple(loop.cache[name] for name in gates.states), loop.backward

    return run(inputs, kernel, bias, *starts)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class AttentionTensors:
    """The tensors that additive attention needs at every step: float32, except for the memory."""

    keys: Tensor  # (N, S, A), bias included
    memory: Tensor  # (N, S, M)
    bias: Tensor  # (N, S): 0 on tokens and far below 0 on padding; has no gradient
    query: Tensor  # (U, A)
    energy: Tensor  # (A, 1)


def run_attentive_recurrence(
    gates: Gates, inputs: Tensor, starts: Sequence[Tensor], kernel: Tensor, bias: Tensor, from_context: Tensor,
    attention: AttentionTensors, *, dtype: str
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Returns the hidden states (T, N, U) and contexts (T, N, M) of a cell that attends before each step.

    The previous hidden state is the query, and the kernel `from_context` (M, G U) feeds the context to the gates. The
    other arguments are those of `run_recurrence`.
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, Tensor], Any]:
        loop = AttentiveLoop(gates, *tensors, mask=attention.bias, dtype=dtype)
        return (loop.cache["hidden"], loop.cache["context"]), loop.backward

    from_hidden = ops.concatenate([kernel, attention.query], axis=1)  # one product for the gates and the query
    learned = (inputs, from_hidden, bias, from_context, attention.keys, attention.memory, attention.energy)
    return run(*learned, *starts)  # type: ignore[no-any-return]


class GatedLoop:
    """One run of `run_recurrence`, forward and backward."""

    def __init__(
        self, gates: Gates, inputs: Tensor, kernel: Tensor, bias: Tensor, *starts: Tensor, valid: Tensor, dtype: str,
        reverse: bool
    ) -> None:  # fmt: skip
        self.gates, self.inputs, self.bias, self.valid, self.reverse = gates, inputs, bias, valid, reverse
        self.product = Product(kernel, dtype)
        start = dict(zip(gates.states, starts, strict=True))
        self.cache = scan_steps(self.step, start | make_empty_cache(gates, start), inputs, reverse=reverse)[1]
        self.previous = shift_states(self.cache, start, reverse=reverse)

    def step(self, carry: NamedTensors, time: Tensor) -> tuple[NamedTensors, NamedTensors]:
        previous = {name: carry[name] for name in self.gates.states}
        cache = self.gates.step(self.inputs[time], self.product(previous["hidden"]) + self.bias, previous)
        for name, state in previous.items():
            cache[name] = state + self.valid[time] * (cache[name] - state)
        return cache, cache

    def backward(self, *upstream: Tensor) -> tuple[Tensor, ...]:
        """Returns the gradients of inputs, kernel, bias and starts, given the gradients of the states."""
        # 1. Run backward through the steps: no gradient arrives after the last one.
        self.upstream = dict(zip(self.gates.states, upstream, strict=True))
        zeros = ops.zeros_like(self.inputs[0])
        start = {name: ops.zeros_like(state[0]) for name, state in self.previous.items()}
        start |= {"inputs": zeros, "inner": zeros}
        last, gradients = scan_steps(self.step_backward, start, self.inputs, reverse=not self.reverse)
        # 2. The kernel and the bias are those of all steps: their gradients are summed over time and rows.
        to_kernel = self.product.compute_kernel_gradient(self.previous["hidden"], gradients["inner"])
        to_bias = ops.sum(gradients["inner"], axis=(0, 1))
        # 3. What is left after the first step is the gradient of the first states.
        to_starts = [last[name] for name in self.gates.states]
        return gradients["inputs"], to_kernel, to_bias, *to_starts

    def step_backward(self, carry: NamedTensors, time: Tensor) -> tuple[NamedTensors, NamedTensors]:
        # 1. A state has gradients from the step after it and from what reads the states of this step.
        arriving = {name: carry[name] + states[time] for name, states in self.upstream.items()}
        # 2. At padding the state was copied: its gradient passes by the gates.
        through = {name: gradient * self.valid[time] for name, gradient in arriving.items()}
        gradient = self.gates.backward(through, select_step(self.cache, time), select_step(self.previous, time))
        # 3. The previous state gets what passed by, what went through the gates, and what went through the kernel.
        carry = {name: arriving[name] - through[name] + gradient.direct.get(name, 0.0) for name in arriving}
        carry["hidden"] = carry["hidden"] + self.product.backward(gradient.inner)
        carry |= {"inputs": gradient.inputs, "inner": gradient.inner}
        return carry, carry


class AttentiveLoop:
    """One run of `run_attentive_recurrence`, forward and backward."""

    def __init__(
        self, gates: Gates, inputs: Tensor, from_hidden: Tensor, bias: Tensor, from_context: Tensor, keys: Tensor,
        memory: Tensor, energy: Tensor, *starts: Tensor, mask: Tensor, dtype: str
    ) -> None:  # fmt: skip
        self.gates = gates
        self.inputs, self.bias, self.keys, self.energy, self.mask = inputs, bias, keys, energy, mask
        self.memory = ops.cast(memory, dtype)
        self.memory_type, self.dtype = memory.dtype, dtype
        self.hidden_product, self.context_product = Product(from_hidden, dtype), Product(from_context, dtype)
        self.gates_width = inputs.shape[-1]
        start = dict(zip(gates.states, starts, strict=True))
        attention = {
            "query": ops.zeros_like(keys[:, 0]),
            "weights": ops.zeros_like(mask),
            "context": ops.zeros_like(memory[:, 0], dtype="float32"),
        }
        self.cache = scan_steps(self.step, start | make_empty_cache(gates, start) | attention, inputs)[1]
        self.previous = shift_states(self.cache, start)

    def step(self, carry: NamedTensors, time: Tensor) -> tuple[NamedTensors, NamedTensors]:
        previous = {name: carry[name] for name in self.gates.states}
        # 1. One product of the previous state makes the query and its share of the gates.
        projected = self.hidden_product(previous["hidden"])
        query = projected[:, self.gates_width :]
        # 2. Compare the query with every key; the softmax of the energies weighs the memory.
        energies = ops.squeeze(ops.matmul(self.compare_with_keys(query), self.energy), -1)
        weights = ops.softmax(energies + self.mask, axis=-1)
        context = sum_weighted(weights, self.memory)
        # 3. The gates see the token, the context and the previous state.
        from_input = self.inputs[time] + self.context_product(context)
        cache = self.gates.step(from_input, projected[:, : self.gates_width] + self.bias, previous)
        cache |= {"query": query, "weights": weights, "context": context}
        return cache, cache

    def compare_with_keys(self, query: Tensor) -> Tensor:
        return ops.tanh(ops.expand_dims(query, 1) + self.keys)  # (N, S, A)

    def backward(self, to_hidden: Tensor, to_context: Tensor) -> tuple[Tensor, ...]:
        """Returns the gradients of the arguments of `__init__`, given those of hidden states and contexts."""
        # 1. Run backward through the steps.
        self.to_hidden, self.to_context = to_hidden, to_context
        self.no_keys = ops.zeros_like(self.keys)
        start = {name: ops.zeros_like(state[0]) for name, state in self.previous.items()} | {
            "keys": self.no_keys,
            "energy": ops.zeros_like(self.energy),
            "inputs": ops.zeros_like(self.inputs[0]),
            "projected": ops.zeros_like(ops.concatenate([self.inputs[0], self.keys[:, 0]], axis=-1)),
            "context": ops.zeros_like(to_context[0]),
        }
        last, gradients = scan_steps(self.step_backward, start, self.inputs, reverse=True)
        # 2. A context is the memory, weighted: all contexts together are one product.
        to_memory = ops.matmul(
            ops.transpose(ops.cast(self.cache["weights"], self.dtype), (1, 2, 0)),
            ops.transpose(ops.cast(gradients["context"], self.dtype), (1, 0, 2)),
        )
        # 3. One product over all steps for each kernel; keys and energy were summed in the loop.
        return (
            gradients["inputs"],
            self.hidden_product.compute_kernel_gradient(self.previous["hidden"], gradients["projected"]),
            ops.sum(gradients["projected"][..., : self.gates_width], axis=(0, 1)),
            self.context_product.compute_kernel_gradient(self.cache["context"], gradients["inputs"]),
            last["keys"],
            ops.cast(to_memory, self.memory_type),
            last["energy"],
            *[last[name] for name in self.gates.states],
        )

    def step_backward(self, carry: NamedTensors, time: Tensor) -> tuple[NamedTensors, NamedTensors]:
        cache = select_step(self.cache, time)
        # 1. Through the gates, to the input, the context and the previous state.
        arriving = {name: carry[name] for name in self.gates.states}
        arriving["hidden"] = arriving["hidden"] + self.to_hidden[time]
        gradient = self.gates.backward(arriving, cache, select_step(self.previous, time))
        context = self.context_product.backward(gradient.inputs) + self.to_context[time]
        # 2. Through the weighted sum and the softmax, whose gradient is w (g - sum of w g), to the energies (N, S).
        to_weights = sum_weighted(context, ops.transpose(self.memory, (0, 2, 1)))
        mean = ops.sum(cache["weights"] * to_weights, axis=-1, keepdims=True)
        to_energies = cache["weights"] * (to_weights - mean)
        # 3. Through the tanh, to keys (N, S, A), energy vector (1, A) and query. What was compared is computed anew:
        # T of these tensors would fill the memory.
        compared = self.compare_with_keys(cache["query"])
        to_keys = ops.expand_dims(to_energies, -1) * self.energy[:, 0] * (1.0 - compared * compared)
        to_energy = ops.matmul(flatten(to_energies), ops.reshape(compared, (-1, compared.shape[-1])))
        # 4. The previous state gets what went through the gates directly, and what went through the one product.
        projected = ops.concatenate([gradient.inner, ops.sum(to_keys, axis=1)], axis=-1)
        direct = {name: gradient.direct.get(name, 0.0) for name in arriving}
        carry = direct | {
            "hidden": direct["hidden"] + self.hidden_product.backward(projected),
            "keys": carry["keys"] + to_keys,
            "energy": carry["energy"] + ops.transpose(to_energy),
            "inputs": gradient.inputs,
            "projected": projected,
            "context": context,
        }
        # Only the sum over time is needed of the keys. T of them would fill the memory; T times the same zeros do not.
        return carry, carry | {"keys": self.no_keys}


class Product:
    """Multiplies by one kernel (I, J), in `dtype`; results are float32."""

    def __init__(self, kernel: Tensor, dtype: str) -> None:
        self.dtype = dtype
        self.kernel = ops.cast(kernel, dtype)
        self.transposed = ops.transpose(self.kernel)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Returns the products (N, J) of `inputs` (N, I)."""
        return ops.cast(ops.matmul(ops.cast(inputs, self.dtype), self.kernel), "float32")

    def backward(self, upstream: Tensor) -> Tensor:
        """Returns the gradient (N, I) of the inputs of one step, given that of the product (N, J)."""
        return ops.cast(ops.matmul(ops.cast(upstream, self.dtype), self.transposed), "float32")

    def compute_kernel_gradient(self, inputs: Tensor, upstream: Tensor) -> Tensor:
        """Returns the gradient (I, J) of the kernel over all steps: `inputs` (T, N, I), `upstream` (T, N, J)."""
        inputs, upstream = (
            ops.reshape(ops.cast(tensor, self.dtype), (-1, tensor.shape[-1])) for tensor in (inputs, upstream)
        )
        return ops.cast(ops.matmul(ops.transpose(inputs), upstream), "float32")


def sum_weighted(weights: Tensor, values: Tensor) -> Tensor:
    """Returns the sums (N, M) of `values` (N, S, M), weighted by `weights` (N, S).

    They are computed in the type of the values; the result is float32.
    """
    weighted = ops.matmul(ops.expand_dims(ops.cast(weights, values.dtype), 1), values)
    return ops.cast(ops.squeeze(weighted, 1), "float32")


def scan_steps(
    step: Any, start: NamedTensors, inputs: Tensor, *, reverse: bool = False
) -> tuple[NamedTensors, NamedTensors]:
    """Runs `step(carry, time)` once for each of `inputs` (T, ...).

    Returns the last carry, and the outputs of all steps (T, ...).
    """
    last, outputs = ops.scan(step, start, ops.arange(ops.shape(inputs)[0]), reverse=reverse)
    return last, outputs


def select_step(tensors: NamedTensors, time: Tensor) -> NamedTensors:
    """Returns the entries at step `time` of tensors over time (T, ...)."""
    return {name: over_time[time] for name, over_time in tensors.items()}


def make_empty_cache(gates: Gates, start: NamedTensors) -> NamedTensors:
    """Returns the cached activations before the first step: zeros."""
    return dict.fromkeys(gates.cached, ops.zeros_like(start["hidden"]))


def shift_states(cache: NamedTensors, start: NamedTensors, *, reverse: bool = False) -> NamedTensors:
    """Returns the states (T, N, U) before each step, by the names in `start`."""

    def shift(states: Tensor, first: Tensor) -> Tensor:
        first = ops.expand_dims(first, 0)
        return ops.concatenate([states[1:], first] if reverse else [first, states[:-1]], axis=0)

    return {name: shift(cache[name], first) for name, first in start.items()}


def flatten(values: Tensor) -> Tensor:
    """Returns `values` as one row (1, ...)."""
    return ops.reshape(values, (1, -1))
