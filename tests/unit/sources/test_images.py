"""Pictures as grids of features: what is read, stored and batched, and that no picture stands in two splits."""

from pathlib import Path

import numpy as np
import pytest

from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.prepare import prepare
from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.sources.images import FeatureFiles, GridSource, label_regions, pad_grids


def save(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def prepared(directory: Path, pictures: int = 30, **options: object) -> PreparedCorpus:
    """Pictures of 2 or 3 regions; of each the captions "a" and "b" and its number, so that captions are shared."""
    for number in range(pictures):
        save(directory / f"{number}.npy", np.full((2 + number % 2, 4), number, np.float32))
    lines = [f"{n}.npy\t{caption}\n" for n in range(pictures) for caption in ("a", "b", f"c {n % 5}")]
    (directory / "captions.tsv").write_text("".join(lines))
    config = PrepareOptions(source_type="features", tokenizer="char", dev="6", test="9", **options)
    prepare(directory / "captions.tsv", directory / "prepared", config)
    return PreparedCorpus.load(directory / "prepared")


def test_a_grid_of_rows_and_columns_is_read_row_by_row(tmp_path: Path) -> None:
    grid = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    np.savez(tmp_path / "grid.npz", grid)
    (features,) = FeatureFiles().read([tmp_path / "grid.npz"])
    assert features.dtype == np.float32
    assert features.tolist() == grid.reshape(6, 4).tolist()
    assert FeatureFiles().read_shape(tmp_path / "grid.npz") == (6, 4)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), "shape 3"),
        (np.array([[1.0, np.nan]]), "NaN or infinite"),
        (np.array([["a", "b"]]), "<U1"),
        (np.zeros((0, 4)), "shape 0 x 4"),
    ],
)
def test_what_is_no_grid_of_numbers_is_named(tmp_path: Path, array: np.ndarray, words: str) -> None:
    path = save(tmp_path / "grid.npy", array)
    with pytest.raises(DataError, match=words) as error:
        FeatureFiles().read([path])
    assert "grid.npy" in error.value.message


def test_a_damaged_compressed_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "grid.npz"
    np.savez_compressed(path, np.arange(4000.0).reshape(40, 100))
    packed = bytearray(path.read_bytes())
    packed[200:220] = bytes(20)
    path.write_bytes(packed)
    with pytest.raises(DataError, match=r"grid\.npz is not a file of features"):
        FeatureFiles().read([path])


def test_a_file_with_objects_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "grid.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="not a file of features"):
        FeatureFiles().read_shape(path)


def test_regions_that_a_picture_does_not_have_are_not_numbers() -> None:
    batch = pad_grids([np.zeros((1, 2), np.float16), np.ones((3, 2), np.float16)])
    assert (batch.shape, batch.dtype) == ((2, 3, 2), np.float32)
    assert np.isnan(batch[..., 0]).tolist() == [[False, True, True], [False, False, False]]


def test_regions_are_called_by_row_and_column_where_they_are_a_square() -> None:
    assert label_regions(4) == ("1,1", "1,2", "2,1", "2,2")
    assert label_regions(3) == ("1", "2", "3")


def test_the_captions_of_a_picture_are_in_one_split_though_some_are_shared(tmp_path: Path) -> None:
    corpus = prepared(tmp_path)
    names = [{pair.source for pair in corpus.read_pairs(split)} for split in ("train", "dev", "test")]
    assert [len(split_names) for split_names in names] == [25, 2, 3]
    assert len(set.union(*names)) == 30
    captions = [{pair.target for pair in corpus.read_pairs(split)} for split in ("train", "dev", "test")]
    assert {"a", "b"} <= set.intersection(*captions)


def test_equal_pictures_under_two_names_are_one(tmp_path: Path) -> None:
    for number in range(20):
        save(tmp_path / f"{number}.npy", np.full((1, 2), number // 2, np.float32))
    (tmp_path / "captions.tsv").write_text("".join(f"{n}.npy\tcaption {n}\n" for n in range(20)))
    prepare(
        tmp_path / "captions.tsv",
        tmp_path / "prepared",
        PrepareOptions(source_type="features", tokenizer="char", dev="4", test="4"),
    )
    corpus = PreparedCorpus.load(tmp_path / "prepared")
    for split in ("train", "dev", "test"):
        numbers = sorted(int(Path(pair.source).stem) for pair in corpus.read_pairs(split))
        assert numbers[::2] == [number - 1 for number in numbers[1::2]]


def test_stored_pictures_are_those_of_their_pairs(tmp_path: Path) -> None:
    corpus = prepared(tmp_path)
    for split in ("train", "dev", "test"):
        encoded, pairs = corpus.load_encoded(split), corpus.read_pairs(split)
        batch = encoded.source.pad_rows(np.arange(len(pairs)))
        numbers = [int(Path(pair.source).stem) for pair in pairs]
        assert batch[:, 0, 0].tolist() == numbers
        assert encoded.source.lengths.tolist() == [2 + number % 2 for number in numbers]
    features = np.load(corpus.directory / "test.source.features.npy")
    assert len(features) == sum(
        2 + int(Path(references.source).stem) % 2 for references in corpus.read_references("test")
    )


def test_a_picture_is_scored_once_against_all_its_captions(tmp_path: Path) -> None:
    sentences = prepared(tmp_path).read_references("test")
    assert len(sentences) == 3
    assert all(set(sentence.references) >= {"a", "b"} and len(sentence.references) == 3 for sentence in sentences)


def test_a_picture_of_another_depth_than_the_model_is_told(tmp_path: Path) -> None:
    path = save(tmp_path / "other.npy", np.zeros((4, 5)))
    with pytest.raises(DataError, match="depth 5; the model was trained with 4"):
        GridSource("features", 4).make_rows([str(path)])
    assert [row.is_blank for row in GridSource("features", 5).make_rows(["", str(path)])] == [True, False]


def test_a_picture_that_is_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    save(tmp_path / "0.npy", np.zeros((1, 2)))
    (tmp_path / "captions.tsv").write_text("0.npy\ta\nnone.npy\tb\n")
    with pytest.raises(NotFoundError, match=r"captions.tsv, row 2: there is no picture .*none.npy"):
        prepare(tmp_path / "captions.tsv", tmp_path / "prepared", PrepareOptions(source_type="features"))


def test_features_of_two_networks_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "0.npy", np.zeros((1, 2)))
    save(tmp_path / "1.npy", np.zeros((1, 3)))
    (tmp_path / "captions.tsv").write_text("0.npy\ta\n1.npy\tb\n")
    with pytest.raises(DataError, match="depth 3"):
        prepare(tmp_path / "captions.tsv", tmp_path / "prepared", PrepareOptions(source_type="features"))
