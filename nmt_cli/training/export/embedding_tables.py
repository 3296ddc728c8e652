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

from nmt_cli.training.export.graph import Array, Graph, Linear, attribute, node

LARGEST = 2**24  # numbers in a table; what is larger takes longer to load than most texts to translate


@dataclass(frozen=True)
class Lookup:
    """A value whose rows are rows of a table."""

    table: Array  # (V, E)
    ids: str


def tabulate(graph: Graph) -> None:
    """Looks up what products make of embeddings, in place; what nothing reads any more is taken away."""
    for linear in graph.linears(narrowest=1):
        new = looked_up(graph, linear)
        if new:
            graph.exchange(linear.nodes, new)
    for one in [one for one in graph.proto.node if one.op_type == "Shape"]:
        shape_of_ids(graph, one)
    graph.prune()


def shape_of_ids(graph: Graph, shape: NodeProto) -> None:
    """Lets the shape of embeddings be made of that of their ids, so that they need not be looked up for it."""
    new: list[NodeProto] = []
    found = rows_of_table(graph, shape.input[0], new)
    if found is not None:
        own = graph.name("tabulated_shape")
        width = graph.constant(np.array([found.table.shape[1]]), "width")
        new += [node("Shape", [found.ids], [own]), node("Concat", [own, width], [shape.output[0]], axis=0)]
        graph.exchange([shape], new)


def looked_up(graph: Graph, linear: Linear) -> list[NodeProto]:
    """What makes the output of a product of which all or some is looked up; nothing where that cannot be."""
    parts = side_by_side(graph, linear.value)
    for place in {0, len(parts) - 1}:  # elsewhere it is not known which of the weights are the embedding's
        new: list[NodeProto] = []
        found = rows_of_table(graph, parts[place], new)
        if found is None or len(found.table) * linear.weights.shape[1] > LARGEST:
            continue
        beside = [part for index, part in enumerate(parts) if index != place]
        width = found.table.shape[1]
        first, second = np.split(linear.weights, [width if place == 0 else -width])
        own, others = (first, second) if place == 0 else (second, first)
        if bool(beside) == bool(len(others)):  # else they were put one below the other
            return [*new, *sum_of_both(graph, linear, found, own, beside, others)]
    return []


def sum_of_both(
    graph: Graph, linear: Linear, found: Lookup, own: Array, beside: list[str], others: Array
) -> Iterator[NodeProto]:
    """Makes the output of `linear`. Its weights are `own` (E, J) of what is `found`, `others` of what is `beside`."""
    bias = 0 if linear.bias is None else linear.bias
    table = graph.constant((found.table @ own + bias).astype(np.float32), "tabulated")
    if not beside:
        yield node("Gather", [table, found.ids], [linear.output])
        return
    rest, row, product = (graph.name(f"tabulated_{name}") for name in ("beside", "row", "product"))
    yield node("Gather", [table, found.ids], [row])
    if len(beside) > 1:
        yield node("Concat", beside, [rest], axis=-1)
    yield node("MatMul", [rest if len(beside) > 1 else beside[0], graph.constant(others, "others")], [product])
    yield node("Add", [row, product], [linear.output])


def side_by_side(graph: Graph, value: str) -> list[str]:
    """What was put side by side, along the last axis of a matrix, to make `value`; itself if nothing was."""
    concat = graph.producer(value)
    if concat is None or concat.op_type != "Concat" or attribute(concat, "axis") not in (1, -1):
        return [value]
    return list(concat.input)


def rows_of_table(graph: Graph, value: str, new: list[NodeProto]) -> Lookup | None:
    """Where the rows of `value` come from, if they are embeddings in whatever order.

    Appends to `new` the nodes that bring the ids into that order. Those of several products are equal, and ONNX Runtime
    makes one of them.
    """

    def made(operation: str, *inputs: str, **attributes: Any) -> str:
        new.append(node(operation, inputs, [graph.name("tabulated_ids")], **attributes))
        return str(new[-1].output[0])

    one = graph.producer(value)
    if one is None or one.op_type not in ("Gather", "Transpose", "Reshape"):
        return None
    if one.op_type == "Gather":
        table = graph.array(one.input[0])
        if table is None or table.ndim != 2 or table.dtype != np.float32 or attribute(one, "axis") not in (None, 0):
            return None
        return Lookup(table, one.input[1])
    inner = rows_of_table(graph, one.input[0], new)
    if inner is None:
        return None
    if one.op_type == "Transpose":
        *order, last = attribute(one, "perm")
        return Lookup(inner.table, made("Transpose", inner.ids, perm=order)) if last == len(order) else None
    shape = graph.array(one.input[1])
    if shape is None or shape.tolist() != [-1, inner.table.shape[1]]:
        return None
    return Lookup(inner.table, made("Reshape", inner.ids, graph.constant(np.array([-1]), "flat")))
