"""A GRU run over time, with and without additive attention, with its gradient written out. For training alone.

Left to itself, the gradient of a loop multiplies and adds the gradient of every kernel at every step. Here the loop
keeps notes of what it computed, a second loop runs back through them, and the gradient of each kernel is one product
over all steps at the end. The equations are those of `keras.layers.GRUCell` (with `reset_after`) and of
`attention.AdditiveAttention`; tests hold both to them. Knows tensors only, neither layers nor configurations.

Letters: T steps, N rows, U units, S source positions, A width of the comparison, M width of the memory.
Products are computed in `dtype`, all else in float32. A loop is handed the number of its step, since Keras' scan on
TensorFlow takes no two sequences of unknown length, and it gives back what it carries, so notes are carried too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from keras import ops

Tensor = Any
Notes = dict[str, Tensor]  # of one step; with T in front, of all


def gru_over_time(
    inputs: Tensor, start: Tensor, kernel: Tensor, bias: Tensor, valid: Tensor, *, dtype: str, reverse: bool = False
) -> Tensor:
    """States (T, N, U) of a GRU whose `inputs` (T, N, 3 U) are projected already, with their bias.

    `start` is (N, U); `kernel` (U, 3 U) and `bias` (3 U,) are those of the recurrence. Where `valid` (T, N) is 0 the
    state stays as it is. `reverse` runs from the last step to the first.
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[Tensor, Any]:
        loop = GatedLoop(*tensors, valid=ops.expand_dims(valid, -1), dtype=dtype, reverse=reverse)
        return loop.notes["hidden"], loop.gradient

    return run(inputs, start, kernel, bias)


@dataclass(frozen=True)
class Attended:
    """What additive attention needs at every step. All in float32 but the memory."""

    keys: Tensor  # (N, S, A), with their bias
    memory: Tensor  # (N, S, M)
    bias: Tensor  # (N, S): 0, or far below it on padding; takes no gradient
    query: Tensor  # (U, A)
    energy: Tensor  # (A, 1)


def attentive_gru_over_time(
    inputs: Tensor, start: Tensor, kernel: Tensor, bias: Tensor, from_context: Tensor, attended: Attended, *, dtype: str
) -> tuple[Tensor, Tensor]:
    """States (T, N, U) and contexts (T, N, M) of a GRU that, at each step, sees what its last state attends to.

    As `gru_over_time`, with the context (M) fed to the gates through `from_context` (M, 3 U).
    """

    @ops.custom_gradient  # type: ignore[untyped-decorator]
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, Tensor], Any]:
        loop = AttentiveLoop(*tensors, mask=attended.bias, dtype=dtype)
        return (loop.notes["hidden"], loop.notes["context"]), loop.gradient

    from_hidden = ops.concatenate([kernel, attended.query], axis=1)  # one product for the gates and the query
    return run(inputs, start, from_hidden, bias, from_context, attended.keys, attended.memory, attended.energy)  # type: ignore[no-any-return]


