"""Edits an ONNX graph (its values, constants and products), and makes exported graphs cheaper to run.

    Gather(embeddings, ids) -> MatMul(weights)     becomes     Gather(embeddings x weights, ids)

Results stay the same up to rounding; the parity tests check this. `simplify_model` does the following for all graphs:

1. Weights that a graph reshapes at every run become constants of the new shape.
2. A loop passes its weights from step to step as if they could change. Its body reads them as constants instead, which
   are prepared once.
3. The decoder's tables of embeddings lose the rows of tokens that only the source has.
4. The best tokens of a vocabulary are in the blocks with the highest maxima: only these blocks are sorted. Only the
   best token's log-probability is computed; those of the others follow from the differences of the scores. Without
   scores, not even that is computed.

`look_up_embeddings` turns products with embeddings into lookups, since a token's product depends only on the token. If
an embedding is concatenated with other values, the token's part of the product is looked up and added. This is for
8-bit graphs (`quantise.py`): in 32 bits the tables would be several times as large as all other weights.

Does not depend on networks. Letters: V tokens, E embedding width, J outputs of a product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper, shape_inference

from nmt_cli.runtime.onnx_engine import SCORED, TOKENS

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
    """A graph, or the body of a loop in the graph `outer`; a body reads the constants of `outer` too."""

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
        """Puts a constant in place of a node that has one output."""
        self.exchange([node], [])
        self.arrays[node.output[0]] = value
        self.proto.initializer.append(numpy_helper.from_array(value, node.output[0]))

    def make_name(self, like: str) -> str:
        """Returns an unused name that begins with `like`."""
        name = next(name for name in (f"{like}__{number}" for number in count(1)) if name not in self.names)
        self.names.add(name)
        return name

    def exchange(self, old: Sequence[NodeProto], new: Sequence[NodeProto]) -> None:
        """Replaces the nodes `old` with `new`, at the position of the last of `old`.

        There, all values that `new` reads are already computed, and none of its outputs has been read yet.
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
    """Returns the value of a node's attribute; None if it is not set."""
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


LARGEST_TABLE = 2**24  # numbers; a larger table takes longer to load than most texts take to translate


@dataclass(frozen=True)
class Lookup:
    """A value whose rows are the rows `ids` of a table."""

    table: Array  # (V, E)
    ids: str


def look_up_embeddings(graph: Graph) -> None:
    """Turns products with embeddings into lookups, in place, and removes whatever becomes unused."""
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
    """Returns the values that were concatenated along the last axis of a matrix to form `value`; else `value` alone."""
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
    """Replaces reshaped weights with constants of the new shape, so that later steps recognise them."""
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
    """Lets loop bodies read a constant directly if it is passed unchanged from step to step."""
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
    """Makes all nodes in a loop's body that read `old` read `new` instead."""
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
