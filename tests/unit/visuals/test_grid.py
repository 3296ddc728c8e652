"""The attention of a caption drawn word by word over its picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nmt_cli.errors import OptionError
from nmt_cli.visuals.grid import build_grid_figure, draw_grid, reshape_to_grid
from nmt_cli.visuals.picture import find_picture


def test_regions_stand_row_by_row() -> None:
    assert reshape_to_grid(np.arange(4.0)).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert reshape_to_grid(np.arange(3.0)).tolist() == [[0.0, 1.0, 2.0]]


def test_what_was_not_looked_at_is_hidden_and_what_was_is_not() -> None:
    attention = np.array([[0.0, 0.2, 0.8, 0.0]])
    figure = build_grid_figure(attention, ["word"], "", np.zeros((8, 8, 3), np.uint8))
    (axes,) = figure.axes
    _, veil = axes.get_images()
    opacity = np.asarray(veil.get_array())[..., 3]
    assert opacity.tolist() == pytest.approx(np.array([[0.8, 0.6], [0.0, 0.8]]))
    assert axes.get_title() == "word"


def test_without_a_picture_the_weights_themselves_are_drawn() -> None:
    figure = build_grid_figure(np.eye(4), ["a", "b", "c", "d"], "a b c d", None)
    for number, axes in enumerate(figure.axes):
        (image,) = axes.get_images()
        assert np.asarray(image.get_array()).ravel().tolist() == np.eye(4)[number].tolist()


def test_words_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"does not match 1 word$"):
        draw_grid(np.eye(4), ["a"], tmp_path / "a.png")


def test_the_picture_is_the_file_or_stands_beside_its_features(tmp_path: Path) -> None:
    Image.new("RGB", (30, 20), (255, 0, 0)).save(tmp_path / "red.png")
    for name in ("red.png", "red.npy"):
        picture = find_picture(tmp_path / name)
        assert picture is not None and picture.shape == (20, 30, 3) and picture[0, 0].tolist() == [255, 0, 0]
    assert find_picture(tmp_path / "blue.npy") is None
    (tmp_path / "bad.png").write_text("no picture")
    assert find_picture(tmp_path / "bad.npy") is None
