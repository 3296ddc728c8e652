"""Tests of heatmap: the attention of a caption drawn word by word over its picture."""

import logging
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nmt_cli.arrays.types import FloatArray
from nmt_cli.errors import OptionError
from nmt_cli.text.wrapping import count_columns
from nmt_cli.visuals import canvas, heatmap
from nmt_cli.visuals.canvas import check_suffix
from nmt_cli.visuals.heatmap import (
    AxisLabels,
    Panel,
    build_grid_figure,
    build_heatmap_figure,
    build_sheet_figure,
    draw_grid,
    draw_head_sheet,
    draw_heatmap,
    find_picture,
    format_heatmap,
    make_colour_map,
    reshape_to_grid,
)
from nmt_cli.visuals.labels import DARK_RAMP, RAMP

SOURCE = ["where", "is", "it", "?", "</s>"]
TARGET = ["wo", "ist", "es", "?", "</s>"]
TITLE = ("where is it?", "wo ist es?")


def diagonal(target: int, source: int) -> FloatArray:
    """(T, S): 0.8 on the diagonal, the rest spread evenly."""
    weights = np.full((target, source), 0.2 / (source - 1))
    for t in range(target):
        weights[t, t * source // target] = 0.8
    return weights


FIVE = Panel(diagonal(5, 5), AxisLabels(SOURCE, TARGET), TITLE)


def words(number: int) -> list[str]:
    return [f"word{n}" * (1 + n % 3) for n in range(number)]


def svg_texts(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_png_is_a_png_of_readable_size(tmp_path: Path) -> None:
    path = tmp_path / "new" / "attention.png"
    assert draw_heatmap([FIVE], path) == ""
    header = path.read_bytes()[:24]
    assert header.startswith(b"\x89PNG")
    width, height = int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
    assert 400 < width < 2000 and 400 < height < 2000
    assert [entry.name for entry in path.parent.iterdir()] == ["attention.png"]


def test_an_svg_holds_every_label_and_the_title_as_text_also_what_looks_like_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "attention.svg"
    draw_heatmap([FIVE], path)
    assert {*SOURCE, *TARGET, *TITLE, "attention weight"} <= set(svg_texts(path))
    draw_heatmap([Panel(diagonal(2, 2), AxisLabels(["$5", "x_$6"], ["$a", "$\\frac"]), ("$5 and $6", "$x"))], path)
    assert {"$5", "x_$6", "$a", "$\\frac", "$5 and $6"} <= set(svg_texts(path))


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_the_same_input_gives_the_same_file(tmp_path: Path, kind: str) -> None:
    one, other = (tmp_path / f"{name}.{kind}" for name in "ab")
    for path in (one, other):
        draw_heatmap([FIVE], path)
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes().startswith({"svg": b"<?xml", "pdf": b"%PDF-"}[kind])


@pytest.mark.parametrize("tokens", [1, 7, 60])
def test_labels_never_overlap_and_the_darkest_cell_is_the_largest_weight(tokens: int) -> None:
    labels = AxisLabels(words(max(2, tokens)), words(tokens), "source", "target")
    figure = build_heatmap_figure([Panel(diagonal(tokens, max(2, tokens)), labels, TITLE)])
    axes = figure.axes[0]
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [label.get_window_extent(renderer) for label in axes.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))
    anchors = [label.get_position()[0] for label in axes.get_xticklabels()]
    step = axes.transData.transform([(1, 0), (2, 0)])[:, 0] if tokens > 1 else np.array([0, 99])
    height = axes.get_xticklabels()[0].get_fontsize() / 72 * figure.dpi
    assert len(anchors) == tokens
    assert (step[1] - step[0]) * 0.7 > height  # slanted by 45 degrees, their lines are this far from each other
    assert axes.collections[0].norm.vmax == pytest.approx(0.8)


def test_missing_glyphs_of_a_png_are_returned_and_nothing_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(canvas, "list_candidates", lambda: iter([(canvas.BASE, range(0x20, 0x2FF))]))
    panel = Panel(diagonal(2, 2), AxisLabels(["车", "站"], ["a", "b"]))
    assert draw_heatmap([panel], tmp_path / "x.png") == "站车"
    assert draw_heatmap([panel], tmp_path / "x.svg") == ""
    assert "车" in svg_texts(tmp_path / "x.svg")
    assert capfd.readouterr() == ("", "")


def test_drawing_leaves_matplotlib_and_its_log_as_they_were(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams), logging.getLogger("matplotlib").level
    draw_heatmap([Panel(diagonal(2, 2), AxisLabels(["a", "b"], ["c", "d"]))], tmp_path / "x.svg")
    assert (dict(matplotlib.rcParams), logging.getLogger("matplotlib").level) == before


def test_another_suffix_is_refused_with_the_two_that_can_be_written(tmp_path: Path) -> None:
    for name in ("attention.jpg", "attention"):
        with pytest.raises(OptionError) as caught:
            check_suffix(tmp_path / name)
        assert ".png or .svg or .pdf" in caught.value.hint
    check_suffix(Path("A.PNG"))


def test_labels_must_fit_the_array(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"\(2, 3\) does not match 3 target and 2 source"):
        draw_heatmap([Panel(np.ones((2, 3)), AxisLabels(["a", "b"], ["a", "b", "c"]))], tmp_path / "x.png")


def test_the_colours_fall_evenly_in_lightness_from_white() -> None:
    colours = make_colour_map()(np.arange(256))[:, :3]  # (256, RGB)
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lightness = 116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16  # CIE L*, 0-100
    steps = -np.diff(lightness)
    assert lightness[0] == pytest.approx(100, abs=0.1) and lightness[-1] < 25
    assert steps.min() > 0 and steps.max() < 2 * steps.mean()


def test_the_terminal_shows_the_largest_weight_darkest_under_its_word() -> None:
    lines = format_heatmap(diagonal(5, 5), SOURCE, TARGET, 80)
    columns = [lines[0].index(word) for word in TARGET]
    rows = [next(line for line in lines[1:] if line.lstrip().startswith(word + " ")) for word in SOURCE]
    for row, column in zip(rows, columns, strict=True):
        assert abs(row.index("██") - column) <= 2
        assert row.count("█") == 2
    assert "█" in lines[-1] and "%" in lines[-1]


@pytest.mark.parametrize("width", [24, 40, 80, 200])
@pytest.mark.parametrize("labels", [words(1), words(5), words(60), ["车站在哪里"] * 12, ["שלום"] * 9, ["हिन्दी"] * 30])
def test_no_line_is_wider_than_the_terminal(width: int, labels: list[str]) -> None:
    size = len(labels)
    lines = format_heatmap(diagonal(size, max(2, size)), labels * (2 if size == 1 else 1), labels, width)
    assert max(map(count_columns, lines[:-1])) <= width


def test_columns_that_do_not_fit_follow_in_bands_and_none_is_lost() -> None:
    lines = format_heatmap(diagonal(60, 60), words(60), words(60), 80)
    assert sum(line.count("██") for line in lines[:-1]) == 60


def test_no_band_has_a_column_alone() -> None:
    assert [len(columns) for columns in heatmap.split_into_bands(words(21), 60)] == [11, 10]


def test_even_attention_of_a_long_sentence_is_not_blank() -> None:
    lines = format_heatmap(np.full((3, 50), 0.02), words(50), words(3), 80)
    assert any("░" in line for line in lines[:-1])
    shares = [share for share, _ in heatmap.SHADES]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    "target", [["morgen", "kommen", "wir"], ["WWWWW", "MMMMM"], ["i", "l"], ["Donaudampfschiff", "a"]]
)
def test_no_two_labels_touch_as_they_are_drawn(target: list[str]) -> None:
    labels = AxisLabels(["a", "b", "c"], target, "source", "translation")
    figure = build_heatmap_figure([Panel(np.full((len(target), 3), 1 / 3), labels, ("", ""))])
    shown = figure.axes[0].get_xticklabels()
    boxes = [label.get_window_extent(figure.canvas.get_renderer()) for label in shown]  # type: ignore[attr-defined]
    if shown[0].get_rotation() == 0:
        assert all(left.x1 + 3 < right.x0 for left, right in pairwise(boxes))  # pixels of 1/100 inch
    else:  # of slanted ones, what counts is the distance between their lines
        height, apart = shown[0].get_fontsize() / 72 * 100, boxes[1].x0 - boxes[0].x0
        assert apart * 0.7 > height


