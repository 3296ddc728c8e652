"""The exported graphs against the Keras network, through search as users meet it."""

import gc
from pathlib import Path

import keras
import numpy as np
import pytest

from nmt_cli.model.config import Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.onnx_engine import OnnxEngine
from nmt_cli.search.beam import BeamSearch
from nmt_cli.search.config import SearchOptions
from nmt_cli.sources.images import pad_grids
from nmt_cli.training.export.keras_engine import KerasEngine
from nmt_cli.training.export.trace import collect_garbage_often, export
from support.models import KINDS, tiny_config
from support.slow import sample

SOURCE = np.array([[5, 6, 7, 8, 3], [8, 3, 0, 0, 0], [9, 12, 3, 0, 0]])


@pytest.fixture(scope="module", params=sample(KINDS, 3, 10, 17), ids=str)
def engines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[KerasEngine, OnnxEngine]:
    keras.utils.set_random_seed(5)
    network = Seq2Seq(tiny_config(**request.param), Vocabularies(source=24, target=20, joint=True))
    for variable in network.trainable_variables:  # far from even, so that hypotheses differ
        variable.assign(np.asarray(variable.value) * 3)
    directory = tmp_path_factory.mktemp("model")
    export(network, directory)
    return KerasEngine(network), OnnxEngine(directory)


@pytest.mark.parametrize("beam", [1, 4])
def test_keras_and_onnx_find_the_same_hypotheses(engines: tuple[KerasEngine, OnnxEngine], beam: int) -> None:
    config = SearchOptions(beam_size=beam, n_best=min(2, beam), max_length=12)
    by_keras, by_onnx = (BeamSearch(engine, SOURCE, config).run() for engine in engines)
    for expected, actual in zip(by_keras, by_onnx, strict=True):
        assert [result.tokens for result in actual] == [result.tokens for result in expected]
        for result, other in zip(expected, actual, strict=True):
            np.testing.assert_allclose(other.token_log_probabilities, result.token_log_probabilities, atol=1e-4)
            np.testing.assert_allclose(other.attention, result.attention, atol=1e-4)


def test_a_result_does_not_depend_on_the_other_sentences_of_its_batch(engines: tuple[KerasEngine, OnnxEngine]) -> None:
    config = SearchOptions(beam_size=3, max_length=12)
    together = BeamSearch(engines[1], SOURCE, config).run()
    alone = BeamSearch(engines[1], SOURCE[1:2, :2], config).run()
    assert [result.tokens for result in together[1]] == [result.tokens for result in alone[0]]
    assert together[1][0].score == pytest.approx(alone[0][0].score, abs=1e-5)


def test_attention_is_a_distribution_over_the_true_source_positions(engines: tuple[KerasEngine, OnnxEngine]) -> None:
    result = BeamSearch(engines[1], SOURCE, SearchOptions(beam_size=2, max_length=12)).run()[1][0]
    total = 0 if getattr(engines[0].network.config, "attention", None) == "none" else 1
    np.testing.assert_allclose(result.attention.sum(axis=1), total, atol=1e-5)
    assert not result.attention[:, 2:].any()


@pytest.mark.parametrize(("readout", "mixed"), [(8, "reading"), pytest.param(10, "memory", marks=pytest.mark.slow)])
def test_the_decoder_mixes_the_readout_of_the_memory_unless_that_is_wider(
    readout: int, mixed: str, tmp_path: Path
) -> None:
    config = tiny_config(attention="dot", encoder_units=8, units=8, readout_units=readout, tied=False)
    export(Seq2Seq(config, Vocabularies(source=24, target=20, joint=True)), tmp_path)
    engine = OnnxEngine(tmp_path)
    # `dot` compares with the memory as it is.
    assert {"memory", mixed} == {name for name in engine.state_names if name in ("memory", "reading")}
    assert engine.embed_sentences(SOURCE).shape == (3, 8)


@pytest.mark.parametrize("kind", sample([{}, {"cell": "lstm", "layers": 2, "attention": "general"}], 0), ids=str)
def test_pictures_have_the_same_captions_in_both(kind: dict[str, object], tmp_path: Path) -> None:
    keras.utils.set_random_seed(5)
    network = Seq2Seq(tiny_config(**kind), Vocabularies(source=0, target=20, joint=False, features=3))
    for variable in network.trainable_variables:
        variable.assign(np.asarray(variable.value) * 3)
    export(network, tmp_path)
    generator = np.random.default_rng(1)
    pictures = pad_grids([generator.normal(size=(regions, 3)) for regions in (4, 1, 9)])
    config = SearchOptions(beam_size=3, max_length=12, length_factor=None)
    by_keras, by_onnx = (
        BeamSearch(engine, pictures, config).run() for engine in (KerasEngine(network), OnnxEngine(tmp_path))
    )
    for (expected, *_), (actual, *_) in zip(by_keras, by_onnx, strict=True):
        assert actual.tokens == expected.tokens
        np.testing.assert_allclose(actual.token_log_probabilities, expected.token_log_probabilities, atol=1e-4)
        np.testing.assert_allclose(actual.attention, expected.attention, atol=1e-4)
    assert not by_onnx[1][0].attention[:, 1:].any()


def test_the_export_leaves_the_garbage_collector_as_it_was() -> None:
    gc.unfreeze()  # as in a process that runs no tests
    before = gc.get_threshold(), gc.get_freeze_count()
    with collect_garbage_often():
        assert gc.get_threshold() != before[0]
        assert gc.get_freeze_count() > before[1]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before
