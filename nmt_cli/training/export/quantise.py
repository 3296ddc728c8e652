"""Quantises weights to 8 bits: the graphs multiply integers, and their results do not depend on the batch.

    weights 0.50, -1.27    highest 1.27, so the scale is 0.01 and the bytes are 50, -127

Weights have one scale per column, embeddings one per row. The values multiplied by weights have a constant scale: if it
were computed for a whole tensor at run time, a sentence's result would depend on its batch. Their range was measured
(`RangeRecorder`) or, inside loops, is the one that the graph clips them to; larger values are clipped.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from nmt_cli.training.export.graph import Array, Graph, Linear, find_description, list_bodies, make_node, read_attribute

MICROSOFT = "com.microsoft"  # ONNX Runtime's own operations
LARGEST = 127.0  # of the magnitudes that a signed byte is used for
MIDDLE = 128  # the unsigned byte that stands for 0: processors multiply unsigned values by signed weights
NARROWEST = 4  # rows and columns of weights that are quantised: all but vectors
RANGES = "ranges"
SMALLEST = 1e-9  # range, so that no scale is 0


def quantise_model(model: ModelProto, ranges: Mapping[str, float]) -> ModelProto:
    """Returns a copy of `model` with 8-bit weights; `ranges` holds the largest magnitude of each measured value."""
    copy = ModelProto()
    copy.CopyFrom(model)
    copy.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    graph = Graph(copy.graph)
    quantise_embeddings(graph)
    quantise_products(graph, ranges)
    graph.prune()
    return copy


def quantise_products(graph: Graph, ranges: Mapping[str, float]) -> None:
    """Quantises the products whose values have a known range; other products are unchanged."""
    ranged = {**{value: (value, highest) for value, highest in ranges.items()}, **find_clipped(graph)}
    inputs: dict[str, Sequence[str]] = {}  # by value that is quantised already: bytes, scale and zero point
    for linear in graph.list_linears(narrowest=NARROWEST):
        if linear.value not in ranged:
            continue
        new: list[NodeProto] = []
        if linear.value not in inputs:
            new, inputs[linear.value] = quantise_value(graph, *ranged[linear.value])
        graph.exchange(linear.nodes, [*new, make_integer_product(graph, linear, inputs[linear.value])])
    for node in graph.proto.node:
        for body in list_bodies(node):
            inner = Graph(body, outer=graph)
            quantise_products(inner, {})
            inner.prune()


def find_clipped(graph: Graph) -> dict[str, tuple[str, float]]:
    """Returns the values clipped to [-c, c], each with the value before clipping, and c.

    Quantising clips to the same range, up to one step, so the value before clipping can be quantised instead.
    """
    clips = {}
    for highest in [node for node in graph.proto.node if node.op_type == "Max"]:
        lowest = graph.find_producer(highest.input[0])
        if lowest is None or lowest.op_type != "Min":
            continue
        upper, lower = graph.read_constant(lowest.input[1]), graph.read_constant(highest.input[1])
        if upper is not None and lower is not None and upper.size == 1 and upper == -lower:
            clips[highest.output[0]] = (lowest.input[0], float(upper))
    return clips


def quantise_value(graph: Graph, value: str, highest: float) -> tuple[list[NodeProto], Sequence[str]]:
    """Returns nodes that quantise a value of magnitudes up to `highest`, and the names of bytes, scale and zero point.

    A concatenation is quantised part by part, since bytes are cheaper to copy than floats.
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


def make_integer_product(graph: Graph, linear: Linear, value: Sequence[str]) -> NodeProto:
    """Returns a product of bytes that yields floats; `value` names bytes, scale and zero point."""
    weights, scales = quantise_weights(linear.weights, measure_largest_sums(linear.weights))
    quantised, scale, middle = value
    names = [quantised, graph.add_constant(weights, "weights"), scale, graph.add_constant(scales[0], "scales"), middle]
    if linear.bias is not None:
        names += ["", graph.add_constant(linear.bias, "bias")]
    return make_node("MatMulIntegerToFloat", names, [linear.output], domain=MICROSOFT)


