"""An ONNX graph being changed: the producers and consumers of its values, its constants, and its products.

Knows nothing of networks; `simplify.py`, `embedding_tables.py` and `quantise.py` say what is changed, and why.
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
    """A product with constant weights, and the constant bias added to it, if any."""

    nodes: tuple[NodeProto, ...]  # MatMul or Gemm, and Add where there is a bias
    value: str  # (..., K)
    weights: Array  # (K, M)
    bias: Array | None  # (M,)
    output: str  # (..., M)


class Graph:
    """A graph, or the body of a loop of the graph `outer`, whose constants it reads too."""

    def __init__(self, proto: GraphProto, outer: Graph | None = None) -> None:
        self.proto = proto
        self.outer = outer
        self.arrays: dict[str, Array] = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.initializer}
        self.names: set[str] = outer.names if outer is not None else list_read_names(proto)  # that are in use

    def read_constant(self, name: str) -> Array | None:
        """Returns the value of a constant; None for a computed value."""
        if name in self.arrays:
            return self.arrays[name]
        return self.outer.read_constant(name) if self.outer is not None else None

    def find_producer(self, name: str) -> NodeProto | None:
        """Returns the node that computes a value; None for inputs and constants."""
        return next((node for node in self.proto.node if name in node.output), None)

    def list_consumers(self, name: str) -> list[NodeProto]:
        """Returns the nodes of this graph that read a value, excluding nodes inside its loops."""
        return [node for node in self.proto.node if name in node.input]

    def is_read_elsewhere(self, name: str) -> bool:
        """Whether a value is an output of the graph, or read inside a loop."""
        inside = any(name in list_read_names(body) for node in self.proto.node for body in list_bodies(node))
        return inside or any(name == output.name for output in self.proto.output)

    def add_constant(self, array: Array | np.generic, like: str) -> str:
        """Adds a constant and returns its name, which begins with `like`."""
        name = self.make_name(like)
        self.arrays[name] = np.asarray(array)
        self.proto.initializer.append(numpy_helper.from_array(self.arrays[name], name))
        return name

    def fold(self, node: NodeProto, value: Array) -> None:
        """Replaces a node with one output by a constant."""
        self.exchange([node], [])
        self.arrays[node.output[0]] = value
        self.proto.initializer.append(numpy_helper.from_array(value, node.output[0]))

    def make_name(self, like: str) -> str:
        """Returns a name that is not in use, which begins with `like`."""
        name = next(name for name in (f"{like}__{number}" for number in count(1)) if name not in self.names)
        self.names.add(name)
        return name

    def exchange(self, old: Sequence[NodeProto], new: Sequence[NodeProto]) -> None:
        """Replaces the nodes `old` by `new`, at the position of the last of `old`.

        There, all values that they read are already computed, and none of their outputs is read yet.
        """
        nodes = list(self.proto.node)
        outputs = [node.output[0] for node in old]  # identify the nodes: assigning nodes copies them
        last = max(index for index, node in enumerate(nodes) if node.output[0] in outputs)
        before = [node for node in nodes[:last] if node.output[0] not in outputs]
        del self.proto.node[:]
        self.proto.node.extend([*before, *new, *nodes[last + 1 :]])

    def list_linears(self, *, narrowest: int) -> list[Linear]:
        """Returns the products with constant weights of at least `narrowest` rows and columns."""
        linears = []
        for node in self.proto.node:
            weights = self.read_weights(node)
            if weights is not None and weights.ndim == 2 and min(weights.shape) >= narrowest:
                linears.append(self.describe_linear(node, weights))
        return linears

    def read_weights(self, node: NodeProto) -> Array | None:
        """Returns the constant (K, M) that a product multiplies by; None if it has none, or if the node does more.

        tf2onnx converts an Einsum to a Gemm.
        """
        if node.op_type not in ("MatMul", "Gemm"):
            return None
        constant = self.read_constant(node.input[1])
        if constant is None or node.op_type == "MatMul":
            return constant
        does_more = (
            read_attribute(node, "transA") or len(node.input) > 2 or read_attribute(node, "alpha") not in (None, 1.0)
        )
        if does_more:
            return None
        return np.ascontiguousarray(constant.T) if read_attribute(node, "transB") else constant

    def describe_linear(self, product: NodeProto, weights: Array) -> Linear:
        """Returns a product together with the bias added to it, if nothing else reads the product."""
        value, output = product.input[0], product.output[0]
        readers = self.list_consumers(output)
        if len(readers) == 1 and readers[0].op_type == "Add" and not self.is_read_elsewhere(output):
            for name in readers[0].input:
                bias = self.read_constant(name)
                if bias is not None and bias.shape == weights.shape[1:]:
                    return Linear((product, readers[0]), value, weights, bias, readers[0].output[0])
        return Linear((product,), value, weights, None, output)

    def prune(self) -> None:
        """Removes unused nodes, constants and inputs."""
        while True:
            needed = list_read_names(self.proto)
            nodes = [node for node in self.proto.node if needed.intersection(node.output)]
            if len(nodes) == len(self.proto.node):
                break
            del self.proto.node[:]
            self.proto.node.extend(nodes)
        constants = [value for value in self.proto.initializer if value.name in needed]
        del self.proto.initializer[:]
        self.proto.initializer.extend(constants)
        inputs = [value for value in self.proto.input if value.name in needed]
        if self.outer is None:  # the inputs of a loop's body are identified by their positions
            del self.proto.input[:]
            self.proto.input.extend(inputs)


def list_bodies(node: NodeProto) -> Iterator[GraphProto]:
    """Returns the graphs inside a node: the body of a loop, or the branches of a condition."""
    return (attribute.g for attribute in node.attribute if attribute.HasField("g"))


def list_read_names(proto: GraphProto) -> set[str]:
    """Returns all names that are read in a graph and in the bodies of its loops, including its outputs."""
    names = {output.name for output in proto.output}
    for node in proto.node:
        names.update(node.input)
        for body in list_bodies(node):
            names |= list_read_names(body)
    return names


def make_node(operation: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> NodeProto:
    """Returns a node for an ONNX operation; inputs and outputs are names of values."""
    return helper.make_node(operation, list(inputs), list(outputs), **attributes)


def read_attribute(node: NodeProto, name: str) -> Any:
    """Returns the value of a node's attribute; None for its default."""
    return next((helper.get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name), None)


def find_description(proto: GraphProto, name: str) -> ValueInfoProto | None:
    """Returns the graph's description of a value's type and shape, or None."""
    described = (*proto.input, *proto.output, *proto.value_info)
    return next((value for value in described if value.name == name), None)


def measure_width(proto: GraphProto, name: str) -> int:
    """Returns the length of the last axis of a value; 0 if unknown."""
    description = find_description(proto, name)
    axes = description.type.tensor_type.shape.dim if description is not None else ()
    return int(axes[-1].dim_value) if axes else 0
