from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, START
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.training.config import TrainConfig
from nmt_cli.training.data.batches import TrainingBatches, make_ahead, with_careless, write_carelessly
from support.models import prepare_toy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    return prepare_toy(tmp_path_factory.mktemp("data"), count=300)


def test_an_epoch_holds_every_pair_once_with_its_marks(corpus: PreparedCorpus) -> None:
    batches = TrainingBatches(corpus, TrainConfig(batch=32, careless=0.0, placeholders=0.0))
    seen = []
    for batch in batches.make_epoch(1):
        assert (batch.previous[:, 0] == START).all()
        for source, previous, target in zip(batch.source, batch.previous, batch.target, strict=True):
            assert source[source != 0][-1] == target[target != 0][-1] == END
            np.testing.assert_array_equal(previous[previous != 0][1:], target[target != 0][:-1])
            seen.append((corpus.source_tokenizer.decode(source), corpus.target_tokenizer.decode(target)))
    assert sorted(seen) == sorted((pair.source, pair.target) for pair in corpus.read_pairs("train"))
    assert batches.steps == -(-len(seen) // 32)


def test_epochs_follow_from_the_seed_and_differ(corpus: PreparedCorpus) -> None:
    def first(seed: int, epoch: int) -> list[int]:
        return next(TrainingBatches(corpus, TrainConfig(seed=seed, batch=32)).make_epoch(epoch)).source.ravel().tolist()

    assert first(1, 1) == first(1, 1)
    assert first(1, 1) != first(1, 2)
    assert first(1, 1) != first(2, 1)


def test_only_the_chosen_rows_are_typed_carelessly(corpus: PreparedCorpus) -> None:
    tokenizer = corpus.source_tokenizer
    batch = next(TrainingBatches(corpus, TrainConfig(batch=8, careless=0.0, placeholders=0.0)).make_epoch(1)).source
    chosen = np.array([True, False] * 4)
    before = [tokenizer.decode(row) for row in batch]
    after = [tokenizer.decode(row) for row in with_careless(batch, chosen, tokenizer)]
    assert after == [text.rstrip(".") if one else text for text, one in zip(before, chosen, strict=True)]
    np.testing.assert_array_equal(with_careless(batch, np.zeros(8, dtype=bool), tokenizer), batch)


def test_all_sentences_can_be_careless_and_targets_stay(corpus: PreparedCorpus) -> None:
    def targets(careless: float) -> list[str]:
        batches = list(
            TrainingBatches(corpus, TrainConfig(batch=32, careless=careless, placeholders=0.0)).make_epoch(1)
        )
        sources = [corpus.source_tokenizer.decode(row) for batch in batches for row in batch.source]
        assert all(("." not in source) == (careless == 1.0) for source in sources)
        return sorted(corpus.target_tokenizer.decode(row) for batch in batches for row in batch.target)

    assert targets(1.0) == targets(0.0)


@pytest.mark.parametrize(
    ("text", "typed"),
    [("Hello!", "hello"), ("Where is Tom?", "where is tom"), ("Really?!", "really"), ("?", "?"), ("Mr. X.", "mr. x")],
)
def test_people_in_a_hurry_leave_out_capitals_and_the_last_mark(text: str, typed: str) -> None:
    assert write_carelessly(text) == typed


def test_an_epoch_begun_later_has_the_batches_that_it_would_have_had(corpus: PreparedCorpus) -> None:
    batches = TrainingBatches(corpus, TrainConfig(batch=16, accumulate=3))
    whole = list(batches.updates_of(2))
    assert [len(group) for group in whole[:-1]] == [3] * (batches.updates - 1)
    assert sum(len(group) for group in whole) == batches.steps
    for group, other in zip(batches.updates_of(2, skip=4), whole[4:], strict=True):
        for one, expected in zip(group, other, strict=True):
            np.testing.assert_array_equal(one.source, expected.source)
            np.testing.assert_array_equal(one.target, expected.target)


def test_the_next_item_is_made_while_one_is_in_use_and_no_more() -> None:
    begun = [threading.Event() for _ in range(4)]

    def items() -> Iterator[int]:
        for number, event in enumerate(begun):
            event.set()
            yield number

    found = make_ahead(items())
    assert next(found) == 0
    assert begun[1].wait(10) and not begun[2].wait(0.1)
    assert list(found) == [1, 2, 3]


def test_what_is_made_ahead_fails_in_its_turn() -> None:
    def items() -> Iterator[int]:
        yield 0
        raise OSError("no more")

    found = make_ahead(items())
    assert next(found) == 0
    with pytest.raises(OSError, match="no more"):
        next(found)


def test_who_stops_early_leaves_no_thread_behind(corpus: PreparedCorpus) -> None:
    epoch = TrainingBatches(corpus, TrainConfig(batch=1)).make_epoch(1)
    next(epoch)
    epoch.close()
    for thread in threading.enumerate():
        if thread.name.startswith("batches"):
            thread.join(10)
            assert not thread.is_alive()
