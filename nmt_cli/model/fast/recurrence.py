"""A GRU or LSTM run over time, with and without additive attention, with its gradient written out. Not for search or
its export, which take the cells' own steps.

Left to itself, the gradient of a loop multiplies and adds the gradient of every kernel at every step. Here the loop
keeps notes of what it computed, a second loop runs back through them, and the gradient of each kernel is one product
over all steps at the end. What a cell does at a step stands in `gates.py`, attention in `attention.AdditiveAttention`;
tests hold both to Keras' own. Knows tensors only, neither layers nor configurations.

Letters: T steps, N rows, U units, G gates, S source positions, A width of the comparison, M width of the memory.
Products are computed in `dtype`, all else in float32. A loop is handed the number of its step, since Keras' scan on
TensorFlow takes no two sequences of unknown length, and it gives back what it carries, so notes are carried too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from keras import ops

from nmt_cli.model.fast.gates import Gates, Notes

Tensor = Any


def states_over_time(
    gates: Gates, inputs: Tensor, starts: Sequence[Tensor], kernel: Tensor, bias: Tensor, valid: Tensor, *,
    dtype: str, reverse: bool = False
) -> tuple[Tensor, ...]:  # fmt: skip
    """States (T, N, U), by `gates.states`, of a cell whose `inputs` (T, N, G U) are projected already, with their bias.

    `starts` are (N, U) each; `kernel` (U, G U) and `bias` (G U,) are those of the recurrence. Where `valid` (T, N) is 0
    the states stay as they are. `reverse` runs from the last step to the first.
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, ...], Any]:
        loop = GatedLoop(gates, *tensors, valid=ops.expand_dims(valid, -1), dtype=dtype, reverse=reverse)
        return tuple(loop.notes[name] for name in gates.states), loop.gradient

    return run(inputs, kernel, bias, *starts)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Attended:
    """What additive attention needs at every step. All in float32 but the memory."""

    keys: Tensor  # (N, S, A), with their bias
    memory: Tensor  # (N, S, M)
    bias: Tensor  # (N, S): 0, or far below it on padding; takes no gradient
    query: Tensor  # (U, A)
    energy: Tensor  # (A, 1)


