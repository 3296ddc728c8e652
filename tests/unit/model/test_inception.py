"""Pictures read by InceptionV3 with random weights: the grid's shape and place, and what cannot be read."""

from pathlib import Path

import keras
import numpy as np
import pytest
from PIL import Image

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.model.inception import InceptionV3, read_picture
from nmt_cli.sources.images import IMAGE_WEIGHTS


@pytest.fixture(scope="module")
def inception(tmp_path_factory: pytest.TempPathFactory) -> InceptionV3:
    keras.utils.set_random_seed(1)
    path = tmp_path_factory.mktemp("weights") / "random.weights.h5"
    keras.applications.InceptionV3(include_top=False, weights=None, input_shape=(299, 299, 3)).save_weights(path)
    return InceptionV3(path)


@pytest.mark.slow
def test_a_picture_is_64_regions_row_by_row_also_with_saved_weights(inception: InceptionV3, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (299, 299, 3), dtype=np.uint8)
    noise[150:] = 128  # below the middle there is nothing to see
    for name, array in (("upright.png", noise), ("turned.png", noise.swapaxes(0, 1)), ("small.jpg", noise[:20, :30])):
        Image.fromarray(array).save(tmp_path / name)
    paths = [tmp_path / name for name in ("upright.png", "turned.png", "small.jpg")]
    upright, turned, small = inception.read(paths)
    assert (upright.shape, upright.dtype, small.shape) == ((64, 2048), np.float16, (64, 2048))
    assert inception.read_shape(paths[2]) == small.shape
    variety = [grid.reshape(8, 8, 2048).astype(float) for grid in (upright, turned)]
    assert np.ptp(variety[0][7], axis=0).sum() < np.ptp(variety[0][0], axis=0).sum()  # the last row sees nothing
    assert np.ptp(variety[1][:, 7], axis=0).sum() < np.ptp(variety[1][:, 0], axis=0).sum()  # nor the last column
    inception.save(tmp_path)
    (again,) = InceptionV3(tmp_path / IMAGE_WEIGHTS).read(paths[:1])
    np.testing.assert_allclose(again.astype(float), upright.astype(float), atol=1e-3)


@pytest.mark.slow
def test_what_is_no_picture_and_what_are_no_weights_is_named(inception: InceptionV3, tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(DataError, match=r"text.png is not a picture"):
        inception.read([tmp_path / "text.png"])
    with pytest.raises(NotFoundError, match=r"none.h5"):
        InceptionV3(tmp_path / "none.h5")
    with pytest.raises(DataError, match="does not hold the weights of InceptionV3"):
        InceptionV3(tmp_path / "text.png")


def test_a_damaged_and_an_enormous_picture_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (300, 300, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    first, second, *rest = (tmp_path / "whole.png").read_bytes().split(b"IDAT")
    (tmp_path / "damaged.png").write_bytes(first + b"IDAT" + second + b"\x00\x01\x02\x03" + b"IDAT".join(rest))
    with pytest.raises(DataError, match=r"damaged.png is not a picture"):
        read_picture(tmp_path / "damaged.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(DataError, match=r"whole.png is not a picture"):
        read_picture(tmp_path / "whole.png")
