"""An ONNX graph that is being rewritten: what makes and reads each value, its constants, and exchanging nodes.

Knows nothing of networks; what is rewritten, and why, stands in `rewrite.py` and `quantise.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, ValueInfoProto, helper, numpy_helper

Array = NDArray[Any]


@dataclass(frozen=True)
class Linear:
    """A product with constant weights, and the constant bias that is added to it if there is one."""

    nodes: tuple[NodeProto, ...]  # MatMul or Gemm, and Add where there is a bias
    value: str  # (..., K)
    weights: Array  # (K, M)
    bias: Array | None  # (M,)
    output: str  # (..., M)


class Graph:
    """A graph, or the body of a loop in one, in which the constants of `outer` are seen too."""

    def __init__(self, proto: GraphProto, outer: Graph | None = None) -> None:
        self.proto = proto
        self.outer = outer
        self.arrays: dict[str, Array] = {one.name: numpy_helper.to_array(one) for one in proto.initializer}
        self.taken: set[str] = outer.taken if outer is not None else read_by(proto)

    def array(self, name: str) -> Array | None:
        """The value of a constant; None for what is computed."""
        if name in self.arrays:
            return self.arrays[name]
        return self.outer.array(name) if self.outer is not None else None

    def producer(self, name: str) -> NodeProto | None:
        return next((node for node in self.proto.node if name in node.output), None)

    def consumers(self, name: str) -> list[NodeProto]:
        """The nodes of this graph that read a value; those inside of its loops are not looked at."""
        return [node for node in self.proto.node if name in node.input]

    def read_elsewhere(self, name: str) -> bool:
        """Whether a value is an output, or is read inside of a loop."""
        inside = any(name in read_by(body) for node in self.proto.node for body in bodies(node))
        return inside or any(name == one.name for one in self.proto.output)

    def constant(self, array: Array | np.generic, like: str) -> str:
        """Adds a constant and returns its name, which begins with `like`."""
        name = self.name(like)
        self.arrays[name] = np.asarray(array)
        self.proto.initializer.append(numpy_helper.from_array(self.arrays[name], name))
        return name

    def fold(self, one: NodeProto, value: Array) -> None:
        """Puts a constant in the place of a node with one output."""
        self.exchange([one], [])
        self.arrays[one.output[0]] = value
        self.proto.initializer.append(numpy_helper.from_array(value, one.output[0]))

    def name(self, like: str) -> str:
        """A name that nothing has yet."""
        found = next(name for name in (f"{like}__{number}" for number in count(1)) if name not in self.taken)
        self.taken.add(found)
        return found

    def exchange(self, old: Sequence[NodeProto], new: Sequence[NodeProto]) -> None:
        """Puts `new` where the last of `old` stood: after all that they read, before all that reads them."""
        nodes = list(self.proto.node)
        outputs = [one.output[0] for one in old]  # a node is known by what it makes: setting nodes copies them
        last = max(index for index, node in enumerate(nodes) if node.output[0] in outputs)
        kept = [node for node in nodes[:last] if node.output[0] not in outputs]
        del self.proto.node[:]
        self.proto.node.extend([*kept, *new, *nodes[last + 1 :]])

    def linears(self, *, narrowest: int) -> list[Linear]:
        """The products with constant weights of at least `narrowest` rows and columns."""
        found = []
        for node in self.proto.node:
            weights = self.weights(node)
            if weights is not None and weights.ndim == 2 and min(weights.shape) >= narrowest:
                found.append(self.linear(node, weights))
        return found

    def weights(self, node: NodeProto) -> Array | None:
        """The constant (K, M) that a product multiplies by; None where there is none, or where it does more than that.

        tf2onnx makes a Gemm of what is written as an Einsum.
        """
        if node.op_type not in ("MatMul", "Gemm"):
            return None
        constant = self.array(node.input[1])
        if constant is None or node.op_type == "MatMul":
            return constant
        does_more = attribute(node, "transA") or len(node.input) > 2 or attribute(node, "alpha") not in (None, 1.0)
        if does_more:
            return None
        return np.ascontiguousarray(constant.T) if attribute(node, "transB") else constant

    def linear(self, product: NodeProto, weights: Array) -> Linear:
        value, output = product.input[0], product.output[0]
        readers = self.consumers(output)
        if len(readers) == 1 and readers[0].op_type == "Add" and not self.read_elsewhere(output):
            for name in readers[0].input:
                bias = self.array(name)
                if bias is not None and bias.shape == weights.shape[1:]:
                    return Linear((product, readers[0]), value, weights, bias, readers[0].output[0])
        return Linear((product,), value, weights, None, output)

    def prune(self) -> None:
        """Takes away what nothing reads any more."""
        while True:
            wanted = read_by(self.proto)
            nodes = [node for node in self.proto.node if wanted.intersection(node.output)]
            if len(nodes) == len(self.proto.node):
                break
            del self.proto.node[:]
            self.proto.node.extend(nodes)
        kept = [one for one in self.proto.initializer if one.name in wanted]
        del self.proto.initializer[:]
        self.proto.initializer.extend(kept)
        inputs = [one for one in self.proto.input if one.name in wanted]
        if self.outer is None:  # the inputs of a loop's body are told by their places
            del self.proto.input[:]
            self.proto.input.extend(inputs)


def bodies(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs inside of a node."""
    return (one.g for one in node.attribute if one.HasField("g"))


def read_by(proto: GraphProto) -> set[str]:
    """All names that are read in a graph and in the bodies of its loops, its outputs included."""
    names = {one.name for one in proto.output}
    for node in proto.node:
        names.update(node.input)
        for body in bodies(node):
            names |= read_by(body)
    return names


def node(operation: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> NodeProto:
    return helper.make_node(operation, list(inputs), list(outputs), **attributes)


def attribute(one: NodeProto, name: str) -> Any:
    """The value of a node's attribute; None where it has none, and its default counts."""
    return next((helper.get_attribute_value(each) for each in one.attribute if each.name == name), None)


def described(proto: GraphProto, name: str) -> ValueInfoProto | None:
    """What is known of the type and shape of a value."""
    known = (*proto.input, *proto.output, *proto.value_info)
    return next((one for one in known if one.name == name), None)


def width(proto: GraphProto, name: str) -> int:
    """Length of the last axis of a value; 0 where that is not known."""
    one = described(proto, name)
    axes = one.type.tensor_type.shape.dim if one is not None else ()
    return int(axes[-1].dim_value) if axes else 0
