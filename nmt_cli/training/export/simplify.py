"""Makes the exported graphs cheaper without changing what they compute, up to rounding; the parity tests hold that.

1. Weights that a graph reshapes at every run become constants of the new shape.
2. A loop passes its weights from turn to turn as if they could change. Its body reads them as constants instead, which
   are prepared once.
3. The decoder's tables of embeddings lose the rows of tokens that only the source has.
4. The best tokens of a vocabulary are in the blocks with the highest maxima: only these blocks are sorted. Only the
   best token's log-probability is computed; those of the others follow from the differences of the scores. Without
   scores not even that one is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, shape_inference

from nmt_cli.runtime.onnx_engine import SCORED, TOKENS
from nmt_cli.training.export.graph import Graph, list_bodies, make_node, measure_width

LANES = 16  # numbers in the widest vector of a processor
RESHAPING = {"Shape", "Gather", "ReduceProd", "Concat", "Reshape"}  # with which tf2onnx computes the new shape


def simplify_model(encoder: ModelProto, decoder: ModelProto) -> None:
    """Simplifies both graphs of a model in place."""
    for model in (encoder, decoder):
        fold_reshaped_weights(model)
    move_constants_out_of_loops(Graph(encoder.graph))
    shapes = shape_inference.infer_shapes(decoder)
    graph = Graph(decoder.graph)
    for top in [node for node in graph.proto.node if node.op_type == "TopK"]:
        shorten_target_tables(graph, measure_width(shapes.graph, top.input[0]))
        search_blocks(graph, top, shapes)
    graph.prune()


def fold_reshaped_weights(model: ModelProto) -> None:
    """Replaces reshaped weights by constants of the new shape, so that later steps recognise them."""
    from onnx.reference import ReferenceEvaluator  # slow to import, and not needed before the end of training

    graph = Graph(model.graph)
    for node in [node for node in graph.proto.node if node.op_type in RESHAPING]:
        values = {name: graph.read_constant(name) for name in node.input}
        if all(value is not None for value in values.values()):
            alone = helper.make_graph([node], "g", [], [helper.make_empty_tensor_value_info(node.output[0])])
            alone.input.extend(map(helper.make_empty_tensor_value_info, values))
            (value,) = ReferenceEvaluator(helper.make_model(alone, opset_imports=model.opset_import)).run(None, values)
            graph.fold(node, np.asarray(value))


def shorten_target_tables(graph: Graph, count: int) -> None:
    """Shortens the decoder's embedding tables to the `count` tokens that it chooses from."""
    for lookup in [lookup for lookup in graph.proto.node if lookup.op_type == "Gather" and lookup.input[1] == TOKENS]:
        table = graph.read_constant(lookup.input[0])
        if table is not None and len(table) > count > 0:
            lookup.input[0] = graph.add_constant(table[:count], "rows")


def move_constants_out_of_loops(graph: Graph) -> None:
    """Lets loop bodies read a constant directly if it is passed unchanged from turn to turn."""
    for loop in [node for node in graph.proto.node if node.op_type == "Loop"]:
        (body,) = list_bodies(loop)
        same = {value.name: value.name for value in body.input}
        same |= {node.output[0]: node.input[0] for node in body.node if node.op_type == "Identity"}
        for index in reversed(range(len(loop.input) - 2)):  # after the number of turns and the condition
            initial, before, after = loop.input[index + 2], body.input[index + 2].name, body.output[index + 1].name
            is_unchanged = same.get(after) == before and not graph.list_consumers(loop.output[index])
            if graph.read_constant(initial) is not None and is_unchanged:
                redirect_reads(body, before, initial)
                for names, offset in ((loop.input, 2), (loop.output, 0), (body.input, 2), (body.output, 1)):
                    del names[index + offset]


def redirect_reads(body: GraphProto, old: str, new: str) -> None:
    """Lets all nodes of a loop's body that read `old` read `new`."""
    for node in body.node:
        for index, name in enumerate(node.input):
            if name == old and node.op_type != "Identity":
                node.input[index] = new


