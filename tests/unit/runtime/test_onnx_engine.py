"""A state of ONNX Runtime's arrays keeps its entries while search reorders, repeats and drops its rows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.runtime.onnx_engine import OnnxState, move_rows
from nmt_cli.search.beam import compute_compacting_order


def make_state(sentences: int, *, shared: bool) -> OnnxState:
    """Returns a state of one row per sentence, in which every entry is the number of its sentence."""
    numbers = np.arange(sentences, dtype=np.float32)
    memory = {"memory": np.repeat(numbers[:, None], 3, axis=1)}
    return OnnxState.from_entries(memory, {"hidden": numbers}, np.arange(sentences), shared=shared)


def read_by_rows(state: OnnxState) -> list[float]:
    """Returns what the decoder reads for each row from the entries of the sentences."""
    memory = state.feeds["memory"]
    return np.repeat(memory[:, 0], len(state.sentence_of_row) // max(1, len(memory))).tolist()


@given(data=st.data(), sentences=st.integers(1, 6), shared=st.booleans())
def test_every_row_keeps_the_entries_of_its_sentence(data: st.DataObject, sentences: int, shared: bool) -> None:
    state = make_state(sentences, shared=shared)
    while state.sentence_of_row.size:
        ids = st.sampled_from(range(int(state.sentence_of_row[-1]) + 1))
        kept = data.draw(st.lists(ids, unique=True), label="sentences")
        groups = [np.flatnonzero(state.sentence_of_row == sentence).tolist() for sentence in kept]
        size = data.draw(st.integers(1, 3), label="rows per sentence")
        rows = [
            row for group in groups for row in data.draw(st.lists(st.sampled_from(group), min_size=size, max_size=size))
        ]
        expected = state.rows["hidden"][np.array(rows, dtype=np.int64)].tolist()
        state = state.select(np.array(rows, dtype=np.int64))
        assert state.rows["hidden"].tolist() == expected
        assert read_by_rows(state) == expected


@given(st.lists(st.booleans(), min_size=1))
def test_holes_are_filled_from_behind_in_the_memory_that_is_there(is_open: list[bool]) -> None:
    array = np.arange(len(is_open), dtype=np.float32)
    kept = compute_compacting_order(np.array(is_open))
    assert sorted(kept.tolist()) == [index for index, is_kept in enumerate(is_open) if is_kept]
    assert all(kept[index] == index for index, is_kept in enumerate(is_open[: len(kept)]) if is_kept)
    moved = move_rows({"hidden": array}, kept)["hidden"]
    assert moved.tolist() == kept.tolist() and np.shares_memory(moved, array) == bool(len(kept))


def test_rows_in_another_order_are_copied() -> None:
    array = np.arange(4, dtype=np.float32)
    assert move_rows({"hidden": array}, np.array([1, 0, 3]))["hidden"].tolist() == [1, 0, 3]
    assert array.tolist() == [0, 1, 2, 3]
