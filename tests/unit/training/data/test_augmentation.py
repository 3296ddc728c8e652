from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import OptionError
from nmt_cli.text.tokenizer_settings import TokenizerKind
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.augmentation import check_sampling, previous_of, with_sampled_subwords, with_tokens_dropped
from nmt_cli.training.data.batches import Batch, TrainingBatches
from support.models import prepare_toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("data"), count=300)


def drawn(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_as_many_tokens_are_dropped_as_asked_and_no_mark() -> None:
    ids = np.full((200, 50), 9)
    ids[:, 0], ids[:, -2], ids[:, -1] = START, END, PAD
    dropped = with_tokens_dropped(ids, 0.1, drawn())
    changed = dropped != ids
    assert (dropped[changed] == UNKNOWN).all()
    assert not changed[:, [0, -2, -1]].any()
    assert changed[:, 1:-2].mean() == pytest.approx(0.1, abs=0.01)
    assert dropped.dtype == ids.dtype


def test_the_previous_tokens_are_the_target_one_later() -> None:
    target = np.array([[7, 8, 9, END], [5, END, 0, 0]])
    assert previous_of(target).tolist() == [[START, 7, 8, 9], [START, 5, 0, 0]]


def test_sampled_subwords_spell_the_same_sentences_in_other_pieces(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    source = next(TrainingBatches(corpus, TrainConfig(batch=64, careless=0.0, placeholders=0.0)).make_epoch(1)).source
    sampled = with_sampled_subwords(source, tokenizer, 0.0, drawn())  # all cuts alike
    texts = [tokenizer.decode(row) for row in source]
    assert [tokenizer.decode(row) for row in sampled] == texts
    assert ((sampled == END).sum(axis=1) == 1).all()
    other = [row[row != 0].tolist() for row in sampled], [row[row != 0].tolist() for row in source]
    assert sum(one != best for one, best in zip(*other, strict=True)) > 32


def test_sentences_that_cannot_be_spelled_stay(corpus: PreparedCorpus) -> None:
    ids = corpus.source_tokenizer.encode("bade gigi")
    rows = np.array([[*ids, END], [UNKNOWN] * len(ids) + [END]])
    sampled = with_sampled_subwords(rows, corpus.source_tokenizer, 0.0, drawn())
    assert sampled[1][sampled[1] != 0].tolist() == rows[1].tolist()


VARIED = TrainConfig(
    batch=32, careless=0.5, placeholders=0.0, subword_sampling=0.0, sample_target=True, word_dropout=0.2
)


@pytest.mark.parametrize("kind", ["char", "word"])
def test_subwords_with_one_cut_only_are_refused(kind: TokenizerKind) -> None:
    with pytest.raises(OptionError, match=f"cannot be combined with subwords of kind {kind}"):
        check_sampling(kind, 0.1)
    check_sampling(kind, None)


def test_subwords_of_pictures_are_not_drawn() -> None:
    with pytest.raises(OptionError, match="pictures have none"):
        check_sampling("unigram", 0.1, texts=False)
    check_sampling("unigram", None, texts=False)


def test_placeholders_stay_whole(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    ids = tokenizer.encode("bade ⟦3⟧ gigi")
    sampled = with_sampled_subwords(np.array([[*ids, END]] * 20), tokenizer, 0.0, drawn())
    assert tokenizer.encode("⟦3⟧")[-1] in tokenizer.placeholder_ids
    assert all(tokenizer.encode("⟦3⟧")[-1] in row for row in sampled)
    varied = TrainConfig(batch=32, placeholders=1.0, subword_sampling=0.0, sample_target=True, careless=0.0)
    for batch in TrainingBatches(corpus, varied).make_epoch(1):
        held = [np.isin(side, tokenizer.placeholder_ids).sum(axis=1).tolist() for side in batch.sides]
        assert held[0] == held[1]


def equal(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True))


def test_what_varies_follows_from_seed_epoch_and_batch_alone(corpus: PreparedCorpus) -> None:
    batches = TrainingBatches(corpus, VARIED)
    whole, again, other = list(batches.make_epoch(2)), list(batches.make_epoch(2)), list(batches.make_epoch(3))
    assert all(map(equal, whole, again))
    assert not any(map(equal, whole, other))
    later = list(batches.make_epoch(2, skip=3))
    assert len(later) == len(whole) - 3
    assert all(map(equal, later, whole[3:]))


def test_dropped_tokens_are_asked_for_all_the_same(corpus: PreparedCorpus) -> None:
    pairs = {(pair.source, pair.target) for pair in corpus.read_pairs("train")}
    for batch in TrainingBatches(corpus, VARIED).make_epoch(1):
        assert not (batch.target == UNKNOWN).any()
        assert (batch.source == UNKNOWN).any()
        expected = previous_of(batch.target)
        assert (batch.previous == expected)[batch.previous != UNKNOWN].all()
        assert {corpus.target_tokenizer.decode(row) for row in batch.target} <= {target for _, target in pairs}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    """Every eighth of the bundled English-German pairs."""
    place = tmp_path_factory.mktemp("real")
    bundled = Path(__file__).parents[4] / "data" / "eng-deu.tsv"
    lines = bundled.read_text(encoding="utf-8").splitlines(keepends=True)[::8]
    (place / "part.tsv").write_text("".join(lines), encoding="utf-8")
    prepare(place / "part.tsv", place / "prepared", PrepareConfig(vocab_size=2000, dev="100", test="100"))
    return PreparedCorpus.load(place / "prepared")


def test_batches_of_tokens_hold_about_as_many(real: PreparedCorpus) -> None:
    batches = TrainingBatches(real, TrainConfig(batch_tokens=600, careless=0.0, placeholders=0.0))
    found = list(batches.make_epoch(1))
    assert len(found) == batches.steps
    sizes = [max(side.size for side in batch.sides) for batch in found]
    assert 500 < np.mean(sizes) < 600
    assert max(sizes) <= 600
    assert sum(len(batch.source) for batch in found) == len(real.read_pairs("train"))


@pytest.mark.parametrize(
    "options",
    [
        {"batch": 32},
        {"batch_tokens": 600},
        {"batch": 32, "subword_sampling": 0.2},
        {"batch": 32, "subword_sampling": 0.2, "sample_target": True},
    ],
)
def test_little_is_padding_although_what_varies_has_other_lengths(
    real: PreparedCorpus, options: dict[str, Any]
) -> None:
    sides = [side for batch in TrainingBatches(real, TrainConfig(**options)).make_epoch(1) for side in batch.sides]
    assert 1 - sum((side != 0).sum() for side in sides) / sum(side.size for side in sides) < 0.10
