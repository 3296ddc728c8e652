"""Tests of batches: ."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from nmt_cli.arrays.types import END, PAD, START
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.training.data.batches import TrainingBatches, drop_tags, make_ahead, shift_right
from nmt_cli.training.options import TrainOptions


def test_an_epoch_holds_every_pair_once_with_its_marks(corpus: PreparedCorpus) -> None:
    batches = TrainingBatches(corpus, TrainOptions(batch=32, careless=0.0, placeholders=0.0))
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
        return (
            next(TrainingBatches(corpus, TrainOptions(seed=seed, batch=32)).make_epoch(epoch)).source.ravel().tolist()
        )

    assert first(1, 1) == first(1, 1)
    assert first(1, 1) != first(1, 2)
    assert first(1, 1) != first(2, 1)


def test_the_previous_tokens_are_the_target_one_later() -> None:
    target = np.array([[7, 8, 9, END], [5, END, 0, 0]])
    assert shift_right(target).tolist() == [[START, 7, 8, 9], [START, 5, 0, 0]]


def test_an_epoch_begun_later_has_the_batches_that_it_would_have_had(corpus: PreparedCorpus) -> None:
    batches = TrainingBatches(corpus, TrainOptions(batch=16, accumulate=3))
    whole = list(batches.make_updates(2))
    assert [len(group) for group in whole[:-1]] == [3] * (batches.updates - 1)
    assert sum(len(group) for group in whole) == batches.steps
    for group, other in zip(batches.make_updates(2, skip=4), whole[4:], strict=True):
        for batch, expected in zip(group, other, strict=True):
            np.testing.assert_array_equal(batch.source, expected.source)
            np.testing.assert_array_equal(batch.target, expected.target)


def test_every_pool_has_random_numbers_of_its_own(corpus: PreparedCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """They follow from seed, epoch and pool alone: an epoch that begins later has the same ones."""

    def draw_by_pool(seed: int, epoch: int, skip: int = 0) -> list[float]:
        batches, numbers = TrainingBatches(corpus, TrainOptions(seed=seed, batch=2)), []
        monkeypatch.setattr(batches, "augment_pool", lambda pool, generator: numbers.append(generator.random()) or [])
        list(batches.make_pools(epoch, skip))
        return numbers

    runs = [draw_by_pool(seed, epoch) for seed in (1, 2) for epoch in (1, 2)]
    assert len(runs[0]) > 1
    assert len({number for numbers in runs for number in numbers}) == sum(map(len, runs))
    assert draw_by_pool(1, 1) == runs[0]
    assert draw_by_pool(1, 1, skip=64) == runs[0][1:]


def test_the_next_item_is_made_while_one_is_in_use_and_no_more() -> None:
    begun = [threading.Event() for _ in range(4)]

    def items() -> Iterator[int]:
        for number, event in enumerate(begun):
            event.set()
            yield number

    ahead = make_ahead(items())
    assert next(ahead) == 0
    assert begun[1].wait(10) and not begun[2].wait(0.1)
    assert list(ahead) == [1, 2, 3]


def test_what_is_made_ahead_fails_in_its_turn() -> None:
    def items() -> Iterator[int]:
        yield 0
        raise OSError("no more")

    ahead = make_ahead(items())
    assert next(ahead) == 0
    with pytest.raises(OSError, match="no more"):
        next(ahead)


def test_who_stops_early_leaves_no_thread_behind(corpus: PreparedCorpus) -> None:
    epoch = TrainingBatches(corpus, TrainOptions(batch=1)).make_epoch(1)
    next(epoch)
    epoch.close()
    for thread in threading.enumerate():
        if thread.name.startswith("batches"):
            thread.join(10)
            assert not thread.is_alive()


def test_tags_are_dropped_each_for_itself_and_the_text_moves_up() -> None:
    ids = np.tile([100, 101, 7, 8, END, PAD], (4_000, 1))
    dropped = drop_tags(ids, 0.1, np.random.default_rng(1), [100, 101])
    rows, counts = np.unique(dropped, axis=0, return_counts=True)
    shares = {tuple(row): count / len(ids) for row, count in zip(rows.tolist(), counts.tolist(), strict=True)}
    assert shares[100, 101, 7, 8, END, PAD] == pytest.approx(0.81, abs=0.02)
    assert shares[100, 7, 8, END, PAD, PAD] == pytest.approx(0.09, abs=0.02)
    assert shares[101, 7, 8, END, PAD, PAD] == pytest.approx(0.09, abs=0.02)
    assert shares[7, 8, END, PAD, PAD, PAD] == pytest.approx(0.01, abs=0.01)
