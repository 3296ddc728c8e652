"""Tests of batches: ."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nmt_cli.arrays.rows import Ragged
from nmt_cli.arrays.types import END, PAD, START
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.sources.source import Sentences
from nmt_cli.training.data.batches import (
    EpochRows,
    TrainingBatches,
    drop_tags,
    exclude_held_out,
    make_ahead,
    shift_right,
)
from nmt_cli.training.options import TrainOptions
from support.models import prepare_toy, toy_pairs, write_pairs


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


def split(first: int, rows: int) -> EncodedSplit:
    """Row i has the source [first + i] and the target [first + i, 9]."""
    numbers = range(first, first + rows)
    source = Ragged.from_sequences([[[number] for number in numbers]], vocabulary_size=5000)
    return EncodedSplit(
        Sentences(source.ids, source.offsets),
        Ragged.from_sequences([[[number, 9] for number in numbers]], vocabulary_size=5000),
    )


def test_an_epoch_has_every_new_pair_and_its_share_of_old_ones() -> None:
    epoch_rows = EpochRows(split(0, 80), split(1000, 500), share=0.2, seed=1)
    epochs = [epoch_rows.select_rows(epoch) for epoch in (1, 2)]
    for rows in epochs:
        ids = [int(epoch_rows.split.source[row][0]) for row in rows]
        assert ids[:80] == list(range(80))
        assert len(ids) == len(set(ids)) == 100
        assert all(1000 <= number < 1500 for number in ids[80:])
        assert [epoch_rows.split.target[row].tolist() for row in rows] == [[number, 9] for number in ids]
    assert set(epochs[0]) != set(epochs[1])
    np.testing.assert_array_equal(epochs[0], epoch_rows.select_rows(1))


def test_few_old_pairs_are_repeated_evenly() -> None:
    rows = EpochRows(split(0, 30), split(1000, 10), share=0.5, seed=1).select_rows(1)
    assert np.bincount(rows)[30:].tolist() == [3] * 10


def test_without_old_pairs_an_epoch_is_the_new_ones() -> None:
    new = split(0, 5)
    epoch_rows = EpochRows(new, None, share=0.2, seed=1)
    assert epoch_rows.split is new
    assert epoch_rows.select_rows(1).tolist() == [0, 1, 2, 3, 4]


def test_a_small_language_has_a_larger_share_by_the_temperature() -> None:
    languages = np.array([0] * 800 + [1] * 100)
    epoch_rows = EpochRows(split(0, 900), None, share=0.2, seed=1, languages=languages, temperature=3.0)
    epochs = [epoch_rows.select_rows(epoch) for epoch in (1, 2, 3)]
    for rows in epochs:
        assert (languages[rows] == 0).sum() == 600  # the cube roots of 800 and 100 are as 2 and 1
        assert (languages[rows] == 1).sum() == 300
    assert np.bincount(np.concatenate(epochs), minlength=900)[800:].tolist() == [9] * 100
    assert set(np.bincount(np.concatenate(epochs)[np.concatenate(epochs) < 800]).tolist()) == {2, 3}
    np.testing.assert_array_equal(epochs[1], epoch_rows.select_rows(2))


@pytest.mark.parametrize(("languages", "temperature"), [([0] * 10, 3.0), ([0] * 9 + [1], 1.0)])
def test_one_language_or_no_temperature_leaves_every_pair_once(languages: list[int], temperature: float) -> None:
    rows = EpochRows(split(0, 10), None, share=0.2, seed=1, languages=np.array(languages), temperature=temperature)
    assert rows.select_rows(1).tolist() == list(range(10))


@pytest.mark.parametrize(
    ("pairs", "most", "sizes"), [(10, 4, [3, 3, 4]), (10, 5, [5, 5]), (10, 10, [10]), (3, 1, [1, 1, 1])]
)
def test_parts_of_the_pairs_are_all_of_them_in_turn(pairs: int, most: int, sizes: list[int]) -> None:
    epoch_rows = EpochRows(split(0, pairs), None, share=0.2, seed=1, most=most)
    turns = [
        [epoch_rows.select_rows(turn * len(sizes) + part + 1).tolist() for part in range(len(sizes))]
        for turn in range(3)
    ]
    for parts in turns:
        assert sorted(map(len, parts)) == sizes
        assert sorted(row for part in parts for row in part) == list(range(pairs))
    assert len(sizes) == 1 or turns[0] != turns[1]


def test_old_pairs_have_their_share_of_a_part() -> None:
    epoch_rows = EpochRows(split(0, 80), split(1000, 500), share=0.2, seed=1, most=40)
    assert [len(epoch_rows.select_rows(epoch)) for epoch in (1, 2)] == [50, 50]
    assert epoch_rows.pairs == 80 + 10


def test_pairs_that_are_not_allowed_are_never_taken() -> None:
    epoch_rows = EpochRows(split(0, 30), split(1000, 10), share=0.5, seed=1, allowed=np.array([2, 5, 7]))
    assert set(epoch_rows.select_rows(1)[30:].tolist()) == {32, 35, 37} and len(epoch_rows.select_rows(1)) == 60


def test_what_is_held_out_now_is_not_replayed(tmp_path: Path) -> None:
    old = prepare_toy(tmp_path, 400)
    longer = write_pairs(tmp_path / "longer.tsv", toy_pairs(600))
    prepare(longer, tmp_path / "new", PrepareOptions(tokenizer_from=str(old.directory)))
    new = PreparedCorpus.load(tmp_path / "new")
    rows, pairs = exclude_held_out(old, new), old.read_pairs("train")
    held_out = {text for name in ("dev", "test") for pair in new.read_pairs(name) for text in pair}
    assert 0 < len(rows) < len(pairs)
    assert [row for row, pair in enumerate(pairs) if not held_out.intersection(pair)] == rows.tolist()