class GatedLoop:
    """One run of `gru_over_time`."""

    def __init__(
        self, inputs: Tensor, start: Tensor, kernel: Tensor, bias: Tensor, *, valid: Tensor, dtype: str, reverse: bool
    ) -> None:
        self.inputs, self.bias, self.valid, self.reverse = inputs, bias, valid, reverse
        self.product = Product(kernel, dtype)
        self.notes = over_time(self.step, no_gates(start), inputs, reverse=reverse)[1]
        self.before = states_before(self.notes["hidden"], start, reverse=reverse)

    def step(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        before = carry["hidden"]
        notes = gates(self.inputs[time], self.product(before) + self.bias, before)
        notes["hidden"] = before + self.valid[time] * (notes["hidden"] - before)
        return notes, notes

    def gradient(self, upstream: Tensor) -> tuple[Tensor, ...]:
        """Of inputs, start, kernel and bias, given that of the states."""
        self.upstream = upstream
        nothing = ops.zeros_like(self.inputs[0])
        start = {"hidden": ops.zeros_like(self.before[0]), "inputs": nothing, "inner": nothing}
        last, of_steps = over_time(self.back, start, self.inputs, reverse=not self.reverse)
        of_kernel = self.product.kernel_gradient(self.before, of_steps["inner"])
        return of_steps["inputs"], last["hidden"], of_kernel, ops.sum(of_steps["inner"], axis=(0, 1))

    def back(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        arriving = carry["hidden"] + self.upstream[time]
        through = arriving * self.valid[time]  # the rest goes past the gates
        back = gates_gradient(through, at(self.notes, time), self.before[time])
        carry = {
            "hidden": arriving - through + back.direct + self.product.back(back.inner),
            "inputs": back.inputs,
            "inner": back.inner,
        }
        return carry, carry


class AttentiveLoop:
    """One run of `attentive_gru_over_time`."""

    def __init__(
        self, inputs: Tensor, start: Tensor, from_hidden: Tensor, bias: Tensor, from_context: Tensor, keys: Tensor,
        memory: Tensor, energy: Tensor, *, mask: Tensor, dtype: str
    ) -> None:  # fmt: skip
        self.inputs, self.bias, self.keys, self.energy, self.mask = inputs, bias, keys, energy, mask
        self.memory = ops.cast(memory, dtype)
        self.memory_type, self.dtype = memory.dtype, dtype
        self.hidden_product, self.context_product = Product(from_hidden, dtype), Product(from_context, dtype)
        self.gates_width = inputs.shape[-1]
        blank = {
            "query": ops.zeros_like(keys[:, 0]),
            "weights": ops.zeros_like(mask),
            "context": ops.zeros_like(memory[:, 0], dtype="float32"),
        }
        self.notes = over_time(self.step, no_gates(start) | blank, inputs)[1]
        self.before = states_before(self.notes["hidden"], start)

    def step(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        before = carry["hidden"]
        projected = self.hidden_product(before)
        query = projected[:, self.gates_width :]
        energies = ops.squeeze(ops.matmul(self.compared(query), self.energy), -1)
        weights = ops.softmax(energies + self.mask, axis=-1)
        context = weighted_sum(weights, self.memory)
        from_input = self.inputs[time] + self.context_product(context)
        notes = gates(from_input, projected[:, : self.gates_width] + self.bias, before)
        notes |= {"query": query, "weights": weights, "context": context}
        return notes, notes

    def compared(self, query: Tensor) -> Tensor:
        return ops.tanh(ops.expand_dims(query, 1) + self.keys)  # (N, S, A)

    def gradient(self, to_hidden: Tensor, to_context: Tensor) -> tuple[Tensor, ...]:
        """Of what `__init__` takes, given those of states and contexts."""
        self.to_hidden, self.to_context = to_hidden, to_context
        self.no_keys = ops.zeros_like(self.keys)
        start = {
            "hidden": ops.zeros_like(self.before[0]),
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
            last["hidden"],
            self.hidden_product.kernel_gradient(self.before, of_steps["projected"]),
            ops.sum(of_steps["projected"][..., : self.gates_width], axis=(0, 1)),
            self.context_product.kernel_gradient(self.notes["context"], of_steps["inputs"]),
            last["keys"],
            ops.cast(to_memory, self.memory_type),
            last["energy"],
        )

    def back(self, carry: Notes, time: Tensor) -> tuple[Notes, Notes]:
        notes = at(self.notes, time)
        back = gates_gradient(carry["hidden"] + self.to_hidden[time], notes, self.before[time])
        context = self.context_product.back(back.inputs) + self.to_context[time]
        to_weights = weighted_sum(context, ops.transpose(self.memory, (0, 2, 1)))
        mean = ops.sum(notes["weights"] * to_weights, axis=-1, keepdims=True)
        to_energies = notes["weights"] * (to_weights - mean)  # (N, S)
        compared = self.compared(notes["query"])
        to_keys = ops.expand_dims(to_energies, -1) * self.energy[:, 0] * (1.0 - compared * compared)  # (N, S, A)
        to_energy = ops.matmul(flat(to_energies), ops.reshape(compared, (-1, compared.shape[-1])))  # (1, A)
        projected = ops.concatenate([back.inner, ops.sum(to_keys, axis=1)], axis=-1)
        carry = {
            "hidden": back.direct + self.hidden_product.back(projected),
            "keys": carry["keys"] + to_keys,
            "energy": carry["energy"] + ops.transpose(to_energy),
            "inputs": back.inputs,
            "projected": projected,
            "context": context,
        }
        # Of the keys only the sum is wanted. T of them would fill the memory; T times the same zeros take no place.
        return carry, carry | {"keys": self.no_keys}


@dataclass(frozen=True)
class GatesGradient:
    """Of the gates of one step."""

    inputs: Tensor  # (N, 3 U): of what came from the input
    inner: Tensor  # (N, 3 U): of what came from the state through the kernel
    direct: Tensor  # (N, U): of the state itself


def gates(from_input: Tensor, from_hidden: Tensor, before: Tensor) -> Notes:
    """One step of N rows: the next state "hidden" and the gates. Both projections are (N, 3 U), with their biases.

    Source: Cho et al. (2014), "Learning Phrase Representations using RNN Encoder-Decoder", equations 5 to 8, with the
    reset gate after the product.
    """
    input_update, input_reset, input_new = ops.split(from_input, 3, axis=-1)
    hidden_update, hidden_reset, inner = ops.split(from_hidden, 3, axis=-1)
    update = ops.sigmoid(input_update + hidden_update)
    reset = ops.sigmoid(input_reset + hidden_reset)
    new = ops.tanh(input_new + reset * inner)
    return {"hidden": new + update * (before - new), "update": update, "reset": reset, "new": new, "inner": inner}


def gates_gradient(upstream: Tensor, notes: Notes, before: Tensor) -> GatesGradient:
    """The gradient of `gates`, given that of the next state (N, U)."""
    update, reset, new, inner = (notes[name] for name in ("update", "reset", "new", "inner"))
    direct = upstream * update
    to_new = (upstream - direct) * (1.0 - new * new)
    to_update = upstream * (before - new) * update * (1.0 - update)
    to_reset = to_new * inner * reset * (1.0 - reset)
    return GatesGradient(
        inputs=ops.concatenate([to_update, to_reset, to_new], axis=-1),
        inner=ops.concatenate([to_update, to_reset, to_new * reset], axis=-1),
        direct=direct,
    )


def no_gates(start: Tensor) -> Notes:
    """Notes of the shapes that `gates` gives, of the time before the first step."""
    nothing = ops.zeros_like(start)
    return {"hidden": start, "update": nothing, "reset": nothing, "new": nothing, "inner": nothing}


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


def states_before(hidden: Tensor, start: Tensor, *, reverse: bool = False) -> Tensor:
    """The state (T, N, U) that each step began with."""
    start = ops.expand_dims(start, 0)
    parts = [hidden[1:], start] if reverse else [start, hidden[:-1]]
    return ops.concatenate(parts, axis=0)


def flat(values: Tensor) -> Tensor:
    return ops.reshape(values, (1, -1))