def search_blocks(graph: Graph, top: NodeProto, shapes: ModelProto) -> None:
    """Makes `top`, which finds the k best of V log-probabilities, search only the best blocks of L scores.

    Among equal scores, lower ids come first, as before. If no suitable L divides V, nothing changes.
    """
    softmax = graph.find_producer(top.input[0])
    if softmax is None or softmax.op_type != "LogSoftmax" or graph.list_consumers(softmax.output[0]) != [top]:
        return
    vocabulary = measure_width(shapes.graph, softmax.input[0])
    length = choose_block_length(vocabulary)
    if length:
        nodes = build_block_search(graph, softmax.input[0], top, blocks=vocabulary // length, length=length)
        graph.proto.input.append(helper.make_tensor_value_info(SCORED, TensorProto.BOOL, []))
        graph.exchange([softmax, top], nodes)


def build_block_search(graph: Graph, scores: str, top: NodeProto, *, blocks: int, length: int) -> list[NodeProto]:
    """Returns nodes that compute the outputs of `top` from `scores` (N, V), V = `blocks` * `length`."""
    nodes: list[NodeProto] = []

    def name(like: str) -> str:
        return graph.make_name(f"best_{like}")

    def add_node(operation: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(make_node(operation, inputs, [name(operation.lower())], **attributes))
        return str(nodes[-1].output[0])

    def sort_values(*inputs: str, **attributes: Any) -> tuple[str, str]:
        nodes.append(make_node("TopK", inputs, [name("values"), name("places")], **attributes))
        return nodes[-1].output[0], nodes[-1].output[1]

    k = top.input[1]
    long, first = graph.add_constant(np.int64(length), "length"), graph.add_constant(np.array([0]), "first")
    second, last = graph.add_constant(np.array([1]), "second"), graph.add_constant(np.array([2]), "last")
    # 1. Find the k blocks with the highest maxima, and put them in the order of their ids.
    by_block = add_node("Reshape", scores, graph.add_constant(np.array([0, blocks, length]), "shape"))  # (N, V / L, L)
    count = add_node("Min", k, graph.add_constant(np.array([blocks]), "blocks"))
    _, chosen = sort_values(add_node("ReduceMax", by_block, axes=[2], keepdims=0), count)
    chosen, _ = sort_values(chosen, count, largest=0)  # (N, k)
    # 2. Find the k best scores in them, and from their positions the tokens.
    logits = add_node("GatherND", by_block, add_node("Unsqueeze", chosen, last), batch_dims=1)  # (N, k, L)
    values, positions = sort_values(add_node("Reshape", logits, graph.add_constant(np.array([0, -1]), "flat")), k)
    base = add_node("Mul", add_node("GatherElements", chosen, add_node("Div", positions, long), axis=1), long)
    nodes.append(make_node("Add", [base, add_node("Mod", positions, long)], [top.output[1]]))
    # 3. Add the differences of the scores to the log-probability of the best token, or to 0 without scores.
    best = add_node("Slice", top.output[1], first, second, second)  # (N, 1)
    above = add_node("Sub", values, add_node("Slice", values, first, second, second))
    branches = {"then_branch": make_log_probability(graph, scores, best), "else_branch": make_zero(graph)}
    nodes.append(make_node("Add", [above, add_node("If", SCORED, **branches)], [top.output[0]]))
    return nodes


def make_log_probability(graph: Graph, scores: str, tokens: str) -> GraphProto:
    """Returns a branch that computes the log-probabilities (N, 1) of `tokens` (N, 1) from the logits (N, V).

    ONNX Runtime takes the logarithms of the last few of N values one by one, and rounds them differently from those
    that fill a vector register. Here each value fills a register of its own, so that N does not matter.
    """
    softmax, chosen, repeated, logs, log = map(
        graph.make_name, ("softmax", "chosen", "repeated", "logs", "log_probability")
    )
    width, first = graph.add_constant(np.array([1, LANES]), "lanes"), graph.add_constant(np.array([0]), "first")
    second = graph.add_constant(np.array([1]), "second")
    nodes = [
        make_node("Softmax", [scores], [softmax], axis=-1),
        make_node("GatherElements", [softmax, tokens], [chosen], axis=1),
        make_node("Expand", [chosen, width], [repeated]),
        make_node("Log", [repeated], [logs]),
        make_node("Slice", [logs, first, second, second], [log]),
    ]
    return helper.make_graph(nodes, log, [], [helper.make_tensor_value_info(log, TensorProto.FLOAT, ["N", 1])])


def make_zero(graph: Graph) -> GraphProto:
    """Returns a branch that yields a zero (1, 1)."""
    zero = graph.make_name("zero")
    value = helper.make_tensor(zero, TensorProto.FLOAT, [1, 1], [0.0])
    output = helper.make_tensor_value_info(zero, TensorProto.FLOAT, [1, 1])
    return helper.make_graph([make_node("Constant", [], [zero], value=value)], zero, [], [output])


def choose_block_length(vocabulary: int) -> int:
    """Returns the divisor of the vocabulary's size nearest to 80, the fastest length for 8,000; 0 if none is near."""
    divisors = [length for length in range(32, min(161, vocabulary)) if vocabulary % length == 0]
    return min(divisors, key=lambda length: abs(length - 80), default=0)