def test_the_axes_are_named() -> None:
    labels = AxisLabels(["a"], ["b"], "source", "translation")
    axes = build_heatmap_figure([Panel(np.ones((1, 1)), labels, ("", ""))]).axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("source", "translation")
    assert format_heatmap(np.ones((1, 1)), ["a"], ["b"], 60)[-2] == "source down, translation across"


def test_pictures_and_pages_have_the_same_colours() -> None:
    shades = make_colour_map()(np.linspace(0, 1, len(RAMP)))
    for shade, colour in zip(shades, RAMP, strict=True):  # matplotlib has 256 steps
        channels = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
        assert np.abs(np.array(shade[:3]) * 255 - channels).max() <= 2, colour
    assert DARK_RAMP[1:] == RAMP[:0:-1]


@pytest.mark.parametrize("sizes", [(2, 30, 5), (12, 3)])
def test_panels_stand_side_by_side_and_share_a_scale(sizes: tuple[int, ...]) -> None:
    panels = [
        Panel(
            diagonal(size, size),
            AxisLabels(words(size), words(size), "source", "translation"),
            (f"model {size}", "b " * size),
        )
        for size in sizes
    ]
    figure = build_heatmap_figure(panels)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    shown, bar = figure.axes[:-1], figure.axes[-1]
    boxes = [axes.get_tightbbox(renderer) for axes in shown]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert shown[-1].get_window_extent(renderer).x1 < bar.get_window_extent(renderer).x0
    assert len({round(axes.get_position().y1, 6) for axes in shown}) == 1
    steps = [np.ptp(axes.transData.transform([(0, 0), (1, 1)]), axis=0) for axes in shown]
    assert np.allclose(steps, steps[0])
    assert len({axes.collections[0].get_clim() for axes in shown}) == 1


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


