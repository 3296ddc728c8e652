"""A loop over time whose kernels get their gradients afterwards. For teacher forcing only.

By default, TensorFlow accumulates every kernel's gradient at every step of a loop, and casts every kernel anew.
Here kernels are constants inside the loop, and the loop records the factor of each product:
1. every product has a zero added to it, a probe, whose gradient is that of the product,
2. automatic differentiation of the loop gives the gradients of all probes,
3. the gradient of each kernel is one product over all steps: of the recorded factors and the probes' gradients.

Hand-written gradients of a whole step are faster still: `recurrence.py`. Knows only tensors.
`test_written_out_gradients_are_those_of_tensorflow` in `tests/unit/model/fast` holds loss and gradients equal to those
of the decoders' own steps.

Letters: T steps, N rows; a map has a kernel (I, J) and a bias (J,).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

from keras import ops

from nmt_cli.arrays.types import NamedTensors, Tensor
from nmt_cli.model.fast.recurrence import Product

Affine = Callable[[str, Tensor], Tensor]  # the name of a map and (N, I) to (N, J), in float32
# The affine maps, the previous state and a step's input (N, ...) to the next state.
DeferredStep = Callable[[Affine, NamedTensors, Tensor], NamedTensors]


def run_with_deferred_kernels(
    step: DeferredStep, start: NamedTensors, inputs: Tensor, maps: Mapping[str, tuple[Tensor, Tensor]], *, dtype: str
) -> NamedTensors:
    """Returns the states (T, N, ...) after each step over `inputs` (T, N, ...), by name, in float32.

    `step` receives a function that applies one of `maps`, a kernel and a bias, by name; it must apply each once.
    Products are computed in `dtype`, to which `inputs` are rounded as well.
    """
    deferred = DeferredMaps(maps, dtype)
    # One sequence, since Keras' scan on TensorFlow takes no two of unknown length.
    sequence = ops.concatenate([ops.cast(inputs, dtype), deferred.make_probes(*ops.shape(inputs)[:2])], axis=-1)

    def record_step(
        carry: dict[str, NamedTensors], elements: Tensor
    ) -> tuple[dict[str, NamedTensors], dict[str, NamedTensors]]:
        values, probes = ops.split(elements, [inputs.shape[-1]], axis=-1)
        factors: NamedTensors = {}
        affine = deferred.make_affine(deferred.split_by_map(probes), factors)
        carry = {"states": step(affine, carry["states"], ops.cast(values, "float32")), "factors": factors}
        return carry, carry

    before = {"states": start, "factors": deferred.make_empty_factors(ops.shape(inputs)[1])}
    _, recorded = ops.scan(record_step, before, sequence)
    deferred.factors = recorded["factors"]
    states: NamedTensors = recorded["states"]
    return states


class DeferredMaps:
    """The maps of one loop, by name, and the gradients of their kernels.

    The loop adds one step of the probes to each product. A probe has the gradient of its product, so that kernels get
    their gradients from the probes', outside the loop.
    """

    factors: NamedTensors  # (T, N, I), what each kernel was multiplied with; known once the loop has run

    def __init__(self, maps: Mapping[str, tuple[Tensor, Tensor]], dtype: str) -> None:
        self.dtype = dtype
        self.kernels = {name: ops.cast(kernel, "float32") for name, (kernel, _) in maps.items()}
        self.biases = {name: ops.cast(bias, "float32") for name, (_, bias) in maps.items()}
        self.products = {name: Product(ops.stop_gradient(kernel), dtype) for name, kernel in self.kernels.items()}
        widths = [kernel.shape[1] for kernel in self.kernels.values()]
        *self.ends, self.width = accumulate(widths)

    def make_probes(self, steps: Tensor, rows: Tensor) -> Tensor:
        """Returns zeros (T, N, sum of J) for all products of the loop, differentiable with respect to the kernels."""

        def make_zeros(*_: Tensor) -> tuple[Tensor, Any]:
            return ops.zeros((steps, rows, self.width), dtype=self.dtype), self.compute_kernel_gradients

        probes: Tensor = ops.custom_gradient(make_zeros)(*self.kernels.values())
        return probes

    def compute_kernel_gradients(self, upstream: Tensor) -> tuple[Tensor, ...]:
        """Returns the gradients of all kernels, given those of all products (T, N, sum of J)."""
        gradients = self.split_by_map(upstream)
        return tuple(
            product.compute_kernel_gradient(self.factors[name], gradients[name])
            for name, product in self.products.items()
        )

    def split_by_map(self, values: Tensor) -> NamedTensors:
        """Splits values (..., sum of J) into the parts of each map (..., J), by name."""
        return dict(zip(self.products, ops.split(values, self.ends, axis=-1), strict=True))

    def make_affine(self, probes: NamedTensors, factors: NamedTensors) -> Affine:
        """Returns the function that applies a map at one step, with that step of the probes.

        It records its arguments in `factors`.
        """

        def apply(name: str, values: Tensor) -> Tensor:
            values = ops.cast(values, self.dtype)
            factors[name] = ops.stop_gradient(values)
            product = ops.matmul(values, self.products[name].kernel) + probes[name]
            return ops.cast(product, "float32") + self.biases[name]

        return apply

    def make_empty_factors(self, rows: Tensor) -> NamedTensors:
        """Returns the factors before the first step: zeros."""
        return {name: ops.zeros((rows, kernel.shape[0]), dtype=self.dtype) for name, kernel in self.kernels.items()}
