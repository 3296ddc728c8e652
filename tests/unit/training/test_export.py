"""The exported graphs against the Keras network, through search as users meet it."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from nmt_cli.inference.config import SearchConfig
from nmt_cli.inference.onnx_engine import OnnxEngine
from nmt_cli.inference.search import search
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.engine import KerasEngine
from nmt_cli.training.export import export
from support.models import KINDS

SOURCE = np.array([[5, 6, 7, 8, 3], [8, 3, 0, 0, 0], [9, 12, 3, 0, 0]])


@pytest.fixture(scope="module", params=KINDS, ids=str)
def engines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[KerasEngine, OnnxEngine]:
    keras.utils.set_random_seed(5)
    config = ModelConfig(embedding=8, units=8, attention_units=6, **request.param)
    network = Seq2Seq(config, Vocabularies(source=20, target=20, joint=True))
    for variable in network.trainable_variables:  # far from even, so that hypotheses differ
        variable.assign(np.asarray(variable.value) * 3)
    directory = tmp_path_factory.mktemp("model")
    export(network, directory)
    return KerasEngine(network), OnnxEngine(directory)


@pytest.mark.parametrize("beam", [1, 4])
def test_keras_and_onnx_find_the_same_hypotheses(engines: tuple[KerasEngine, OnnxEngine], beam: int) -> None:
    config = SearchConfig(beam_size=beam, n_best=min(2, beam), max_length=12)
    by_keras, by_onnx = (search(engine, SOURCE, config) for engine in engines)
    for expected, found in zip(by_keras, by_onnx, strict=True):
        assert [one.tokens for one in found] == [one.tokens for one in expected]
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(other.token_log_probabilities, one.token_log_probabilities, atol=1e-4)
            np.testing.assert_allclose(other.attention, one.attention, atol=1e-4)


def test_a_result_does_not_depend_on_the_other_sentences_of_its_batch(
    engines: tuple[KerasEngine, OnnxEngine],
) -> None:
    config = SearchConfig(beam_size=3, max_length=12)
    together = search(engines[1], SOURCE, config)
    alone = search(engines[1], SOURCE[1:2, :2], config)
    assert [one.tokens for one in together[1]] == [one.tokens for one in alone[0]]
    assert together[1][0].score == pytest.approx(alone[0][0].score, abs=1e-5)


def test_attention_is_a_distribution_over_the_true_source_positions(engines: tuple[KerasEngine, OnnxEngine]) -> None:
    found = search(engines[1], SOURCE, SearchConfig(beam_size=2, max_length=12))[1][0]
    total = 0 if engines[0].network.config.attention == "none" else 1
    np.testing.assert_allclose(found.attention.sum(axis=1), total, atol=1e-5)
    assert not found.attention[:, 2:].any()
