"""Subwords that are sampled in training: other pieces of the same sentence."""

from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.arrays.types import END, UNKNOWN, IntArray
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.errors import OptionError
from nmt_cli.text.symbols import TokenizerKind
from nmt_cli.text.tokenizer import Tokenizer
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import Augmentation, check_sampling
from nmt_cli.training.data.batches import TrainingBatches


def sample_subwords(ids: IntArray, tokenizer: Tokenizer) -> IntArray:
    """The rows with sampled subwords; all segmentations are equally likely."""
    return Augmentation(tokenizer, tokenizer, alpha=0.0).augment_group(ids, ids, np.random.default_rng(1))[0]


def test_sampled_subwords_spell_the_same_sentences_in_other_pieces(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    source = next(TrainingBatches(corpus, TrainConfig(batch=64, careless=0.0, placeholders=0.0)).make_epoch(1)).source
    sampled = sample_subwords(source, tokenizer)
    texts = [tokenizer.decode(row) for row in source]
    assert [tokenizer.decode(row) for row in sampled] == texts
    assert ((sampled == END).sum(axis=1) == 1).all()
    ids = [row[row != 0].tolist() for row in sampled], [row[row != 0].tolist() for row in source]
    assert sum(drawn != best for drawn, best in zip(*ids, strict=True)) > 32


def test_sentences_that_cannot_be_spelled_stay(corpus: PreparedCorpus) -> None:
    ids = corpus.source_tokenizer.encode("bade gigi")
    rows = np.array([[*ids, END], [UNKNOWN] * len(ids) + [END]])
    sampled = sample_subwords(rows, corpus.source_tokenizer)
    assert sampled[1][sampled[1] != 0].tolist() == rows[1].tolist()


@pytest.mark.parametrize("kind", ["char", "word"])
def test_subwords_with_one_cut_only_are_refused(kind: TokenizerKind) -> None:
    with pytest.raises(OptionError, match=f"cannot be combined with subwords of kind {kind}"):
        check_sampling(kind, 0.1)
    check_sampling(kind, None)


def test_placeholders_stay_whole(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    ids = tokenizer.encode("bade ⟦3⟧ gigi")
    sampled = sample_subwords(np.array([[*ids, END]] * 20), tokenizer)
    assert tokenizer.encode("⟦3⟧")[-1] in tokenizer.placeholder_ids
    assert all(tokenizer.encode("⟦3⟧")[-1] in row for row in sampled)
    varied = TrainConfig(batch=32, placeholders=1.0, subword_sampling=0.0, sample_target=True, careless=0.0)
    for batch in TrainingBatches(corpus, varied).make_epoch(1):
        counts = [np.isin(side, tokenizer.placeholder_ids).sum(axis=1).tolist() for side in batch.sides]
        assert counts[0] == counts[1]
