from pathlib import Path

import numpy as np
import pytest

from nmt_cli.api.drawings.charts import encode_lines, make_index_path, open_index
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.translation.request import TranslationRequest


def test_a_training_sentence_is_nearest_to_itself_and_indexed_once(
    corpus: PreparedCorpus, untrained_model: Path, tmp_path: Path
) -> None:
    translator, pairs, progress = TranslationRequest(untrained_model).load(), corpus.read_pairs("train"), []
    cache, files = tmp_path / "cache" / "nearest", sorted(untrained_model.iterdir())
    path = make_index_path(translator, corpus, cache)
    index = open_index(translator, corpus, cache, progress.append)
    neighbours = index.find_nearest(encode_lines(translator, [pairs[7].source, pairs[3].source]), pairs, 3)
    assert [ranking[0].line for ranking in neighbours] == [8, 4]
    assert neighbours[0][0].pair == pairs[7] and neighbours[0][0].similarity == pytest.approx(1, abs=0.01)
    assert [neighbour.similarity for neighbour in neighbours[0]] == sorted(
        (neighbour.similarity for neighbour in neighbours[0]), reverse=True
    )
    assert progress[-1] == len(pairs) and path.is_file()
    again: list[int] = []
    assert open_index(translator, corpus, cache, again.append).vectors.shape == index.vectors.shape
    assert again == []
    assert sorted(untrained_model.iterdir()) == files  # a model directory may be shared, or read-only
    path.write_bytes(path.read_bytes()[:100])  # as a full disk leaves it
    assert open_index(translator, corpus, cache, again.append).vectors.shape == index.vectors.shape and again


def test_where_no_cache_can_be_written_the_index_is_made_each_time(
    corpus: PreparedCorpus, untrained_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    translator = TranslationRequest(untrained_model).load()
    index = open_index(translator, corpus, tmp_path / "file" / "nearest")
    assert len(index.vectors) == len(corpus.read_pairs("train")) + 1


def test_padding_does_not_change_a_sentence(corpus: PreparedCorpus, untrained_model: Path) -> None:
    translator = TranslationRequest(untrained_model).load()
    together = encode_lines(translator, ["bade.", "bade giko luma nepo bade giko."])
    np.testing.assert_allclose(together[0], encode_lines(translator, ["bade."])[0], atol=1e-5)
