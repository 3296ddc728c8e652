from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from keras import ops

import nmt_cli as nmt
from nmt_cli.arrays.rows import BatchSize
from nmt_cli.arrays.types import END, START
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.model.config import Vocabularies
from nmt_cli.model.seq2seq import Seq2Seq
from nmt_cli.training.export.keras_engine import measure_heads
from nmt_cli.training.validation import choose_scoring, make_sorted_batches, measure_distinct_share
from support.corpora import prepare_paged
from support.models import tiny_config, toy_pairs, write_pairs


def test_long_sources_make_small_batches_whatever_their_targets(tmp_path: Path) -> None:
    pairs = [(f"{source} " * 6, target) for source, target in toy_pairs(300)]
    corpus = write_pairs(tmp_path / "long.tsv", pairs)
    prepare(corpus, tmp_path / "prepared", PrepareOptions(vocab_size=330, max_length=400, max_ratio=20))
    dev = PreparedCorpus.load(tmp_path / "prepared")
    batches = make_sorted_batches(dev, BatchSize(rows=128, cells=400))
    assert sum(len(batch.source) for batch in batches) == len(dev.load_encoded("dev").source)
    assert all(batch.source.size <= 400 or len(batch.source) == 1 for batch in batches)


@pytest.mark.parametrize(
    ("language", "reference", "tokenizer"),
    [
        ("tha", "สวัสดีชาวโลก", "char"),
        ("target", "สวัสดีชาวโลก", "char"),
        ("deu", "hallo", "13a"),
        ("target", "hallo", "13a"),
    ],
)
def test_the_development_set_is_scored_in_the_words_of_the_target_language(
    language: str, reference: str, tokenizer: str
) -> None:
    settings = SimpleNamespace(lowercase=True)
    corpus: Any = SimpleNamespace(target_language=language, target_tokenizer=SimpleNamespace(settings=settings))
    scoring = choose_scoring(corpus, [[reference]])
    assert (scoring.tokenizer, scoring.lowercase) == (tokenizer, True)


@pytest.mark.parametrize(
    ("sources", "hypotheses", "share"),
    [("abc", "xxx", 0.0), ("abc", "xyz", 1.0), ("abc", "xyx", 0.5), ("a", "x", 1.0), ("aab", "xyz", 1.0)],
)
def test_the_share_of_different_translations(sources: str, hypotheses: str, share: float) -> None:
    assert measure_distinct_share(sources, hypotheses) == share


# The weights of every head: the mean of the last layer's is what the exported graphs return.


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


# A network learns what only the sentence before can tell it.


TRAINING = {"epochs": 30, "units": 64, "embedding": 32, "batch": 32, "dropout": 0.1, "patience": 30}


def measure_pronouns(model: Path, corpus: PreparedCorpus, context: int) -> float:
    """The share of the test sentences with a pronoun that have the right one."""
    pairs, right, start = corpus.read_pairs("test"), list[bool](), 0
    with nmt.load(model, context=context, beam_size=1) as translator:
        for size in corpus.read_text_sizes("test"):
            text = pairs[start : start + size]
            start += size
            written = zip(translator.translate([pair.source for pair in text]), text, strict=True)
            right += [
                line.split()[0] == pair.target.split()[0] for line, pair in written if pair.source.startswith("it ")
            ]
    return sum(right) / len(right)


@pytest.mark.slow
def test_a_pronoun_follows_the_sentence_before(tmp_path: Path) -> None:
    corpus = prepare_paged(tmp_path, pages=215, dev="80", test="160")
    nmt.train(data=corpus.directory, model=tmp_path / "model", **TRAINING)  # type: ignore[arg-type]
    card = nmt.info(tmp_path / "model")
    assert card.context == 1 and card.scores["dev"]["bleu"].value > 99  # of dev in context; 93 without
    assert measure_pronouns(tmp_path / "model", corpus, 1) == 1
    assert measure_pronouns(tmp_path / "model", corpus, 0) < 0.6
    report = nmt.evaluate(data=corpus.directory, model=tmp_path / "model", metric="bleu4")
    assert report.scores["bleu4"].value > 80
