"""Tests of rows: ."""

import errno
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.rows import Ragged, pad_ragged, pad_rows

CHUNKS = st.lists(st.lists(st.lists(st.integers(0, 999), max_size=5), max_size=4), max_size=4)


@given(CHUNKS)
def test_sequences_come_back_as_they_went_in(chunks: list[list[list[int]]]) -> None:
    ragged = Ragged.from_sequences(chunks, vocabulary_size=1000)
    flat = [sequence for chunk in chunks for sequence in chunk]
    assert [row.tolist() for row in ragged] == flat
    assert ragged.lengths.tolist() == [len(sequence) for sequence in flat]


@pytest.mark.parametrize(("vocabulary", "kind"), [(65_536, np.uint16), (65_537, np.int32)])
def test_ids_take_two_bytes_where_they_fit(vocabulary: int, kind: type) -> None:
    ragged = Ragged.from_sequences([[[0, vocabulary - 1]]], vocabulary_size=vocabulary)
    assert ragged.ids.dtype == kind
    assert ragged[0].tolist() == [0, vocabulary - 1]


def test_saved_sequences_are_mapped_not_read(tmp_path: Path) -> None:
    Ragged.from_sequences([[[4, 5], [], [6]]], vocabulary_size=10).save(tmp_path / "train.source")
    loaded = Ragged.load(tmp_path / "train.source")
    assert isinstance(loaded.ids.base, np.memmap) and isinstance(loaded.offsets.base, np.memmap)
    assert [row.tolist() for row in loaded] == [[4, 5], [], [6]]
    assert loaded[-1].tolist() == [6]
    with pytest.raises(IndexError):
        loaded[3]


def test_an_empty_file_of_ids_can_be_loaded(tmp_path: Path) -> None:
    Ragged.from_sequences([], vocabulary_size=10).save(tmp_path / "dev.source")
    assert len(Ragged.load(tmp_path / "dev.source")) == 0


def test_ids_and_offsets_of_different_data_are_refused(tmp_path: Path) -> None:
    Ragged.from_sequences([[[4, 5]]], vocabulary_size=10).save(tmp_path / "a")
    Ragged.from_sequences([[[4, 5, 6]]], vocabulary_size=10).save(tmp_path / "b")
    (tmp_path / "b.ids.npy").replace(tmp_path / "a.ids.npy")
    with pytest.raises(ValueError, match="do not match"):
        Ragged.load(tmp_path / "a")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "train.ids.npy").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        Ragged.from_sequences([[[1] * 100_000]], vocabulary_size=10).save(tmp_path / "train")
    assert caught.value.errno == errno.ENOSPC


def test_files_are_those_of_numpy(tmp_path: Path) -> None:
    ragged = Ragged.from_sequences([[[4, 5], [6]]], vocabulary_size=10)
    ragged.save(tmp_path / "train")
    np.save(tmp_path / "ids.npy", ragged.ids)
    assert (tmp_path / "ids.npy").read_bytes() == (tmp_path / "train.ids.npy").read_bytes()


@given(CHUNKS, st.data())
def test_what_is_put_in_front_can_be_taken_out(chunks: list[list[list[int]]], data: st.DataObject) -> None:
    ragged = Ragged.from_sequences(chunks, vocabulary_size=1000)
    fronts = [data.draw(st.lists(st.integers(1000, 1009), max_size=2)) for _ in ragged]
    longer = ragged.insert_before(Ragged.from_sequences([fronts], vocabulary_size=1010))
    assert [row.tolist() for row in longer] == [
        [*front, *row.tolist()] for front, row in zip(fronts, ragged, strict=True)
    ]
    assert [row.tolist() for row in longer.keep(longer.ids < 1000)] == [row.tolist() for row in ragged]


RAGGED = Ragged.from_sequences([[[5, 6, 7], [8], [], [9, 4]]], vocabulary_size=10)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (None, None, [[8, 0, 0], [5, 6, 7], [0, 0, 0]]),
        (2, None, [[2, 8, 0, 0], [2, 5, 6, 7], [2, 0, 0, 0]]),
        (None, 3, [[8, 3, 0, 0], [5, 6, 7, 3], [3, 0, 0, 0]]),
        (2, 3, [[2, 8, 3, 0, 0], [2, 5, 6, 7, 3], [2, 3, 0, 0, 0]]),
    ],
)
def test_rows_are_padded_after_their_end(start: int | None, end: int | None, expected: list[list[int]]) -> None:
    padded = pad_ragged(RAGGED, np.array([1, 0, 2]), start=start, end=end)
    assert padded.dtype == np.int32
    assert padded.tolist() == expected


def test_no_rows_make_an_empty_array() -> None:
    assert pad_ragged(RAGGED, np.array([], dtype=np.int64), end=3).shape == (0, 1)


@given(st.lists(st.lists(st.integers(0, 99), max_size=6), max_size=5))
def test_rows_of_ids_are_padded_as_ragged_ones_are(rows: list[list[int]]) -> None:
    ragged = Ragged.from_sequences([rows], vocabulary_size=100)
    padded = pad_rows(rows)
    assert padded.dtype == np.int32
    np.testing.assert_array_equal(padded, pad_ragged(ragged, np.arange(len(rows))))


def test_rows_of_vectors_keep_their_width_and_have_the_fill_asked_for() -> None:
    padded = pad_rows([np.ones((1, 2)), np.zeros((2, 2))], fill=np.nan, dtype=np.float32)
    assert (padded.shape, padded.dtype) == ((2, 2, 2), np.float32)
    assert np.isnan(padded[:, :, 0]).tolist() == [[False, True], [False, False]]
