from __future__ import annotations

from pathlib import Path

import numpy as np

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.dataset import EncodedSplit, PreparedCorpus, Sentences, prepare
from nmt_cli.corpus.ragged import Ragged
from nmt_cli.training.replay import Replay, clear_of
from support.models import prepare_toy, toy_pairs, write_pairs


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


def test_pairs_that_are_not_allowed_are_never_taken() -> None:
    replay = Replay(split(0, 30), split(1000, 10), share=0.5, seed=1, allowed=np.array([2, 5, 7]))
    assert set(replay.rows(1)[30:].tolist()) == {32, 35, 37} and len(replay.rows(1)) == 60


def test_what_is_held_out_now_is_not_replayed(tmp_path: Path) -> None:
    old = prepare_toy(tmp_path, 400)
    longer = write_pairs(tmp_path / "longer.tsv", toy_pairs(600))
    prepare(longer, tmp_path / "new", PrepareConfig(tokenizer_from=str(old.directory)))
    new = PreparedCorpus.load(tmp_path / "new")
    rows, pairs = clear_of(old, new), old.pairs("train")
    held_out = {text for name in ("dev", "test") for pair in new.pairs(name) for text in pair}
    assert 0 < len(rows) < len(pairs)
    assert [row for row, pair in enumerate(pairs) if not held_out.intersection(pair)] == rows.tolist()
