"""Makes the exported graphs cheaper without changing what they compute (up to rounding; the parity tests hold that).

1. A loop carries its weights along as if they could change; as constants they are prepared once.
2. The best of a vocabulary are in the blocks with the highest maxima: only these are sorted. The logarithm of the
   normalisation is that of the best token's probability, less its score, so that no logarithm is taken of the others,
   and none of it is computed where scores are not wanted.
3. Weights that are reshaped each time are constants.
4. Of a vocabulary that both languages share, the decoder is never given what only the source has.

Tried and dropped: Bahdanau's decoder multiplies what it mixes of the memory by weights of the recurrence, and both are
linear, so the encoder could multiply the memory instead, as it does for a readout (`tracing.py`). That moves three
times as many numbers in each step: greedy search became 1.7 times slower. Keys for queries that are not projected, and
twice as wide: a step is a thirtieth faster, and the encoder slower by as much. The sum of the products with its parts,
instead of a product with a concatenation: a tenth slower in 8 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, shape_inference

from nmt_cli.runtime.onnx_engine import SCORED, TOKENS
from nmt_cli.training.export.graph import Graph, list_bodies, make_node, measure_width

RESHAPING = {"Shape", "Gather", "ReduceProd", "Concat", "Reshape"}  # and what tf2onnx makes the new shape of


def simplify_model(encoder: ModelProto, decoder: ModelProto) -> None:
    """Rewrites both graphs of a model in place."""
    for model in (encoder, decoder):
        fold_reshaped(model)
    keep_constants_out_of_loops(Graph(encoder.graph))
    shapes = shape_inference.infer_shapes(decoder)
    graph = Graph(decoder.graph)
    for top in [node for node in graph.proto.node if node.op_type == "TopK"]:
        keep_rows(graph, measure_width(shapes.graph, top.input[0]))
        search_blocks(graph, top, shapes)
    graph.prune()


def fold_reshaped(model: ModelProto) -> None:
    """Makes constants of weights that a graph reshapes each time, so that they are known for weights."""
    from onnx.reference import ReferenceEvaluator  # slow to import, and only needed once training is over

    graph = Graph(model.graph)
    for node in [node for node in graph.proto.node if node.op_type in RESHAPING]:
        values = {name: graph.read_constant(name) for name in node.input}
        if all(value is not None for value in values.values()):
            alone = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info(node.output[0])])
            alone.input.extend(map(helper.make_empty_tensor_value_info, values))
            (value,) = ReferenceEvaluator(helper.make_model(alone, opset_imports=model.opset_import)).run(None, values)
            graph.fold(node, np.asarray(value))


def keep_rows(graph: Graph, count: int) -> None:
    """Leaves in the tables of embeddings what the decoder can be given: the `count` tokens that it chooses among."""
    for lookup in [lookup for lookup in graph.proto.node if lookup.op_type == "Gather" and lookup.input[1] == TOKENS]:
        table = graph.read_constant(lookup.input[0])
        if table is not None and len(table) > count > 0:
            lookup.input[0] = graph.add_constant(table[:count], "rows")


def keep_constants_out_of_loops(graph: Graph) -> None:
    """Lets the bodies of loops read constants themselves where they are handed on unchanged from turn to turn."""
    for loop in [node for node in graph.proto.node if node.op_type == "Loop"]:
        (body,) = list_bodies(loop)
        same = {value.name: value.name for value in body.input}
        same |= {node.output[0]: node.input[0] for node in body.node if node.op_type == "Identity"}
        for carried in reversed(range(len(loop.input) - 2)):  # after the number of turns and the condition
            initial, before, after = (
                loop.input[carried + 2],
                body.input[carried + 2].name,
                body.output[carried + 1].name,
            )
            handed_on = same.get(after) == before and not graph.list_consumers(loop.output[carried])
            if graph.read_constant(initial) is not None and handed_on:
                read_instead(body, before, initial)
                for names, offset in ((loop.input, 2), (loop.output, 0), (body.input, 2), (body.output, 1)):
                    del names[carried + offset]


def read_instead(body: GraphProto, old: str, new: str) -> None:
    """Lets all nodes of a loop's body read `new` where they read `old`."""
    for node in body.node:
        for index, name in enumerate(node.input):
            if name == old and node.op_type != "Identity":
                node.input[index] = new


