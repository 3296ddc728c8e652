"""A loop over time whose kernels learn after it. For training alone.

Left to itself, the gradient of a loop adds up the gradient of every kernel at every step, and casts every kernel anew.
Here kernels are constants inside the loop, and what each is multiplied with is noted: its gradient is one product over
all steps, once those of its products are known. Where a whole step is written out it is faster still: `recurrence.py`.
Knows tensors only.

Letters: T steps, N rows; a map has a kernel (I, J) and a bias (J,).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keras import ops

from nmt_cli.model.recurrence import Product

Tensor = Any
State = dict[str, Tensor]
Affine = Callable[[str, Tensor], Tensor]  # the name of a map and (N, I) to (N, J), in float32
Step = Callable[[Affine, State, Tensor], State]  # the last state and a step's input (N, ...) to the next state


def states_with_maps(
    step: Step, start: State, inputs: Tensor, maps: Mapping[str, tuple[Tensor, Tensor]], *, dtype: str
) -> State:
    """The states (T, N, ...) that `step` makes of `start` over `inputs` (T, N, ...), by their names; all in float32.

    `step` is handed a function that applies one of `maps`, kernel and bias, by its name, and must use each once.
    Products are made in `dtype`.
    """
    deferred = {name: DeferredMap(kernel, bias, inputs, dtype) for name, (kernel, bias) in maps.items()}
    # One sequence, since Keras' scan on TensorFlow takes no two of unknown length.
    sequences = [inputs, *(one.additions for one in deferred.values())]
    ends = [sum(one.shape[-1] for one in sequences[: count + 1]) for count in range(len(maps))]

    def noting_step(carry: dict[str, State], given: Tensor) -> tuple[dict[str, State], dict[str, State]]:
        own, *additions = ops.split(given, ends, axis=-1)
        of_step = dict(zip(deferred, additions, strict=True))
        seen: State = {}

        def affine(name: str, values: Tensor) -> Tensor:
            seen[name] = values
            return deferred[name].product(values) + of_step[name]

        carry = {"states": step(affine, carry["states"], own), "seen": seen}
        return carry, carry

    unseen = {name: ops.zeros((ops.shape(inputs)[1], kernel.shape[0])) for name, (kernel, _) in maps.items()}
    _, noted = ops.scan(noting_step, {"states": start, "seen": unseen}, ops.concatenate(sequences, axis=-1))
    for name, one in deferred.items():
        one.seen = ops.stop_gradient(noted["seen"][name])
    states: State = noted["states"]
    return states


class DeferredMap:
    """One map in a loop over `inputs` (T, N, ...).

    The loop makes the products, and adds to each a step of `additions` (T, N, J), which are the bias. So the gradient
    of the additions is that of the products, and kernel and bias learn from it, outside the loop.
    """

    seen: Tensor  # (T, N, I), what was multiplied; known once the loop has run

    def __init__(self, kernel: Tensor, bias: Tensor, inputs: Tensor, dtype: str) -> None:
        kernel, bias = ops.cast(kernel, "float32"), ops.cast(bias, "float32")
        self.product = Product(ops.stop_gradient(kernel), dtype)
        self.nothing = ops.zeros_like(inputs[..., :1], dtype="float32")
        self.additions = ops.custom_gradient(self.added)(kernel, bias)

    def added(self, kernel: Tensor, bias: Tensor) -> tuple[Tensor, Any]:
        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            return self.product.kernel_gradient(self.seen, upstream), ops.sum(upstream, axis=(0, 1))

        return self.nothing + bias, gradient
