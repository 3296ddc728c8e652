"""The weights of every head: the mean of the last layer's is what the exported graphs return."""

import numpy as np
import pytest
from keras import ops

from nmt_cli.arrays.types import END, START
from nmt_cli.model.config import Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.keras_engine import measure_heads
from support.models import tiny_config


@pytest.mark.network
def test_the_mean_of_the_last_layer_is_the_attention_of_search() -> None:
    network = Seq2Seq(tiny_config("transformer"), Vocabularies(source=20, target=20, joint=True))
    source, target = np.array([[5, 6, 7, END]], dtype=np.int32), [8, 9, END]
    heads = measure_heads(network, source, target)
    assert heads.shape == (2, 2, 3, 4)
    np.testing.assert_allclose(heads.sum(axis=-1), 1, atol=1e-5)
    state = network.encode(ops.convert_to_tensor(source))
    for position, token in enumerate([START, *target[:-1]]):
        step = network.step(ops.convert_to_tensor([token]), state)
        state = {**state, **step.changed}
        np.testing.assert_allclose(np.asarray(step.attention)[0], heads[-1, :, position].mean(axis=0), atol=1e-5)
