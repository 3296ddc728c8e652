import errno
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.arrays.ragged import Ragged

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
    with pytest.raises(ValueError, match="do not belong together"):
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
