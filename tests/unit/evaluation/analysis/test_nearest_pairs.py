from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.evaluation.analysis.nearest_pairs import encode_lines, make_index_path, open_index
from nmt_cli.translation.config import ModelRequest
from nmt_cli.translation.translator import Translator
from support.models import export_untrained, prepare_toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("toy"), 200)


@pytest.fixture(scope="module")
def model(corpus: PreparedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_untrained(corpus, tmp_path_factory.mktemp("untrained") / "model")


def test_a_training_sentence_is_nearest_to_itself_and_the_index_is_made_once(
    corpus: PreparedCorpus, model: Path
) -> None:
    translator, pairs, progress = Translator.load(ModelRequest(model)), corpus.read_pairs("train"), []
    index = open_index(translator, corpus, model, progress.append)
    neighbours = index.find_nearest(encode_lines(translator, [pairs[7].source, pairs[3].source]), pairs, 3)
    assert [ranking[0].line for ranking in neighbours] == [8, 4]
    assert neighbours[0][0].pair == pairs[7] and neighbours[0][0].similarity == pytest.approx(1, abs=0.01)
    assert [neighbour.similarity for neighbour in neighbours[0]] == sorted(
        (neighbour.similarity for neighbour in neighbours[0]), reverse=True
    )
    assert progress[-1] == len(pairs) and make_index_path(translator, corpus, model).is_file()
    again: list[int] = []
    assert open_index(translator, corpus, model, again.append).vectors.shape == index.vectors.shape
    assert again == []
    Translator.load(ModelRequest(model))  # the index beside the model does not damage it


def test_padding_does_not_change_a_sentence(corpus: PreparedCorpus, model: Path) -> None:
    translator = Translator.load(ModelRequest(model))
    together = encode_lines(translator, ["bade.", "bade giko luma nepo bade giko."])
    np.testing.assert_allclose(together[0], encode_lines(translator, ["bade."])[0], atol=1e-5)
