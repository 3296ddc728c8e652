"""A lookup yields what the product would have computed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from nmt_cli.runtime.model_directory import FLOAT, name_graphs
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.training.export import graph as embedding_tables
from nmt_cli.training.export.graph import Graph, choose_block_length, look_up_embeddings, make_node, simplify_model
from support.models import KINDS
from support.slow import sample

TABLE = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32)
BIAS = np.arange(3, dtype=np.float32)
IDS = np.array([[1, 8, 0], [5, 5, 2]], dtype=np.int32)


def make_model(nodes: list[NodeProto], rows: int, *, axes: int = 1) -> ModelProto:
    """A model with the inputs `ids`, with so many axes, and `x` (N, 2), the output `y`, and weights `w` (`rows`, 3)."""
    weights = np.random.default_rng(2).normal(size=(rows, 3)).astype(np.float32)
    constants = {"table": TABLE, "w": weights, "bias": BIAS, "flat": np.array([-1, 4])}
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [
            onnx.helper.make_tensor_value_info("ids", TensorProto.INT32, [f"n{axis}" for axis in range(axes)]),
            onnx.helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n0", 2]),
        ],
        [onnx.helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def product(value: str) -> list[NodeProto]:
    return [make_node("MatMul", [value, "w"], ["p"]), make_node("Add", ["p", "bias"], ["y"])]


def beside(*values: str, axis: int = -1) -> list[NodeProto]:
    return [make_node("Gather", ["table", "ids"], ["e"]), make_node("Concat", values, ["c"], axis=axis), *product("c")]


def compute(model: ModelProto, ids: np.ndarray) -> np.ndarray:
    x = np.random.default_rng(3).normal(size=(len(ids), 2)).astype(np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feed = {"ids": ids, "x": x}
    names = [value.name for value in session.get_inputs()]
    return np.asarray(session.run(None, {name: feed[name] for name in names})[0])


def operations(model: ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def simplify(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    look_up_embeddings(Graph(copy.graph))
    return copy


def test_a_product_of_embeddings_is_a_lookup() -> None:
    model = make_model([make_node("Gather", ["table", "ids"], ["e"]), *product("e")], 4)
    assert operations(simplify(model)) == ["Gather"]
    np.testing.assert_allclose(compute(simplify(model), IDS[0]), compute(model, IDS[0]), rtol=1e-5)


@pytest.mark.parametrize(
    ("parts", "rows", "products"), [(["e", "x"], 6, 1), (["x", "e"], 6, 1), (["x", "x", "e"], 8, 1), (["e", "e"], 8, 1)]
)
def test_beside_others_the_embedding_alone_is_looked_up(parts: list[str], rows: int, products: int) -> None:
    model = make_model(beside(*parts), rows)
    simplified = simplify(model)
    smallest = min(
        len(numpy_helper.to_array(constant))
        for constant in simplified.graph.initializer
        if constant.name.startswith("others")
    )
    assert operations(simplified).count("MatMul") == products and smallest == rows - 4
    np.testing.assert_allclose(compute(simplified, IDS[0]), compute(model, IDS[0]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("nodes", "rows"), [(beside("x", "e", "x"), 8), (beside("e", "e", axis=0), 4)])
def test_between_others_and_below_others_it_is_not(nodes: list[NodeProto], rows: int) -> None:
    model = make_model(nodes, rows)
    assert operations(simplify(model)) == operations(model)


def test_rows_are_found_behind_a_transposition_and_a_flattening() -> None:
    nodes = [
        make_node("Gather", ["table", "ids"], ["e"]),
        make_node("Transpose", ["e"], ["t"], perm=[1, 0, 2]),
        make_node("Reshape", ["t", "flat"], ["r"]),
        *product("r"),
    ]
    model = make_model(nodes, 4, axes=2)
    simplified = simplify(model)
    assert sorted(operations(simplified)) == ["Gather", "Reshape", "Transpose"]
    assert len(compute(simplified, IDS)) == IDS.size
    np.testing.assert_allclose(compute(simplified, IDS), compute(model, IDS), rtol=1e-5)


def test_the_shape_of_embeddings_needs_no_lookup() -> None:
    nodes = [
        make_node("Gather", ["table", "ids"], ["e"]),
        make_node("Shape", ["e"], ["s"]),
        make_node("Cast", ["s"], ["y"], to=1),
    ]
    model = make_model(nodes, 4, axes=2)
    simplified = simplify(model)
    assert "table" not in {constant.name for constant in simplified.graph.initializer}
    assert compute(simplified, IDS).tolist() == compute(model, IDS).tolist() == [2, 3, 4]


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model([make_node("Gather", ["table", "ids"], ["e"]), *product("e")], 4)
    monkeypatch.setattr(embedding_tables, "LARGEST_TABLE", 9 * 3 - 1)
    assert operations(simplify(model)) == operations(model)
    monkeypatch.setattr(embedding_tables, "LARGEST_TABLE", 9 * 3)
    assert operations(simplify(model)) != operations(model)


@pytest.mark.parametrize("kind", sample([KINDS[number] for number in (0, 3, 4, 8)], 1, 2), ids=str)
def test_no_recurrent_network_multiplies_embeddings(
    export_kind: Callable[..., Path], kind: dict[str, object], tmp_path: Path
) -> None:
    directory = export_kind(**kind)
    for name, ids in zip(name_graphs(FLOAT), ("source_ids", "tokens"), strict=True):
        model = onnx.load(directory / name)
        look_up_embeddings(Graph(model.graph))
        lookups = [node for node in model.graph.node if node.op_type == "Gather" and node.input[1] == ids]
        rows = {node.output[0] for node in lookups}
        assert not [node for node in model.graph.node if node.op_type == "MatMul" and rows.intersection(node.input)]
        onnx.save(model, tmp_path / name)
    source, engines = np.array([[15, 26, 37, 3], [58, 3, 0, 0]]), [OnnxEngine(directory), OnnxEngine(tmp_path)]
    steps = [engine.step(np.array([2, 7]), engine.encode(source), 5) for engine in engines]
    np.testing.assert_allclose(steps[0].log_probabilities, steps[1].log_probabilities, atol=1e-5)
    np.testing.assert_array_equal(steps[0].tokens, steps[1].tokens)


# Simplified graphs compute what they did before.


def make_decoder(vocabulary: int) -> ModelProto:
    """The end of a decoder: the log-probabilities and tokens of the k best of `scores` (N, V)."""
    nodes = [
        helper.make_node("LogSoftmax", ["scores"], ["p"], axis=-1),
        helper.make_node("TopK", ["p", "k"], ["values", "tokens"]),
    ]
    inputs = [
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", vocabulary]),
        helper.make_tensor_value_info("k", TensorProto.INT64, [1]),
    ]
    outputs = [
        helper.make_tensor_value_info("values", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("tokens", TensorProto.INT64, None),
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("k", [1, 6, 20, 400])
def test_the_best_of_blocks_are_the_best_of_all(k: int) -> None:
    decoder = make_decoder(400)
    simplify_model(helper.make_model(helper.make_graph([], "e", [], [])), decoder)
    assert "LogSoftmax" not in {node.op_type for node in decoder.graph.node}
    session = onnxruntime.InferenceSession(decoder.SerializeToString())
    scores = np.random.default_rng(1).normal(size=(7, 400)).astype(np.float32) * 5
    scores[0] = np.repeat(np.arange(100), 4)  # many are equal
    scores[1] = 0  # all are
    scores[2, 1:] = -1e9  # all but one are forbidden
    feed = {"scores": scores, "k": np.array([k])}
    values, tokens = session.run(None, {**feed, "scored": np.array(True)})
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    assert np.array_equal(tokens, expected)
    exact = scores.astype(np.float64)
    exact -= np.log(np.exp(exact - exact.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)) + exact.max(
        axis=1, keepdims=True
    )
    exact = np.take_along_axis(exact, expected, axis=1)
    np.testing.assert_allclose(values, exact, rtol=1e-6, atol=2e-6)
    values, tokens = session.run(None, {**feed, "scored": np.array(False)})
    assert np.array_equal(tokens, expected)
    np.testing.assert_allclose(values, exact - exact[:, :1], rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize(
    ("vocabulary", "length"), [(8000, 80), (4000, 80), (32_000, 80), (330, 66), (10_007, 0), (9, 0)]
)
def test_blocks_divide_the_vocabulary(vocabulary: int, length: int) -> None:
    assert choose_block_length(vocabulary) == length


def test_a_vocabulary_that_nothing_divides_is_left_as_it_is() -> None:
    decoder = make_decoder(101)
    simplify_model(helper.make_model(helper.make_graph([], "e", [], [])), decoder)
    assert [node.op_type for node in decoder.graph.node] == ["LogSoftmax", "TopK"]
