"""Simplified graphs compute what they did before."""

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

from nmt_cli.training.export.graph import choose_block_length, simplify_model


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
