from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt_cli.arrays.rows import BatchSize
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.training.validation import choose_scoring, make_sorted_batches, measure_distinct_share
from support.models import toy_pairs, write_pairs


def test_long_sources_make_small_batches_whatever_their_targets(tmp_path: Path) -> None:
    pairs = [(f"{source} " * 6, target) for source, target in toy_pairs(300)]
    corpus = write_pairs(tmp_path / "long.tsv", pairs)
    prepare(corpus, tmp_path / "prepared", PrepareConfig(vocab_size=330, max_length=400, max_ratio=20))
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
