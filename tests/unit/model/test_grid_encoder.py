"""Pictures in the network: regions, their mask, and the same numbers with more padding."""

from __future__ import annotations

import numpy as np
import pytest
from keras import ops

from nmt_cli.model.config import ModelConfig
from nmt_cli.model.encoders import EncoderOutput
from nmt_cli.model.grid_encoder import GridEncoder
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.model.vocabularies import Vocabularies
from nmt_cli.sources.images import pad_grids

TINY = {"embedding": 6, "units": 4, "attention_units": 4}


def test_memory_is_a_dense_relu_and_the_first_state_a_mean_of_true_regions() -> None:
    encoder = GridEncoder(ModelConfig.from_options(embedding=2, units=2, cell="lstm", layers=2))
    encoder.build((None, None, 2))
    encoder.dense.set_weights([np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([0.0, 0.5])])
    features = np.array([[[1.0, 2.0], [3.0, 0.0], [9.0, 9.0]]], np.float32)
    encoded = encoder(features, mask=np.array([[True, True, False]]))
    assert isinstance(encoded, EncoderOutput)
    assert ops.convert_to_numpy(encoded.memory)[0, :2].tolist() == [[1.0, 1.5], [3.0, 0.0]]
    assert [len(states) for states in encoded.final_states] == [2, 2]
    for states in encoded.final_states:
        for state in states:
            assert ops.convert_to_numpy(state).tolist() == [[2.0, 0.75]]


@pytest.mark.parametrize("attention", ["none", "additive", "scaled-dot"])
def test_regions_that_are_not_there_change_nothing(attention: str) -> None:
    config = ModelConfig.from_options(**TINY, attention=attention)
    network = Seq2Seq(config, Vocabularies(source=0, target=9, joint=False, features=3))
    grid = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
    tokens = np.array([2])
    alone = network.step(tokens, network.encode(pad_grids([grid])))
    wider = pad_grids([grid, np.ones((5, 3), np.float32)])[:1]
    among = network.step(tokens, network.encode(wider))
    np.testing.assert_allclose(alone.log_probabilities, among.log_probabilities, atol=1e-5)
    assert not np.asarray(among.attention)[0, 2:].any()