def quantise_embeddings(graph: Graph) -> None:
    """Quantises the embedding tables; a row becomes floats when looked up."""
    for lookup in [lookup for lookup in graph.proto.node if lookup.op_type == "Gather"]:
        table = graph.read_constant(lookup.input[0])
        if table is None or table.ndim != 2 or table.dtype != np.float32 or min(table.shape) < NARROWEST:
            continue
        weights, scales = quantise_weights(table, np.abs(table).max(axis=1, keepdims=True))
        row, numbers, scale = (graph.make_name(name) for name in ("row", "numbers", "scale"))
        ids, output, flat = lookup.input[1], lookup.output[0], is_vector(graph, lookup.input[1])
        new = [
            make_node("Gather", [graph.add_constant(weights, "table"), ids], [row]),
            make_node("Gather", [graph.add_constant(scales[:, 0] if flat else scales, "scales"), ids], [scale]),
        ]
        if flat:  # takes two thirds of the time, but scales have to be a vector
            new += [make_node("DequantizeLinear", [row, scale], [output], axis=0)]
        else:
            new += [
                make_node("Cast", [row], [numbers], to=TensorProto.FLOAT),
                make_node("Mul", [numbers, scale], [output]),
            ]
        graph.exchange([lookup], new)


def is_vector(graph: Graph, ids: str) -> bool:
    """Whether the graph says that ids are a vector."""
    producer, description = graph.find_producer(ids), find_description(graph.proto, ids)
    if producer is not None and producer.op_type == "Reshape":
        shape = graph.read_constant(producer.input[1])
        return shape is not None and shape.size == 1
    return description is not None and len(description.type.tensor_type.shape.dim) == 1


def measure_largest_sums(weights: Array) -> Array:
    """Returns (1, J): the largest magnitude of a weight or of the sum of two like-signed neighbours, by column.

    Processors without instructions for sums of four products (VNNI) add the products of two neighbouring rows in 16
    bits, and saturate. With bytes up to 255 and two weights that add up to at most 128, they never saturate.
    """
    even = np.pad(weights, [(0, len(weights) % 2), (0, 0)])
    of_sign = [np.maximum(sign * even, 0).reshape(-1, 2, even.shape[1]).sum(axis=1) for sign in (1, -1)]
    return np.asarray(np.max(of_sign, axis=(0, 1))[np.newaxis])


def quantise_weights(weights: Array, highest: Array) -> tuple[Array, Array]:
    """Returns weights as signed bytes, and their scales. `highest`, the largest magnitude, becomes 127."""
    scales = np.maximum(highest, SMALLEST) / LARGEST
    return np.round(weights / scales).astype(np.int8), scales.astype(np.float32)


def add_range_output(model: ModelProto) -> ModelProto:
    """Returns a copy of `model` with one more output: the largest magnitudes of `list_measured_values`."""
    copy = ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    magnitudes: list[str] = []
    for value in list_measured_values(model):
        magnitude, highest = f"{value}:magnitude", f"{value}:highest"
        graph.node.append(make_node("Abs", [value], [magnitude]))
        graph.node.append(make_node("ReduceMax", [magnitude], [highest], keepdims=0))
        graph.node.append(make_node("Unsqueeze", [highest, "first_axis"], [f"{highest}:1"]))
        magnitudes.append(f"{highest}:1")
    graph.initializer.append(helper.make_tensor("first_axis", TensorProto.INT64, [1], [0]))
    graph.initializer.append(helper.make_tensor("no_range", TensorProto.FLOAT, [0], []))
    # A concatenation needs at least one input, and in a very narrow network nothing is measured.
    graph.node.append(make_node("Concat", ["no_range", *magnitudes], [RANGES], axis=0))
    graph.output.append(helper.make_tensor_value_info(RANGES, TensorProto.FLOAT, [len(magnitudes)]))
    return copy


def list_measured_values(model: ModelProto) -> list[str]:
    """Returns, in a fixed order, the values whose ranges are needed by products outside loops."""
    return list(dict.fromkeys(linear.value for linear in Graph(model.graph).list_linears(narrowest=NARROWEST)))


class RangeRecorder:
    """Runs the session of a graph from `add_range_output`, and records the largest magnitude of each measured value.

    It takes the place of that session, and is thread-safe.
    """

    def __init__(self, session: Any, model: ModelProto) -> None:
        self.session = session
        self.names = list_measured_values(model)
        self.highest = np.zeros(len(self.names), dtype=np.float32)
        self.lock = threading.Lock()

    def run(self, names: Sequence[str], feed: Mapping[str, Array]) -> list[Array]:
        """Returns the outputs with these names, as the session does."""
        values: list[Array]
        *values, ranges = self.session.run([*names, RANGES], feed)
        with self.lock:  # otherwise one thread's maximum could replace that of another
            self.highest = np.maximum(self.highest, ranges)
        return values

    def map_ranges(self) -> dict[str, float]:
        """Returns the largest magnitude so far of each measured value."""
        return dict(zip(self.names, self.highest.tolist(), strict=True))
