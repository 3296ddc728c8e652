import json
from pathlib import Path

import pytest

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.visuals.curves import (
    build_curves_figure,
    draw_curves,
    format_curves,
    read_history,
    render_curves_svg,
    select_evenly,
)


def record(epoch: int) -> dict[str, object]:
    return {
        "epoch": epoch,
        "loss": 5 / epoch,
        "dev_loss": 4 / epoch,
        "bleu": min(3.0 * epoch, 99.0),
        "chrf": min(10.0 * epoch, 99.0),
    } | {"learning_rate": 0.001, "best": True}


def write_history(directory: Path, epochs: int) -> None:
    lines = "".join(json.dumps(record(epoch)) + "\n" for epoch in range(1, epochs + 1))
    (directory / "history.jsonl").write_text(lines)


@pytest.mark.parametrize("epochs", [1, 200])
def test_any_number_of_epochs_is_drawn(tmp_path: Path, epochs: int) -> None:
    write_history(tmp_path, epochs)
    history = {"model": read_history(tmp_path)}
    assert draw_curves(history, tmp_path / "c.png") == ""
    assert (tmp_path / "c.png").stat().st_size > 5000
    svg = render_curves_svg(history)
    assert svg.startswith("<svg") and "learning rate" in svg


def test_the_lines_tell_first_and_last_value(tmp_path: Path) -> None:
    write_history(tmp_path, 3)
    lines = format_curves({"model": read_history(tmp_path)})
    assert lines[0] == "3 epochs, the best is epoch 3"
    assert lines[3].startswith("dev BLEU") and "▁▅█" in lines[3] and lines[3].endswith("3 -> 9")


@pytest.mark.parametrize("width", [40, 60, 300])
def test_many_epochs_fit_any_width_and_keep_first_and_last(tmp_path: Path, width: int) -> None:
    write_history(tmp_path, 200)
    lines = format_curves({"model": read_history(tmp_path)}, width)
    assert max(map(len, lines)) <= width
    assert lines[3][14:].partition("   ")[0].startswith("▁") and "█   3 -> " in lines[3]
    assert select_evenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 4) == [0, 3, 6, 9]


def test_what_is_no_history_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_history(tmp_path)
    write_history(tmp_path, 1)
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write('{"epoch": 2}\n')
    with pytest.raises(DataError, match="line 2"):
        read_history(tmp_path)
    records = (tmp_path / "history.jsonl").read_text().splitlines()
    (tmp_path / "history.jsonl").write_text(records[0].replace('"epoch"', '"no"') + "\n")
    with pytest.raises(DataError, match="line 1"):
        read_history(tmp_path)
    (tmp_path / "history.jsonl").write_text("")
    with pytest.raises(NotFoundError, match="empty"):
        read_history(tmp_path)


def test_several_models_have_a_line_each_and_their_best_epochs_are_marked(tmp_path: Path) -> None:
    write_history(tmp_path, 3)
    history = read_history(tmp_path)
    worse = [{**record, "best": record["epoch"] == 2} for record in history]
    svg = render_curves_svg({"a & b": history, "models/" + "long" * 20: worse})
    assert "a &amp; b" in svg and "best epoch" in svg and "faint: training" in svg
    lines = format_curves({"one": history, "two": worse})
    assert "two: 3 epochs, the best is epoch 2" in lines and lines.count("") == 1


def test_the_best_epoch_is_labelled_with_its_value(tmp_path: Path) -> None:
    write_history(tmp_path, 3)
    svg = render_curves_svg({"m": read_history(tmp_path)})
    assert "best: epoch 3, 9.0" in svg and "best: epoch 3, 1.33" in svg


def test_each_curve_has_the_value_of_each_epoch_at_that_epoch(tmp_path: Path) -> None:
    write_history(tmp_path, 4)
    history = read_history(tmp_path)[1:]  # as of a model whose first epoch was not kept in the history
    for names in ("m", "mn"):
        figure = build_curves_figure(dict.fromkeys(names, history))
        curves = [list(zip(*line.get_data(), strict=True)) for axes in figure.axes for line in axes.lines]
        for key in ("loss", "dev_loss", "bleu", "chrf", "learning_rate"):
            assert curves.count([(record["epoch"], record[key]) for record in history]) == len(names)
