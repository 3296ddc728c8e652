"""A loop over time whose kernels learn after it. For teacher forcing alone.

Left to itself, the gradient of a loop adds up the gradient of every kernel at every step, and casts every kernel anew.
Here kernels are constants inside the loop, and what each is multiplied with is noted: its gradient is one product over
all steps, once those of its products are known. Where a whole step is written out it is faster still: `recurrence.py`.
Knows tensors only.

Letters: T steps, N rows; a map has a kernel (I, J) and a bias (J,).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

from keras import ops

from nmt_cli.model.fast.recurrence import Product

Tensor = Any
State = dict[str, Tensor]
Affine = Callable[[str, Tensor], Tensor]  # the name of a map and (N, I) to (N, J), in float32
Step = Callable[[Affine, State, Tensor], State]  # the last state and a step's input (N, ...) to the next state


def states_with_maps(
    step: Step, start: State, inputs: Tensor, maps: Mapping[str, tuple[Tensor, Tensor]], *, dtype: str
) -> State:
    """The states (T, N, ...) that `step` makes of `start` over `inputs` (T, N, ...), by their names; all in float32.

    `step` is handed a function that applies one of `maps`, kernel and bias, by its name, and must use each once.
    Products are made in `dtype`, and `inputs` are rounded to it.
    """
    deferred = DeferredMaps(maps, dtype)
    # One sequence, since Keras' scan on TensorFlow takes no two of unknown length.
    sequence = ops.concatenate([ops.cast(inputs, dtype), deferred.nothing(*ops.shape(inputs)[:2])], axis=-1)

    def noting_step(carry: dict[str, State], given: Tensor) -> tuple[dict[str, State], dict[str, State]]:
        own, nothing = ops.split(given, [inputs.shape[-1]], axis=-1)
        seen: State = {}
        affine = deferred.noting_affine(deferred.of_each(nothing), seen)
        carry = {"states": step(affine, carry["states"], ops.cast(own, "float32")), "seen": seen}
        return carry, carry

    _, noted = ops.scan(noting_step, {"states": start, "seen": deferred.unseen(ops.shape(inputs)[1])}, sequence)
    deferred.seen = noted["seen"]
    states: State = noted["states"]
    return states


class DeferredMaps:
    """The maps of one loop, by their names.

    The loop adds to each product a step of `nothing`. What is added has the gradient of the product: so kernels learn
    from it, outside the loop.
    """

    seen: State  # (T, N, I), what was multiplied; known once the loop has run

    def __init__(self, maps: Mapping[str, tuple[Tensor, Tensor]], dtype: str) -> None:
        self.dtype = dtype
        self.kernels = {name: ops.cast(kernel, "float32") for name, (kernel, _) in maps.items()}
        self.biases = {name: ops.cast(bias, "float32") for name, (_, bias) in maps.items()}
        self.products = {name: Product(ops.stop_gradient(kernel), dtype) for name, kernel in self.kernels.items()}
        widths = [kernel.shape[1] for kernel in self.kernels.values()]
        *self.ends, self.width = accumulate(widths)

    def nothing(self, steps: Tensor, rows: Tensor) -> Tensor:
        """Zeros for all products of the loop, beside each other, (T, N, J of all)."""

        def zeros(*_: Tensor) -> tuple[Tensor, Any]:
            return ops.zeros((steps, rows, self.width), dtype=self.dtype), self.kernel_gradients

        nothing: Tensor = ops.custom_gradient(zeros)(*self.kernels.values())
        return nothing

    def kernel_gradients(self, upstream: Tensor) -> tuple[Tensor, ...]:
        """Of all kernels, given that (T, N, J of all) of their products."""
        upstreams = self.of_each(upstream)
        return tuple(one.kernel_gradient(self.seen[name], upstreams[name]) for name, one in self.products.items())

    def of_each(self, of_all: Tensor) -> State:
        """(..., J) by the maps' names, of (..., J of all)."""
        return dict(zip(self.products, ops.split(of_all, self.ends, axis=-1), strict=True))

    def noting_affine(self, nothing: State, seen: State) -> Affine:
        """For one step, with that step of `nothing`; it notes in `seen` what it is given."""

        def affine(name: str, values: Tensor) -> Tensor:
            values = ops.cast(values, self.dtype)
            seen[name] = ops.stop_gradient(values)
            product = ops.matmul(values, self.products[name].kernel) + nothing[name]
            return ops.cast(product, "float32") + self.biases[name]

        return affine

    def unseen(self, rows: Tensor) -> State:
        """Of the time before the first step."""
        return {name: ops.zeros((rows, kernel.shape[0]), dtype=self.dtype) for name, kernel in self.kernels.items()}
