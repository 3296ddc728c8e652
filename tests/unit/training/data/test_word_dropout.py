from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.arrays.special_ids import END, PAD, START, UNKNOWN
from nmt_cli.training.data.word_dropout import drop_tokens


def test_as_many_tokens_are_dropped_as_asked_and_no_mark() -> None:
    ids = np.full((200, 50), 9)
    ids[:, 0], ids[:, -2], ids[:, -1] = START, END, PAD
    dropped = drop_tokens(ids, 0.1, np.random.default_rng(1))
    changed = dropped != ids
    assert (dropped[changed] == UNKNOWN).all()
    assert not changed[:, [0, -2, -1]].any()
    assert changed[:, 1:-2].mean() == pytest.approx(0.1, abs=0.01)
    assert dropped.dtype == ids.dtype
