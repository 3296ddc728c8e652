from __future__ import annotations

from pathlib import Path

from nmt_cli.arrays.batching import BatchSize
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.training.validation import make_sorted_batches
from support.models import toy_pairs, write_pairs


def test_long_sources_make_small_batches_whatever_their_targets(tmp_path: Path) -> None:
    pairs = [(f"{source} " * 6, target) for source, target in toy_pairs(300)]
    corpus = write_pairs(tmp_path / "long.tsv", pairs)
    prepare(corpus, tmp_path / "prepared", PrepareConfig(vocab_size=330, max_length=400, max_ratio=20))
    dev = PreparedCorpus.load(tmp_path / "prepared")
    batches = make_sorted_batches(dev, BatchSize(rows=128, cells=400))
    assert sum(len(batch.source) for batch in batches) == len(dev.load_encoded("dev").source)
    assert all(batch.source.size <= 400 or len(batch.source) == 1 for batch in batches)
