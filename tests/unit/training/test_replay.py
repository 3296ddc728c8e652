from __future__ import annotations

import numpy as np

from nmt_cli.corpus.dataset import EncodedSplit, Sentences
from nmt_cli.corpus.ragged import Ragged
from nmt_cli.training.replay import Replay


def split(first: int, rows: int) -> EncodedSplit:
    """Row i has the source [first + i] and the target [first + i, 9]."""
    numbers = range(first, first + rows)
    source = Ragged.from_sequences([[[one] for one in numbers]], vocabulary_size=5000)
    return EncodedSplit(
        Sentences(source.ids, source.offsets),
        Ragged.from_sequences([[[one, 9] for one in numbers]], vocabulary_size=5000),
    )


def test_an_epoch_has_every_new_pair_and_its_share_of_old_ones() -> None:
    replay = Replay(split(0, 80), split(1000, 500), share=0.2, seed=1)
    epochs = [replay.rows(epoch) for epoch in (1, 2)]
    for rows in epochs:
        ids = [int(replay.split.source[row][0]) for row in rows]
        assert ids[:80] == list(range(80))
        assert len(ids) == len(set(ids)) == 100
        assert all(1000 <= one < 1500 for one in ids[80:])
        assert [replay.split.target[row].tolist() for row in rows] == [[one, 9] for one in ids]
    assert set(epochs[0]) != set(epochs[1])
    np.testing.assert_array_equal(epochs[0], replay.rows(1))


def test_few_old_pairs_are_repeated_evenly() -> None:
    rows = Replay(split(0, 30), split(1000, 10), share=0.5, seed=1).rows(1)
    assert np.bincount(rows)[30:].tolist() == [3] * 10


def test_without_old_pairs_an_epoch_is_the_new_ones() -> None:
    new = split(0, 5)
    replay = Replay(new, None, share=0.2, seed=1)
    assert replay.split is new
    assert replay.rows(1).tolist() == [0, 1, 2, 3, 4]
