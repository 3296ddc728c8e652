"""The vectors of an engine are those from which its network predicts, and nothing else about it changes."""

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import pytest

from nmt_cli.arrays.types import END
from nmt_cli.errors import DamagedError
from nmt_cli.model.config import Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.runtime.model_directory import read_card
from nmt_cli.runtime.onnx_engine import OnnxEngine, VectorEngine, find_vectors
from nmt_cli.search.beam import BeamSearch
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.mixing import GuidedModel, store_targets
from support.models import KINDS, USUAL_KINDS, tiny_config
from support.slow import sample

SOURCE, TOKENS = np.array([[15, 26, 37, 48, 3], [58, 63, 3, 0, 0]]), np.array([2, 2])
FORBIDDEN = 3  # ids below this one: padding, unknown, start


@pytest.mark.parametrize("options", sample(KINDS, *USUAL_KINDS), ids=str)
def test_the_output_layer_makes_the_probabilities_of_the_vectors(
    export_kind: Callable[..., Path], options: dict[str, object]
) -> None:
    directory = export_kind(**options)
    keras.utils.set_random_seed(4)  # as `export_untrained` does
    network = Seq2Seq(tiny_config(**options), Vocabularies(**read_card(directory).vocabularies))
    plain = OnnxEngine(directory)
    engine, size = VectorEngine(plain), network.output_layer.vocabulary
    step, vectors = engine.step_with_vectors(TOKENS, engine.encode(SOURCE), size)
    expected = plain.step(TOKENS, plain.encode(SOURCE), size)
    assert np.array_equal(step.tokens, expected.tokens)
    assert np.array_equal(step.log_probabilities, expected.log_probabilities)
    np.testing.assert_allclose((vectors**2).sum(axis=1), 1, atol=1e-5)
    scores = keras.ops.convert_to_numpy(network.output_layer(vectors))  # but for a factor, the length of each vector
    for row in range(2):
        free = step.tokens[row] >= FORBIDDEN
        ours = scores[row, step.tokens[row][free]]
        assert np.corrcoef(ours, step.log_probabilities[row, free])[0, 1] > 0.9999
    assert engine.step(TOKENS, engine.encode(SOURCE), 3).tokens.shape == (2, 3)


@pytest.mark.parametrize("options", sample(KINDS, *USUAL_KINDS), ids=str)
def test_weights_in_8_bits_have_nearly_the_same_vectors(
    export_kind: Callable[..., Path], options: dict[str, object]
) -> None:
    engines = [VectorEngine(OnnxEngine(export_kind(**options), precision=name)) for name in ("float", "int8")]
    vectors = [engine.step_with_vectors(TOKENS, engine.encode(SOURCE), 1)[1] for engine in engines]
    assert ((vectors[0] * vectors[1]).sum(axis=1) > 0.95).all()  # widths of 8 even little out


@pytest.mark.parametrize("precision", ["float", "int8"])
@pytest.mark.parametrize("options", sample(KINDS, *USUAL_KINDS), ids=str)
def test_every_network_writes_what_was_stored_for_the_same_source(
    export_kind: Callable[..., Path], options: dict[str, object], precision: str
) -> None:
    engine, targets = VectorEngine(OnnxEngine(export_kind(**options), precision=precision)), [[40, 50, END], [60, END]]
    parts = store_targets(engine, SOURCE, targets, [[False] * len(target) for target in targets])
    guided = GuidedModel(engine, [[part] for part in parts], 330)  # tokens of `prepare_toy`
    results = BeamSearch(guided, SOURCE, SearchOptions(beam_size=1)).run()  # without training, states are all but equal
    assert [list(best.tokens) for best, *_ in results] == targets


def test_a_graph_without_a_product_has_no_vectors(untrained_model: Path, tmp_path: Path) -> None:
    assert find_vectors(b"") is None
    engine = OnnxEngine(untrained_model)
    engine.graphs = engine.graphs[::-1]  # an encoder chooses no tokens
    with pytest.raises(DamagedError):
        VectorEngine(engine)
