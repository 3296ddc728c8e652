from pathlib import Path

import numpy as np
import pytest

from nmt_cli.arrays.rows import Ragged
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.sources.source import Sentences
from nmt_cli.training.data.batches import EpochRows, exclude_held_out
from support.models import prepare_toy, toy_pairs, write_pairs


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
