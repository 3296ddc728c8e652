"""Learning curves: loss, BLEU, chrF and learning rate by epoch, from the history of a model.

Reads only `history.jsonl` of a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import (
    BLUE,
    FAINT,
    FONT_SIZE,
    ORANGE,
    add_inside_label,
    create_figure,
    render_svg,
    style_axes,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

History = Sequence[Mapping[str, Any]]
REQUIRED_KEYS = ("epoch", "loss", "dev_loss", "bleu", "chrf", "learning_rate")
BARS = "▁▂▃▄▅▆▇█"


def read_history(directory: Path) -> list[dict[str, Any]]:
    """Returns the records of a model's epochs, in order.

    Raises NotFoundError if there are none, and DataError, with its line, for a bad one.
    """
    path = directory / "history.jsonl"
    if not path.is_file():
        raise NotFoundError(f"there is no {path}", hint="train a model first, or say where it is with --model")
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            numbers = {name: float(record[name]) for name in REQUIRED_KEYS}
            records.append({**record, **numbers, "epoch": int(record["epoch"])})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}, line {number}: not the record of an epoch ({error})") from error
    if not records:
        raise NotFoundError(f"{path} is empty: no epoch has finished yet")
    return records


def draw_curves(history: History, path: Path) -> str:
    """Writes the curves to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, "", lambda: build_curves_figure(history), title="learning curves")


def render_curves_svg(history: History) -> str:
    """Returns the curves as an SVG element for an HTML page."""
    return render_svg("", lambda: build_curves_figure(history))


def build_curves_figure(history: History) -> Figure:
    """Draws four panels, one for each unit; a dotted line marks the best epoch."""
    figure = create_figure(8.4, 5.2)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.22)
    epochs = [record["epoch"] for record in history]
    best = max((record["epoch"] for record in history if record.get("best")), default=None)
    titles = ("loss (nats per target token)", "development BLEU (greedy)", "development chrF (greedy)", "learning rate")
    names = (("loss", "dev_loss"), ("bleu",), ("chrf",), ("learning_rate",))
    for axes, title, keys in zip(panels.flat, titles, names, strict=True):
        style_axes(axes, title)
        for key, colour, style in zip(keys, (BLUE, ORANGE), ("-", "--"), strict=False):
            axes.plot(
                epochs,
                [record[key] for record in history],
                style,
                color=colour,
                marker="o",
                markersize=4,
                clip_on=False,
            )
        label_epochs(axes, epochs)
        if best is not None and keys[0] in ("loss", "bleu", "chrf"):
            axes.axvline(best, color=FAINT, linewidth=0.8, linestyle=":")
        if keys[0] != "loss":
            axes.set_ylim(bottom=0)
    label_losses(panels.flat[0])
    return figure


def label_epochs(axes: Any, epochs: Sequence[float]) -> None:
    """Labels the horizontal axis with whole epochs; a single one stands in the middle."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.margins(x=0.06)
    axes.set_xlabel("epoch", fontsize=FONT_SIZE - 1, color=FAINT)
    if len(epochs) == 1:
        axes.set_xlim(epochs[0] - 1, epochs[0] + 1)


def label_losses(axes: Any) -> None:
    """Names the two curves in their colours: no legend box covers the data."""
    for height, colour, name in ((0.92, BLUE, "training"), (0.81, ORANGE, "development (dashed)")):
        add_inside_label(axes, height, colour, name)


def format_curves(history: History) -> list[str]:
    """Returns the curves as lines for a terminal: a sparkline each, with its first and last value."""
    lines = [format_count(len(history), "epoch")]
    for key, name in zip(REQUIRED_KEYS[1:], ("loss", "dev loss", "dev BLEU", "dev chrF", "learning rate"), strict=True):
        values = [float(record[key]) for record in history]
        lines.append(f"{name:<14}{draw_sparkline(values)}   {values[0]:.4g} -> {values[-1]:.4g}")
    return lines


def draw_sparkline(values: Sequence[float]) -> str:
    """Returns one block character for each value, from the lowest to the highest of them."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)
