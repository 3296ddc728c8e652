"""Products of embeddings, looked up instead of made: what a product makes of a token depends on the token alone.

Where an embedding stands beside other values that go into the same product, the token's part is looked up and added.
For graphs in 8 bits (`quantise.py`): in 32 such tables would be several times the size of all other weights.

Letters: V tokens, E embedding width, J outputs of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto

from nmt_cli.training.export.graph import Array, Graph, Linear, make_node, read_attribute

LARGEST = 2**24  # numbers in a table; what is larger takes longer to load than most texts to translate


@dataclass(frozen=True)
class Lookup:
    """A value whose rows are rows of a table."""

    table: Array  # (V, E)
    ids: str


def look_up_embeddings(graph: Graph) -> None:
    """Looks up what products make of embeddings, in place; what nothing reads any more is taken away."""
    for linear in graph.list_linears(narrowest=1):
        new = look_up_product(graph, linear)
        if new:
            graph.exchange(linear.nodes, new)
    for node in [node for node in graph.proto.node if node.op_type == "Shape"]:
        shape_of_ids(graph, node)
    graph.prune()


def shape_of_ids(graph: Graph, shape: NodeProto) -> None:
    """Lets the shape of embeddings be made of that of their ids, so that they need not be looked up for it."""
    new: list[NodeProto] = []
    lookup = rows_of_table(graph, shape.input[0], new)
    if lookup is not None:
        shape_name = graph.make_name("tabulated_shape")
        width = graph.add_constant(np.array([lookup.table.shape[1]]), "width")
        new += [
            make_node("Shape", [lookup.ids], [shape_name]),
            make_node("Concat", [shape_name, width], [shape.output[0]], axis=0),
        ]
        graph.exchange([shape], new)


def look_up_product(graph: Graph, linear: Linear) -> list[NodeProto]:
    """What makes the output of a product of which all or some is looked up; nothing where that cannot be."""
    parts = side_by_side(graph, linear.value)
    for index in {0, len(parts) - 1}:  # elsewhere it is not known which of the weights are the embedding's
        new: list[NodeProto] = []
        lookup = rows_of_table(graph, parts[index], new)
        if lookup is None or len(lookup.table) * linear.weights.shape[1] > LARGEST:
            continue
        beside = [part for number, part in enumerate(parts) if number != index]
        width = lookup.table.shape[1]
        first, second = np.split(linear.weights, [width if index == 0 else -width])
        table, others = (first, second) if index == 0 else (second, first)
        if bool(beside) == bool(len(others)):  # else they were put one below the other
            return [*new, *sum_of_both(graph, linear, lookup, table, beside, others)]
    return []


def sum_of_both(
    graph: Graph, linear: Linear, lookup: Lookup, table: Array, beside: list[str], others: Array
) -> Iterator[NodeProto]:
    """Makes the output of `linear`: `table` (E, J) are its weights of the looked-up part, `others` of the rest."""
    bias = 0 if linear.bias is None else linear.bias
    tabulated = graph.add_constant((lookup.table @ table + bias).astype(np.float32), "tabulated")
    if not beside:
        yield make_node("Gather", [tabulated, lookup.ids], [linear.output])
        return
    rest, row, product = (graph.make_name(f"tabulated_{name}") for name in ("beside", "row", "product"))
    yield make_node("Gather", [tabulated, lookup.ids], [row])
    if len(beside) > 1:
        yield make_node("Concat", beside, [rest], axis=-1)
    yield make_node("MatMul", [rest if len(beside) > 1 else beside[0], graph.add_constant(others, "others")], [product])
    yield make_node("Add", [row, product], [linear.output])


def side_by_side(graph: Graph, value: str) -> list[str]:
    """What was put side by side, along the last axis of a matrix, to make `value`; itself if nothing was."""
    concat = graph.find_producer(value)
    if concat is None or concat.op_type != "Concat" or read_attribute(concat, "axis") not in (1, -1):
        return [value]
    return list(concat.input)


def rows_of_table(graph: Graph, value: str, new: list[NodeProto]) -> Lookup | None:
    """Where the rows of `value` come from, if they are embeddings in whatever order.

    Appends to `new` the nodes that bring the ids into that order. Those of several products are equal, and ONNX Runtime
    makes one of them.
    """

    def add_node(operation: str, *inputs: str, **attributes: Any) -> str:
        new.append(make_node(operation, inputs, [graph.make_name("tabulated_ids")], **attributes))
        return str(new[-1].output[0])

    node = graph.find_producer(value)
    if node is None or node.op_type not in ("Gather", "Transpose", "Reshape"):
        return None
    if node.op_type == "Gather":
        table = graph.read_constant(node.input[0])
        if (
            table is None
            or table.ndim != 2
            or table.dtype != np.float32
            or read_attribute(node, "axis") not in (None, 0)
        ):
            return None
        return Lookup(table, node.input[1])
    inner = rows_of_table(graph, node.input[0], new)
    if inner is None:
        return None
    if node.op_type == "Transpose":
        *order, last = read_attribute(node, "perm")
        return Lookup(inner.table, add_node("Transpose", inner.ids, perm=order)) if last == len(order) else None
    shape = graph.read_constant(node.input[1])
    if shape is None or shape.tolist() != [-1, inner.table.shape[1]]:
        return None
    return Lookup(inner.table, add_node("Reshape", inner.ids, graph.add_constant(np.array([-1]), "flat")))
