"""A graph with its weights inside is the graph that the package `onnx` would make of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nmt_cli.runtime.inline_weights import inline_weights

WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)


def save_with_weights_outside(folder: Path) -> tuple[bytes, bytes]:
    """Returns a graph of a product, one of its branches with weights of its own, and the file of all weights."""
    inner = helper.make_graph(
        [helper.make_node("MatMul", ["a", "v"], ["c"])],
        "inner",
        [],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, ["N", 4])],
        initializer=[numpy_helper.from_array(2 * WEIGHTS, "v")],
    )
    nodes = [
        helper.make_node("MatMul", ["a", "w"], ["b"]),
        helper.make_node("If", ["yes"], ["d"], then_branch=inner, else_branch=inner),
        helper.make_node("Add", ["b", "d"], ["e"]),
    ]
    inputs = [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["N", 3])]
    inputs.append(helper.make_tensor_value_info("yes", TensorProto.BOOL, []))
    output = helper.make_tensor_value_info("e", TensorProto.FLOAT, ["N", 4])
    graph = helper.make_graph(nodes, "g", inputs, [output], initializer=[numpy_helper.from_array(WEIGHTS, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, folder / "g.onnx", save_as_external_data=True, location="g.data", size_threshold=0)
    return (folder / "g.onnx").read_bytes(), (folder / "g.data").read_bytes()


def test_a_graph_and_its_branches_get_their_weights(tmp_path: Path) -> None:
    graph, weights = save_with_weights_outside(tmp_path)
    assert b"g.data" in graph and WEIGHTS.tobytes() not in graph
    model = onnx.load_model_from_string(inline_weights(graph, weights))
    onnx.checker.check_model(model)
    (outer,) = model.graph.initializer
    assert np.array_equal(numpy_helper.to_array(outer), WEIGHTS)
    for attribute in model.graph.node[1].attribute:
        assert np.array_equal(numpy_helper.to_array(attribute.g.initializer[0]), 2 * WEIGHTS)


def test_a_graph_without_weights_outside_stays_as_it_is(tmp_path: Path) -> None:
    graph, weights = save_with_weights_outside(tmp_path)
    inside = inline_weights(graph, weights)
    assert inline_weights(inside, b"") == inside


@pytest.mark.parametrize("cut", [1, 40])
def test_weights_that_end_too_early_are_refused(tmp_path: Path, cut: int) -> None:
    graph, weights = save_with_weights_outside(tmp_path)
    with pytest.raises(ValueError, match="do not lie in the file"):
        inline_weights(graph, weights[:-cut])


@pytest.mark.parametrize("content", [b"\xff" * 20, b"\x3a\x7f", b"\x3b", b"\x3a"])
def test_bytes_that_are_no_message_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        inline_weights(content, b"")