def search_blocks(graph: Graph, top: NodeProto, shapes: ModelProto) -> None:
    """The k best of a LogSoftmax over V scores, from those k of V / L blocks of L scores that have the highest maxima.

    Of equal ones those with lower ids come first, as before. Nothing is done where no L divides V.
    """
    softmax = graph.find_producer(top.input[0])
    if softmax is None or softmax.op_type != "LogSoftmax" or graph.list_consumers(softmax.output[0]) != [top]:
        return
    scores = softmax.input[0]
    length = block_length(measure_width(shapes.graph, scores))
    if not length:
        return
    blocks = measure_width(shapes.graph, scores) // length

    def name(like: str) -> str:
        return graph.make_name(f"best_{like}")

    def add_node(operation: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(make_node(operation, inputs, [name(operation.lower())], **attributes))
        return str(nodes[-1].output[0])

    def sort_values(*inputs: str, **attributes: Any) -> tuple[str, str]:
        nodes.append(make_node("TopK", inputs, [name("values"), name("places")], **attributes))
        return nodes[-1].output[0], nodes[-1].output[1]

    nodes: list[NodeProto] = []
    long, first = graph.add_constant(np.int64(length), "length"), graph.add_constant(np.array([0]), "first")
    second, last = graph.add_constant(np.array([1]), "second"), graph.add_constant(np.array([2]), "last")
    by_block = add_node("Reshape", scores, graph.add_constant(np.array([0, blocks, length]), "shape"))  # (N, V / L, L)
    k = top.input[1]
    kept = add_node("Min", k, graph.add_constant(np.array([blocks]), "blocks"))
    _, chosen = sort_values(add_node("ReduceMax", by_block, axes=[2], keepdims=0), kept)
    chosen, _ = sort_values(chosen, kept, largest=0)  # (N, k) blocks, in the order of their ids
    logits = add_node("GatherND", by_block, add_node("Unsqueeze", chosen, last), batch_dims=1)  # (N, k, L)
    values, places = sort_values(add_node("Reshape", logits, graph.add_constant(np.array([0, -1]), "flat")), k)
    base = add_node("Mul", add_node("GatherElements", chosen, add_node("Div", places, long), axis=1), long)
    nodes.append(make_node("Add", [base, add_node("Mod", places, long)], [top.output[1]]))
    best = add_node("Slice", top.output[1], first, second, second)  # (N, 1)
    above = add_node("Sub", values, add_node("Slice", values, first, second, second))
    graph.proto.input.append(helper.make_tensor_value_info(SCORED, TensorProto.BOOL, []))
    of_best = add_node("If", SCORED, then_branch=log_probability(graph, scores, best), else_branch=make_zero(graph))
    nodes.append(make_node("Add", [above, of_best], [top.output[0]]))
    graph.exchange([softmax, top], nodes)


def log_probability(graph: Graph, scores: str, tokens: str) -> GraphProto:
    """A branch that gives (N, 1): those of the `tokens` (N, 1), of which `scores` (N, V) are the logits."""
    softmax, chosen, log = map(graph.make_name, ("softmax", "chosen", "log_probability"))
    nodes = [
        make_node("Softmax", [scores], [softmax], axis=-1),
        make_node("GatherElements", [softmax, tokens], [chosen], axis=1),
        make_node("Log", [chosen], [log]),
    ]
    return helper.make_graph(nodes, log, [], [helper.make_tensor_value_info(log, TensorProto.FLOAT, ["N", 1])])


def make_zero(graph: Graph) -> GraphProto:
    """A branch that gives (1, 1): a zero."""
    zero = graph.make_name("zero")
    value = helper.make_tensor(zero, TensorProto.FLOAT, [1, 1], [0.0])
    output = helper.make_tensor_value_info(zero, TensorProto.FLOAT, [1, 1])
    return helper.make_graph([make_node("Constant", [], [zero], value=value)], zero, [], [output])


def block_length(vocabulary: int) -> int:
    """The divisor of the vocabulary's size that is nearest to 80, the fastest for 8,000; 0 where none is near."""
    divisors = [length for length in range(32, min(161, vocabulary)) if vocabulary % length == 0]
    return min(divisors, key=lambda length: abs(length - 80), default=0)
