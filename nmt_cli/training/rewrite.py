"""Makes the exported graphs cheaper without changing what they compute (up to rounding; the parity tests hold that).

Letters: A sentences, K rows a sentence, N = A * K rows, S source positions, M width of the memory.

1. A product with a concatenation is the sum of the products with its parts.
2. Attention mixes the memory, and its mixture is multiplied by weights. Both are linear, so the memory is multiplied
   once a sentence in the encoder instead of the mixture once a step and row in the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, shape_inference

from nmt_cli.inference.onnx_engine import MEMORY, PROJECTED
from nmt_cli.training.graph import Graph, Linear, described, node, width


def rewrite(encoder: ModelProto, decoder: ModelProto) -> None:
    """Rewrites both graphs of a model in place."""
    shapes = shape_inference.infer_shapes(decoder)
    graph = Graph(decoder.graph)
    for linear in graph.linears():
        split(graph, linear, shapes)
    project_memory(Graph(encoder.graph), graph)
    graph.prune()


def split(graph: Graph, linear: Linear, shapes: ModelProto) -> None:
    """[a; b] W = a W_a + b W_b, where the product is with a concatenation along the last axis."""
    concat = graph.producer(linear.value)
    if concat is None or concat.op_type != "Concat" or concat.attribute[0].i not in (-1, 1):
        return
    widths = [width(shapes.graph, name) for name in concat.input]
    if sum(widths) != len(linear.weights) or not all(widths):
        return
    parts = np.split(linear.weights, np.cumsum(widths)[:-1])
    new = [product(graph, name, part) for name, part in zip(concat.input, parts, strict=True)]
    if linear.bias is not None:
        new.insert(1, biased(graph, new[0], linear.bias))
    graph.exchange(linear.nodes, [*new, *summed(graph, new, linear)])


def product(graph: Graph, value: str, weights: np.ndarray) -> NodeProto:
    return node("MatMul", [value, graph.constant(weights, "weights")], [graph.name("product")])


def biased(graph: Graph, before: NodeProto, bias: np.ndarray) -> NodeProto:
    return node("Add", [before.output[0], graph.constant(bias, "bias")], [graph.name("biased")])


def summed(graph: Graph, new: Sequence[NodeProto], linear: Linear) -> list[NodeProto]:
    """The sum of the products in `new`, the first of which is followed by its bias if there is one."""
    terms = [one.output[0] for one in (new if linear.bias is None else new[1:])]
    sums: list[NodeProto] = []
    total = terms[0]
    for index, term in enumerate(terms[1:], start=2):
        output = linear.output if index == len(terms) else graph.name("sum")
        sums.append(node("Add", [total, term], [output]))
        total = output
    return sums


def project_memory(encoder: Graph, decoder: Graph) -> None:
    """Lets the encoder multiply the memory by all weights that its mixture would be multiplied by in each step."""
    mixing = [one for one in decoder.consumers(MEMORY) if one.op_type == "MatMul" and one.input[1] == MEMORY]
    if len(mixing) != 1:
        return
    (reshaped,) = decoder.consumers(mixing[0].output[0])
    context = reshaped.output[0]
    linears = [one for one in decoder.linears() if one.value == context]
    if not linears or len(linears) < len(decoder.consumers(context)) or decoder.read_elsewhere(context):
        return  # something reads the mixture itself
    weights = np.concatenate([one.weights for one in linears], axis=1)
    exchange_input(encoder, decoder, weights)
    mixing[0].input[1] = PROJECTED
    decoder.exchange([reshaped], reshaped_to(decoder, mixing[0].output[0], linears))
    for linear in linears:
        decoder.exchange(linear.nodes[:1], [])


def exchange_input(encoder: Graph, decoder: Graph, weights: np.ndarray) -> None:
    """The encoder gives out the memory times `weights`, and the decoder reads it."""
    memory = described(encoder.proto, MEMORY)
    if memory is None:
        raise ValueError("an encoder whose decoder reads the memory gives it out")
    axes = [axis.dim_param or axis.dim_value or None for axis in memory.type.tensor_type.shape.dim[:2]]
    shape = [*axes, weights.shape[1]]
    encoder.proto.node.append(node("MatMul", [MEMORY, encoder.constant(weights, "weights")], [PROJECTED]))
    encoder.proto.output.append(helper.make_tensor_value_info(PROJECTED, TensorProto.FLOAT, shape))
    decoder.proto.input.append(helper.make_tensor_value_info(PROJECTED, TensorProto.FLOAT, shape))


def reshaped_to(decoder: Graph, mixed: str, linears: Sequence[Linear]) -> list[NodeProto]:
    """From the mixture of the projected memory (A, K, all widths) to the values that the products had, (N, width)."""
    widths = np.array([one.weights.shape[1] for one in linears], dtype=np.int64)
    rows = decoder.name("mixed")
    shape = decoder.constant(np.array([-1, widths.sum()]), "shape")
    names = [one.nodes[0].output[0] for one in linears]
    nodes = [node("Reshape", [mixed, shape], [rows])]
    if len(names) == 1:
        return [*nodes, node("Identity", [rows], names)]
    return [*nodes, node("Split", [rows, decoder.constant(widths, "widths")], names, axis=-1)]
