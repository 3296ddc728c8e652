"""Weights in 8 bits: near the trained ones, the same whatever else is in the batch, and smaller."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from nmt_cli.arrays.rows import pad_rows
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.runtime.model_directory import name_graphs
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.search.beam import BeamSearch
from nmt_cli.search.config import SearchOptions
from nmt_cli.training.export.graph import Graph, list_bodies
from nmt_cli.training.export.quantise import NARROWEST, measure_largest_sums, quantise_products, quantise_weights
from support.models import KINDS, export_untrained
from support.properties import examples
from support.slow import sample

VOCABULARY = 330  # of `prepare_toy`


@pytest.fixture(scope="module", params=sample(KINDS, 4), ids=str)
def exported(export_kind: Callable[..., Path], request: pytest.FixtureRequest) -> Path:
    return export_kind(**request.param)


def test_both_precisions_give_nearly_the_same_distribution(exported: Path) -> None:
    source = np.array([[15, 26, 37, 48, 3], [58, 63, 3, 0, 0]])
    steps = []
    for precision in ("float", "int8"):
        engine = OnnxEngine(exported, precision=precision)
        step = engine.step(np.array([2, 2]), engine.encode(source), VOCABULARY)
        order = np.argsort(step.tokens, axis=1)
        steps.append(np.take_along_axis(step.log_probabilities, order, axis=1))
    products = len(Graph(onnx.load(exported / "decoder.onnx").graph).list_linears(narrowest=NARROWEST))
    far = 0.05 if products < 10 else 0.15  # one behind the other, in a Transformer; widths of 8 even little out
    np.testing.assert_allclose(steps[1], steps[0], atol=far)
    assert not np.array_equal(steps[0], steps[1])


@pytest.mark.parametrize("precision", ["float", "int8"])
def test_without_scores_the_best_has_zero_and_all_else_is_the_same(exported: Path, precision: str) -> None:
    engine, source = OnnxEngine(exported, precision=precision), np.array([[15, 26, 37, 48, 3], [58, 63, 3, 0, 0]])
    scored, spared = (
        engine.step(np.array([2, 2]), engine.encode(source), 5, scored=is_scored) for is_scored in (True, False)
    )
    assert np.array_equal(spared.tokens, scored.tokens)
    assert np.array_equal(spared.attention, scored.attention)
    above = scored.log_probabilities - scored.log_probabilities[:, :1]
    np.testing.assert_allclose(spared.log_probabilities, above, atol=1e-5)
    assert not spared.log_probabilities[:, 0].any() and (scored.log_probabilities < 0).all()


sentences = st.lists(st.integers(4, 300), min_size=1, max_size=6).map(lambda ids: [*ids, 3])


@examples(15)
@given(batch=st.lists(sentences, min_size=2, max_size=5), beam=st.sampled_from([1, 3]))
@pytest.mark.parametrize("precision", ["float", "int8"])
def test_a_sentence_has_the_same_result_in_every_batch_to_the_last_bit(
    exported: Path, precision: str, batch: Sequence[Sequence[int]], beam: int
) -> None:
    engine, config = OnnxEngine(exported, precision=precision), SearchOptions(beam_size=beam, max_length=6)
    together = BeamSearch(engine, pad_rows(batch), config).run()
    for index, results in enumerate(together):
        alone = BeamSearch(engine, pad_rows([batch[index]]), config).run()[0]
        assert alone[0].tokens == results[0].tokens
        assert alone[0].token_log_probabilities == results[0].token_log_probabilities


@pytest.mark.parametrize("precision", ["float", "int8"])
@pytest.mark.parametrize("length", [1, 2, 3, 6, 8])
def test_the_distribution_is_the_same_at_every_width_to_the_last_bit(
    exported: Path, precision: str, length: int
) -> None:
    generator = np.random.default_rng(length)
    engine, sentence = OnnxEngine(exported, precision=precision), [*generator.integers(4, 300, length), 3]
    alone = engine.step(np.array([2]), engine.encode(pad_rows([sentence])), VOCABULARY)
    for width in (length + 1, length + 2, length + 3, length + 4, 17, 40):
        neighbours = [[*generator.integers(4, 300, max(width, length + 1) - 1), 3] for _ in range(width % 7)]
        source = np.zeros((len(neighbours) + 1, max(width, length + 1)), dtype=np.int32)
        source[:-1], source[-1, : len(sentence)] = np.reshape(neighbours, source[:-1].shape), sentence
        step = engine.step(np.full(len(source), 2), engine.encode(source), VOCABULARY)
        assert np.array_equal(step.tokens[-1], alone.tokens[0])
        assert np.array_equal(step.log_probabilities[-1], alone.log_probabilities[0])
        assert np.array_equal(step.attention[-1, : len(sentence)], alone.attention[0])
        for name, entry in step.state.rows.items():
            assert np.array_equal(entry[-1], alone.state.rows[name][0]), name


def test_a_network_that_is_too_narrow_for_bytes_is_published_all_the_same(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    exported = export_untrained(corpus, tmp_path / "model", units=2, attention_units=2)
    source = np.array([[15, 26, 37, 48, 3], [58, 63, 3, 0, 0]])
    engine = OnnxEngine(exported, precision="int8")
    step = engine.step(np.array([2, 2]), engine.encode(source), VOCABULARY)
    assert np.isfinite(step.log_probabilities).all()


def test_every_matrix_is_of_bytes(exported: Path) -> None:
    for name in name_graphs("int8"):
        arrays = map(numpy_helper.to_array, onnx.load(exported / name).graph.initializer)
        matrices = [array for array in arrays if array.ndim == 2 and min(array.shape) >= NARROWEST]
        assert matrices and {array.dtype.name for array in matrices} == {"int8"}


def test_bytes_reach_127_and_come_back_within_half_a_step() -> None:
    weights = np.array([[0.5, -2.0], [-1.0, 1.0], [0.25, 0.0]], dtype=np.float32)
    quantised, scales = quantise_weights(weights, np.array([[1.0, 2.0]], dtype=np.float32))
    assert quantised.tolist() == [[64, -127], [-127, 64], [32, 0]]  # 0.5 / 1 * 127 = 63.5, to the even 64
    assert np.all(np.abs(quantised * scales - weights) <= scales / 2 + 1e-7)


@pytest.mark.parametrize("rows", [6, 7])
def test_no_sum_of_two_products_is_beyond_sixteen_bits(rows: int) -> None:
    weights = np.random.default_rng(4).normal(size=(rows, 500)).astype(np.float32)
    quantised, _ = quantise_weights(weights, measure_largest_sums(weights))
    even = np.pad(quantised.astype(np.int64), [(0, rows % 2), (0, 0)]).reshape(-1, 2, 500)
    assert np.abs(quantised.astype(np.int64)).max() > 120
    for bytes_of_value in ((255, 255), (255, 0), (0, 255)):  # the worst that unsigned bytes can be
        sums = (np.array(bytes_of_value)[:, None] * even).sum(axis=1)
        assert -(2**15) <= sums.min() and sums.max() < 2**15


def product_graph(weights: np.ndarray, bias: np.ndarray) -> Graph:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", len(weights)])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", len(bias)])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    arrays = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")]
    return Graph(helper.make_graph(nodes, "g", [value], [output], arrays))


def run(graph: Graph, tmp_path: Path, **values: np.ndarray) -> np.ndarray:
    from nmt_cli.runtime.onnx_engine import KeptGraph

    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph.proto, opset_imports=imports, ir_version=8), tmp_path / "graph.onnx")
    return np.asarray(KeptGraph(tmp_path / "graph.onnx").open_session().run(None, values)[0])


def test_a_product_of_bytes_is_near_the_true_one(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    weights, bias = random.normal(size=(32, 16)).astype(np.float32), random.normal(size=16).astype(np.float32)
    value = random.uniform(-1, 1, (5, 32)).astype(np.float32)
    graph = product_graph(weights, bias)
    quantise_products(graph, {"x": 1.0})
    error = np.abs(run(graph, tmp_path, x=value) - (value @ weights + bias)).max(axis=1)
    # Half a step in each of 32 factors, of either side, at most: 1/127 of a value, up to 2/127 of a weight.
    assert np.all(error <= 1.5 * 32 * np.abs(weights).max() * np.abs(value).max(axis=1) / 127 + 1e-5)


def test_bytes_are_put_side_by_side_instead_of_numbers(tmp_path: Path) -> None:
    weights = np.ones((8, 4), dtype=np.float32)
    graph = product_graph(weights, np.zeros(4, dtype=np.float32))
    del graph.proto.input[:]
    graph.proto.input.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "uv")
    graph.proto.node.insert(0, helper.make_node("Concat", ["u", "v"], ["x"], axis=-1))
    quantise_products(graph, {"x": 127.0})
    graph.prune()
    operations = [node.op_type for node in graph.proto.node]
    assert operations == ["QuantizeLinear", "QuantizeLinear", "Concat", "MatMulIntegerToFloat"]
    result = run(graph, tmp_path, u=np.full((1, 4), 3, dtype=np.float32), v=np.full((1, 4), -100, dtype=np.float32))
    np.testing.assert_allclose(result, np.full((1, 4), 4 * 3 - 4 * 100), rtol=0.01)  # the weight 1 is 63.5 steps


def test_two_products_with_one_value_share_its_bytes(tmp_path: Path) -> None:
    graph = product_graph(np.ones((8, 4), dtype=np.float32), np.zeros(4, dtype=np.float32))
    del graph.proto.input[:]
    graph.proto.input.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "uv")
    graph.proto.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 4]))
    graph.proto.node.insert(0, helper.make_node("Concat", ["u", "v"], ["x"], axis=1))
    graph.proto.node.append(
        helper.make_node("MatMul", ["x", graph.add_constant(2 * graph.arrays["w"], "double")], ["z"])
    )
    quantise_products(graph, {"x": 1.0})
    graph.prune()
    operations = [node.op_type for node in graph.proto.node]
    assert sorted(operations) == ["Concat", *["MatMulIntegerToFloat"] * 2, *["QuantizeLinear"] * 2]
    ones = np.ones((1, 4), dtype=np.float32)
    np.testing.assert_allclose(run(graph, tmp_path, u=ones, v=-ones / 2), 2 * ones, rtol=0.02)


def test_every_product_with_weights_is_one_of_bytes(exported: Path) -> None:
    for name in name_graphs("int8"):
        graph = Graph(onnx.load(exported / name).graph)
        bodies = [Graph(body, outer=graph) for node in graph.proto.node for body in list_bodies(node)]
        assert not [linear.value for part in (graph, *bodies) for linear in part.list_linears(narrowest=NARROWEST)]


def test_what_the_graph_clips_has_the_scale_of_its_limit(tmp_path: Path) -> None:
    weights, bias = np.array([[1.0], [-2.0], [0.5], [1.0]]).astype(np.float32), np.array([0.25], dtype=np.float32)
    weights = np.tile(weights, (1, 4))  # wide enough to be quantised
    graph = product_graph(weights, np.tile(bias, 4))
    high, low = graph.add_constant(np.float32(1), "high"), graph.add_constant(np.float32(-1), "low")
    clip = [helper.make_node("Min", ["x", high], ["below"]), helper.make_node("Max", ["below", low], ["within"])]
    product, add = list(graph.proto.node)
    product.input[0] = "within"
    del graph.proto.node[:]
    graph.proto.node.extend([*clip, product, add])
    quantise_products(graph, {})
    graph.prune()
    assert [node.op_type for node in graph.proto.node] == ["QuantizeLinear", "MatMulIntegerToFloat"]
    result = run(graph, tmp_path, x=np.array([[1, 0, 0, 0], [5, -1, 0, 0]], dtype=np.float32))
    # 5 becomes 1; the weight 1 is 63.5 of the 127 steps of 2, to the even 64.
    np.testing.assert_allclose(result[:, 0], [64 * 2 / 127 + 0.25, 64 * 2 / 127 + 2 + 0.25], rtol=1e-5)
