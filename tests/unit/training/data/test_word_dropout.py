from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.training.data.word_dropout import drop_tags, drop_tokens


def test_as_many_tokens_are_dropped_as_asked_and_no_mark() -> None:
    ids = np.full((200, 50), 9)
    ids[:, 0], ids[:, -2], ids[:, -1] = START, END, PAD
    dropped = drop_tokens(ids, 0.1, np.random.default_rng(1))
    changed = dropped != ids
    assert (dropped[changed] == UNKNOWN).all()
    assert not changed[:, [0, -2, -1]].any()
    assert changed[:, 1:-2].mean() == pytest.approx(0.1, abs=0.01)
    assert dropped.dtype == ids.dtype


def test_tags_are_dropped_each_for_itself_and_the_text_moves_up() -> None:
    ids = np.tile([100, 101, 7, 8, END, PAD], (4_000, 1))
    dropped = drop_tags(ids, 0.1, np.random.default_rng(1), [100, 101])
    rows, counts = np.unique(dropped, axis=0, return_counts=True)
    shares = {tuple(row): count / len(ids) for row, count in zip(rows.tolist(), counts.tolist(), strict=True)}
    assert shares[100, 101, 7, 8, END, PAD] == pytest.approx(0.81, abs=0.02)
    assert shares[100, 7, 8, END, PAD, PAD] == pytest.approx(0.09, abs=0.02)
    assert shares[101, 7, 8, END, PAD, PAD] == pytest.approx(0.09, abs=0.02)
    assert shares[7, 8, END, PAD, PAD, PAD] == pytest.approx(0.01, abs=0.01)


def test_word_dropout_keeps_tags() -> None:
    dropped = drop_tokens(np.full((50, 20), 100), 0.9, np.random.default_rng(1), [100])
    assert (dropped == 100).all()