ASKED, ANSWERED = ["where", "is", "it"], ["wo", "ist"]
HEADS = np.random.default_rng(1).dirichlet(np.ones(3), (2, 4, 2))  # (L, H, T, S)


def test_a_sheet_has_a_panel_for_every_head_with_one_scale(tmp_path: Path) -> None:
    figure = build_sheet_figure(HEADS, AxisLabels(ASKED, ANSWERED, "source", "translation"), ("where is it", "wo ist"))
    *panels, scale = figure.axes
    assert [axes.get_xlabel() for axes in panels] == [f"layer {n // 4 + 1}, head {n % 4 + 1}" for n in range(8)]
    limits = {axes.collections[0].get_clim() for axes in panels}
    assert len(limits) == 1 and scale.get_ylabel() == "attention weight"
    first, second = panels[0].collections[0].get_array(), HEADS[0, 0].T
    np.testing.assert_allclose(np.asarray(first).reshape(3, 2), second)


def test_only_the_panels_at_the_edge_have_tokens(tmp_path: Path) -> None:
    panel = Panel(HEADS, AxisLabels(ASKED, ANSWERED), ("a", "b"))
    assert draw_head_sheet(panel, tmp_path / "h.svg") == ""
    text = (tmp_path / "h.svg").read_text(encoding="utf-8")
    assert (text.count(">where<"), text.count(">ist<"), text.count("layer 2, head")) == (2, 4, 4)
    with pytest.raises(OptionError):
        draw_head_sheet(panel._replace(labels=AxisLabels(ASKED[:2], ANSWERED)), tmp_path / "h.svg")
