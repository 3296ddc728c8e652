"""Replaces products with embeddings by lookups, since a token's product depends only on the token.

If an embedding is concatenated with other values, the token's part of the product is looked up and added. This is for
graphs in 8 bits (`quantise.py`): in 32 bits the tables would be several times as large as all other weights.

Letters: V tokens, E embedding width, J outputs of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto

from nmt_cli.training.export.graph import Array, Graph, Linear, make_node, read_attribute

LARGEST_TABLE = 2**24  # numbers; a larger table takes longer to load than most texts take to translate


@dataclass(frozen=True)
class Lookup:
    """A value whose rows are the rows `ids` of a table."""

    table: Array  # (V, E)
    ids: str


def look_up_embeddings(graph: Graph) -> None:
    """Replaces products with embeddings by lookups, in place, and removes whatever becomes unused."""
    for linear in graph.list_linears(narrowest=1):
        new = look_up_product(graph, linear)
        if new:
            graph.exchange(linear.nodes, new)
    for node in [node for node in graph.proto.node if node.op_type == "Shape"]:
        derive_shape_from_ids(graph, node)
    graph.prune()


def derive_shape_from_ids(graph: Graph, shape: NodeProto) -> None:
    """Computes a shape of embeddings from the shape of their ids, so that no lookup is needed for it."""
    new: list[NodeProto] = []
    lookup = find_lookup(graph, shape.input[0], new)
    if lookup is not None:
        shape_name = graph.make_name("tabulated_shape")
        width = graph.add_constant(np.array([lookup.table.shape[1]]), "width")
        new += [
            make_node("Shape", [lookup.ids], [shape_name]),
            make_node("Concat", [shape_name, width], [shape.output[0]], axis=0),
        ]
        graph.exchange([shape], new)


def look_up_product(graph: Graph, linear: Linear) -> list[NodeProto]:
    """Returns nodes that compute a product, or a part of it, by a lookup; empty if that is impossible."""
    parts = list_concatenated(graph, linear.value)
    for index in {0, len(parts) - 1}:  # of a part in the middle it is not known which weights are its own
        new: list[NodeProto] = []
        lookup = find_lookup(graph, parts[index], new)
        if lookup is None or len(lookup.table) * linear.weights.shape[1] > LARGEST_TABLE:
            continue
        beside = [part for number, part in enumerate(parts) if number != index]
        width = lookup.table.shape[1]
        first, second = np.split(linear.weights, [width if index == 0 else -width])
        table, others = (first, second) if index == 0 else (second, first)
        if bool(beside) == bool(len(others)):  # otherwise the parts are concatenated along another axis
            return [*new, *add_looked_up(graph, linear, lookup, table, beside, others)]
    return []


def add_looked_up(
    graph: Graph, linear: Linear, lookup: Lookup, table: Array, beside: list[str], others: Array
) -> Iterator[NodeProto]:
    """Yields nodes that compute the output of `linear`.

    `table` (E, J) holds its weights for the part that is looked up, and `others` those for the parts `beside` it.
    """
    bias = 0 if linear.bias is None else linear.bias
    tabulated = graph.add_constant((lookup.table @ table + bias).astype(np.float32), "tabulated")
    if not beside:
        yield make_node("Gather", [tabulated, lookup.ids], [linear.output])
        return
    concatenation, row, product = (graph.make_name(f"tabulated_{name}") for name in ("beside", "row", "product"))
    yield make_node("Gather", [tabulated, lookup.ids], [row])
    if len(beside) > 1:
        yield make_node("Concat", beside, [concatenation], axis=-1)
    value = concatenation if len(beside) > 1 else beside[0]
    yield make_node("MatMul", [value, graph.add_constant(others, "others")], [product])
    yield make_node("Add", [row, product], [linear.output])


def list_concatenated(graph: Graph, value: str) -> list[str]:
    """Returns the values concatenated to `value` along the last axis of a matrix, or only `value`."""
    concat = graph.find_producer(value)
    if concat is None or concat.op_type != "Concat" or read_attribute(concat, "axis") not in (1, -1):
        return [value]
    return list(concat.input)


def find_lookup(graph: Graph, value: str, new: list[NodeProto]) -> Lookup | None:
    """Returns the table and the row ids of `value` if it consists of embeddings, in any order; else None.

    Appends to `new` the nodes that reorder the ids. Several products append equal nodes, which ONNX Runtime merges.
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
    inner = find_lookup(graph, node.input[0], new)
    if inner is None:
        return None
    if node.op_type == "Transpose":
        *order, last = read_attribute(node, "perm")
        return Lookup(inner.table, add_node("Transpose", inner.ids, perm=order)) if last == len(order) else None
    shape = graph.read_constant(node.input[1])
    if shape is None or shape.tolist() != [-1, inner.table.shape[1]]:
        return None
    return Lookup(inner.table, add_node("Reshape", inner.ids, graph.add_constant(np.array([-1]), "flat")))