def attentive_states_over_time(
    gates: Gates, inputs: Tensor, starts: Sequence[Tensor], kernel: Tensor, bias: Tensor, from_context: Tensor,
    attended: Attended, *, dtype: str
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """States (T, N, U) and contexts (T, N, M) of a cell that, at each step, sees what its last state attends to.

    As `states_over_time`, but for the hidden state alone, with the context (M) fed to the gates through `from_context`
    (M, G U).
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, Tensor], Any]:
        loop = AttentiveLoop(gates, *tensors, mask=attended.bias, dtype=dtype)
        return (loop.notes["hidden"], loop.notes["context"]), loop.gradient

    from_hidden = ops.concatenate([kernel, attended.query], axis=1)  # one product for the gates and the query
    own = (inputs, from_hidden, bias, from_context, attended.keys, attended.memory, attended.energy)
    return run(*own, *starts)  # type: ignore[no-any-return]


class GatedLoop:
    """One run of `states_over_time`."""

    def __init__(
        self, gates: Gates, inputs: Tensor, kernel: Tensor, bias: Tensor, *starts: Tensor, valid: Tensor, dtype: str,
        reverse: bool
    ) -> None:  # fmt: skip
        self.gates, self.inputs, self.bias, self.valid, self.reverse = gates, inputs, bias, valid, reverse
        self.product = Product(kernel, dtype)
        start = dict(zip(gates.states, starts, strict=True))
        self.notes = over_time(self.step, start | nothing_noted(gates, start), inputs, reverse=reverse)[1]
        self.before = states_before(self.notes, start, reverse=reverse)

    def step(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        before = {name: carry[name] for name in self.gates.states}
        notes = self.gates.step(self.inputs[time], self.product(before["hidden"]) + self.bias, before)
        for name, state in before.items():
            notes[name] = state + self.valid[time] * (notes[name] - state)
        return notes, notes

    def gradient(self, *upstream: Tensor) -> tuple[Tensor, ...]:
        """Of inputs, kernel, bias and starts, given those of the states."""
        self.upstream = dict(zip(self.gates.states, upstream, strict=True))
        nothing = ops.zeros_like(self.inputs[0])
        start = {name: ops.zeros_like(state[0]) for name, state in self.before.items()}
        start |= {"inputs": nothing, "inner": nothing}
        last, of_steps = over_time(self.back, start, self.inputs, reverse=not self.reverse)
        of_kernel = self.product.kernel_gradient(self.before["hidden"], of_steps["inner"])
        of_starts = [last[name] for name in self.gates.states]
        return of_steps["inputs"], of_kernel, ops.sum(of_steps["inner"], axis=(0, 1)), *of_starts

    def back(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        arriving = {name: carry[name] + states[time] for name, states in self.upstream.items()}
        through = {name: one * self.valid[time] for name, one in arriving.items()}  # the rest goes past the gates
        back = self.gates.gradient(through, at(self.notes, time), at(self.before, time))
        carry = {name: one - through[name] + back.direct.get(name, 0.0) for name, one in arriving.items()}
        carry["hidden"] = carry["hidden"] + self.product.back(back.inner)
        carry |= {"inputs": back.inputs, "inner": back.inner}
        return carry, carry


class AttentiveLoop:
    """One run of `attentive_states_over_time`."""

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
        blank = {
            "query": ops.zeros_like(keys[:, 0]),
            "weights": ops.zeros_like(mask),
            "context": ops.zeros_like(memory[:, 0], dtype="float32"),
        }
        self.notes = over_time(self.step, start | nothing_noted(gates, start) | blank, inputs)[1]
        self.before = states_before(self.notes, start)

    def step(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        before = {name: carry[name] for name in self.gates.states}
        projected = self.hidden_product(before["hidden"])
        query = projected[:, self.gates_width :]
        energies = ops.squeeze(ops.matmul(self.compared(query), self.energy), -1)
        weights = ops.softmax(energies + self.mask, axis=-1)
        context = weighted_sum(weights, self.memory)
        from_input = self.inputs[time] + self.context_product(context)
        notes = self.gates.step(from_input, projected[:, : self.gates_width] + self.bias, before)
        notes |= {"query": query, "weights": weights, "context": context}
        return notes, notes

    def compared(self, query: Tensor) -> Tensor:
        return ops.tanh(ops.expand_dims(query, 1) + self.keys)  # (N, S, A)

    def gradient(self, to_hidden: Tensor, to_context: Tensor) -> tuple[Tensor, ...]:
        """Of what `__init__` takes, given those of hidden states and contexts."""
        self.to_hidden, self.to_context = to_hidden, to_context
        self.no_keys = ops.zeros_like(self.keys)
        start = {name: ops.zeros_like(state[0]) for name, state in self.before.items()} | {
            "keys": self.no_keys,
            "energy": ops.zeros_like(self.energy),
            "inputs": ops.zeros_like(self.inputs[0]),
            "projected": ops.zeros_like(ops.concatenate([self.inputs[0], self.keys[:, 0]], axis=-1)),
            "context": ops.zeros_like(to_context[0]),
        }
        last, of_steps = over_time(self.back, start, self.inputs, reverse=True)
        to_memory = ops.matmul(
            ops.transpose(ops.cast(self.notes["weights"], self.dtype), (1, 2, 0)),
            ops.transpose(ops.cast(of_steps["context"], self.dtype), (1, 0, 2)),
        )
        return (
            of_steps["inputs"],
            self.hidden_product.kernel_gradient(self.before["hidden"], of_steps["projected"]),
            ops.sum(of_steps["projected"][..., : self.gates_width], axis=(0, 1)),
            self.context_product.kernel_gradient(self.notes["context"], of_steps["inputs"]),
            last["keys"],
            ops.cast(to_memory, self.memory_type),
            last["energy"],
            *[last[name] for name in self.gates.states],
        )

    def back(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        notes = at(self.notes, time)
        arriving = {name: carry[name] for name in self.gates.states}
        arriving["hidden"] = arriving["hidden"] + self.to_hidden[time]
        back = self.gates.gradient(arriving, notes, at(self.before, time))
        context = self.context_product.back(back.inputs) + self.to_context[time]
        to_weights = weighted_sum(context, ops.transpose(self.memory, (0, 2, 1)))
        mean = ops.sum(notes["weights"] * to_weights, axis=-1, keepdims=True)
        to_energies = notes["weights"] * (to_weights - mean)  # (N, S)
        compared = self.compared(notes["query"])
        to_keys = ops.expand_dims(to_energies, -1) * self.energy[:, 0] * (1.0 - compared * compared)  # (N, S, A)
        to_energy = ops.matmul(flat(to_energies), ops.reshape(compared, (-1, compared.shape[-1])))  # (1, A)
        projected = ops.concatenate([back.inner, ops.sum(to_keys, axis=1)], axis=-1)
        direct = {name: back.direct.get(name, 0.0) for name in arriving}
        carry = direct | {
            "hidden": direct["hidden"] + self.hidden_product.back(projected),
            "keys": carry["keys"] + to_keys,
            "energy": carry["energy"] + ops.transpose(to_energy),
            "inputs": back.inputs,
            "projected": projected,
            "context": context,
        }
        # Of the keys only the sum is wanted. T of them would fill the memory; T times the same zeros take no place.
        return carry, carry | {"keys": self.no_keys}


class Product:
    """Products with one kernel (I, J): made in `dtype`, given back in float32."""

    def __init__(self, kernel: Tensor, dtype: str) -> None:
        self.dtype = dtype
        self.kernel = ops.cast(kernel, dtype)
        self.transposed = ops.transpose(self.kernel)

    def __call__(self, inputs: Tensor) -> Tensor:
        """(N, J) of `inputs` (N, I)."""
        return ops.cast(ops.matmul(ops.cast(inputs, self.dtype), self.kernel), "float32")

    def back(self, upstream: Tensor) -> Tensor:
        """The gradient (N, I) of the inputs of one step, given that of the product (N, J)."""
        return ops.cast(ops.matmul(ops.cast(upstream, self.dtype), self.transposed), "float32")

    def kernel_gradient(self, inputs: Tensor, upstream: Tensor) -> Tensor:
        """(I, J), of all steps: `inputs` (T, N, I), `upstream` (T, N, J)."""
        inputs, upstream = (ops.reshape(ops.cast(one, self.dtype), (-1, one.shape[-1])) for one in (inputs, upstream))
        return ops.cast(ops.matmul(ops.transpose(inputs), upstream), "float32")


def weighted_sum(weights: Tensor, values: Tensor) -> Tensor:
    """(N, M) in float32: the sum of `values` (N, S, M) with `weights` (N, S), in the type of the values."""
    summed = ops.matmul(ops.expand_dims(ops.cast(weights, values.dtype), 1), values)
    return ops.cast(ops.squeeze(summed, 1), "float32")


def over_time(step: Any, start: Notes, inputs: Tensor, *, reverse: bool = False) -> tuple[Notes, Notes]:
    """What `step(carry, time)` carries after its last run, and what it gave at each, one run for each of `inputs`."""
    last, of_steps = ops.scan(step, start, ops.arange(ops.shape(inputs)[0]), reverse=reverse)
    return last, of_steps


def at(notes: Notes, time: Tensor) -> Notes:
    return {name: of_steps[time] for name, of_steps in notes.items()}


def nothing_noted(gates: Gates, start: Notes) -> Notes:
    """Notes of the time before the first step."""
    return dict.fromkeys(gates.noted, ops.zeros_like(start["hidden"]))


def states_before(notes: Notes, start: Notes, *, reverse: bool = False) -> Notes:
    """The states (T, N, U) that each step began with, by the names in `start`."""

    def before(states: Tensor, first: Tensor) -> Tensor:
        first = ops.expand_dims(first, 0)
        return ops.concatenate([states[1:], first] if reverse else [first, states[:-1]], axis=0)

    return {name: before(notes[name], first) for name, first in start.items()}


def flat(values: Tensor) -> Tensor:
    return ops.reshape(values, (1, -1))
