"""Weights in 8 bits: graphs that multiply whole numbers, and whose results do not depend on the batch.

Weights get a scale for each column, embeddings one for each row. What they are multiplied by has a constant scale: one
for the whole tensor, found while running, would let a sentence see its neighbours. Its range was measured (`Ranges`)
or, inside of loops, is what the graph itself clips it to; what lies beyond is cut off.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from nmt_cli.training.export.graph import Array, Graph, Linear, find_description, list_bodies, make_node, read_attribute

MICROSOFT = "com.microsoft"  # ONNX Runtime's own operations
LARGEST = 127.0  # of a signed byte
MIDDLE = 128  # the byte that stands for 0: processors multiply unsigned values by signed weights
NARROWEST = 4  # rows and columns of weights that are worth it: of all but vectors
RANGES = "ranges"
SMALLEST = 1e-9  # of a range: no scale is 0


def quantise_model(model: ModelProto, ranges: Mapping[str, float]) -> ModelProto:
    """A copy of `model` with its weights in 8 bits; `ranges` has the largest magnitude of each measured value."""
    copy = ModelProto()
    copy.CopyFrom(model)
    copy.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    graph = Graph(copy.graph)
    quantise_embeddings(graph)
    quantise_products(graph, ranges)
    graph.prune()
    return copy


def quantise_products(graph: Graph, ranges: Mapping[str, float]) -> None:
    """Quantises the products of values whose range is known; other products stay as they are."""
    known = {**{value: (value, highest) for value, highest in ranges.items()}, **find_clipped(graph)}
    inputs: dict[str, Sequence[str]] = {}  # of each value that was quantised already: bytes, scale and zero
    for linear in graph.list_linears(narrowest=NARROWEST):
        if linear.value not in known:
            continue
        new: list[NodeProto] = []
        if linear.value not in inputs:
            new, inputs[linear.value] = by_constant(graph, *known[linear.value])
        graph.exchange(linear.nodes, [*new, integer_product(graph, linear, inputs[linear.value])])
    for node in graph.proto.node:
        for body in list_bodies(node):
            inner = Graph(body, outer=graph)
            quantise_products(inner, {})
            inner.prune()


def find_clipped(graph: Graph) -> dict[str, tuple[str, float]]:
    """The values that are clipped to [-c, c], each with what it was before, and c. Bytes end there too, to a step."""
    clips = {}
    for highest in [node for node in graph.proto.node if node.op_type == "Max"]:
        lowest = graph.find_producer(highest.input[0])
        if lowest is None or lowest.op_type != "Min":
            continue
        upper, lower = graph.read_constant(lowest.input[1]), graph.read_constant(highest.input[1])
        if upper is not None and lower is not None and upper.size == 1 and upper == -lower:
            clips[highest.output[0]] = (lowest.input[0], float(upper))
    return clips


def by_constant(graph: Graph, value: str, highest: float) -> tuple[list[NodeProto], Sequence[str]]:
    """A value in bytes, with the scale of its range: what was measured, or what it is clipped to.

    Of values put side by side the bytes are, which are less to copy than the numbers.
    """
    scale = graph.add_constant(np.float32(max(highest, SMALLEST) / LARGEST), "scale")
    middle = graph.add_constant(np.uint8(MIDDLE), "middle")
    concat = graph.find_producer(value)
    parts = concat.input if concat is not None and concat.op_type == "Concat" else [value]
    new = [make_node("QuantizeLinear", [part, scale, middle], [graph.make_name("bytes")]) for part in parts]
    names = [node.output[0] for node in new]
    if concat is not None and len(names) > 1:
        new.append(make_node("Concat", names, [graph.make_name("bytes")], axis=read_attribute(concat, "axis")))
    return new, (new[-1].output[0], scale, middle)


def integer_product(graph: Graph, linear: Linear, value: Sequence[str]) -> NodeProto:
    """Bytes times bytes, out of which come numbers again, with the bias; `value` is bytes, scale and zero."""
    weights, scales = in_bytes(linear.weights, largest_sums(linear.weights))
    quantised, scale, middle = value
    names = [quantised, graph.add_constant(weights, "weights"), scale, graph.add_constant(scales[0], "scales"), middle]
    if linear.bias is not None:
        names += ["", graph.add_constant(linear.bias, "bias")]
    return make_node("MatMulIntegerToFloat", names, [linear.output], domain=MICROSOFT)


def quantise_embeddings(graph: Graph) -> None:
    """Tables of embeddings in bytes; a row is turned into numbers when it is looked up."""
    for lookup in [lookup for lookup in graph.proto.node if lookup.op_type == "Gather"]:
        table = graph.read_constant(lookup.input[0])
        if table is None or table.ndim != 2 or table.dtype != np.float32 or min(table.shape) < NARROWEST:
            continue
        weights, scales = in_bytes(table, np.abs(table).max(axis=1, keepdims=True))
        row, numbers, scale = (graph.make_name(name) for name in ("row", "numbers", "scale"))
        ids, output, flat = lookup.input[1], lookup.output[0], is_flat(graph, lookup.input[1])
        new = [
            make_node("Gather", [graph.add_constant(weights, "table"), ids], [row]),
            make_node("Gather", [graph.add_constant(scales[:, 0] if flat else scales, "scales"), ids], [scale]),
        ]
        if flat:  # two thirds of the time, but scales must be a vector
            new += [make_node("DequantizeLinear", [row, scale], [output], axis=0)]
        else:
            new += [
                make_node("Cast", [row], [numbers], to=TensorProto.FLOAT),
                make_node("Mul", [numbers, scale], [output]),
            ]
        graph.exchange([lookup], new)


def is_flat(graph: Graph, ids: str) -> bool:
    """Whether ids are known to be a vector."""
    producer, known = graph.find_producer(ids), find_description(graph.proto, ids)
    if producer is not None and producer.op_type == "Reshape":
        shape = graph.read_constant(producer.input[1])
        return shape is not None and shape.size == 1
    return known is not None and len(known.type.tensor_type.shape.dim) == 1


def largest_sums(weights: Array) -> Array:
    """(1, J), of weights (I, J): the largest magnitude of a weight, or of the sum of two of one sign that meet.

    Processors without instructions for sums of four products (VNNI) add the products of two neighbours in 16 bits, and
    cut off what is beyond. Of bytes up to 255 and weights that add up to 128 at most, nothing is.
    """
    even = np.pad(weights, [(0, len(weights) % 2), (0, 0)])
    of_sign = [np.maximum(sign * even, 0).reshape(-1, 2, even.shape[1]).sum(axis=1) for sign in (1, -1)]
    return np.asarray(np.max(of_sign, axis=(0, 1))[np.newaxis])


def in_bytes(weights: Array, highest: Array) -> tuple[Array, Array]:
    """Weights as signed bytes, and their scales, by which `highest`, which magnitudes do not exceed, is 127."""
    scales = np.maximum(highest, SMALLEST) / LARGEST
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


def with_ranges(model: ModelProto) -> ModelProto:
    """A copy of `model` with one more output: the largest magnitude of each of `measured(model)`."""
    copy = ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    magnitudes: list[str] = []
    for value in list_measured(model):
        magnitude, highest = f"{value}:magnitude", f"{value}:highest"
        graph.node.append(make_node("Abs", [value], [magnitude]))
        graph.node.append(make_node("ReduceMax", [magnitude], [highest], keepdims=0))
        graph.node.append(make_node("Unsqueeze", [highest, "first_axis"], [f"{highest}:1"]))
        magnitudes.append(f"{highest}:1")
    graph.initializer.append(helper.make_tensor("first_axis", TensorProto.INT64, [1], [0]))
    graph.initializer.append(helper.make_tensor("no_range", TensorProto.FLOAT, [0], []))
    # A concatenation needs something to begin with: in a network that is narrow enough nothing is measured.
    graph.node.append(make_node("Concat", ["no_range", *magnitudes], [RANGES], axis=0))
    graph.output.append(helper.make_tensor_value_info(RANGES, TensorProto.FLOAT, [len(magnitudes)]))
    return copy


def list_measured(model: ModelProto) -> list[str]:
    """The values whose ranges the products outside of loops need, in a fixed order."""
    return list(dict.fromkeys(linear.value for linear in Graph(model.graph).list_linears(narrowest=NARROWEST)))


class Ranges:
    """Stands in for the session of a graph made by `with_ranges`, and keeps the largest magnitudes it has seen.

    Several threads may run it.
    """

    def __init__(self, session: Any, model: ModelProto) -> None:
        self.session = session
        self.names = list_measured(model)
        self.highest = np.zeros(len(self.names), dtype=np.float32)
        self.lock = threading.Lock()

    def run(self, names: Sequence[str], feed: Mapping[str, Array]) -> list[Array]:
        values: list[Array]
        *values, ranges = self.session.run([*names, RANGES], feed)
        with self.lock:  # else one thread's maximum may replace that of another
            self.highest = np.maximum(self.highest, ranges)
        return values

    def map_ranges(self) -> dict[str, float]:
        return dict(zip(self.names, self.highest.tolist(), strict=True))
