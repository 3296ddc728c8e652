"""Learning curves: loss, BLEU, chrF and learning rate by epoch, from the history of a model.

Reads `history.jsonl` and nothing else of a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.visuals.canvas import (
    BLUE,
    FAINT,
    FONT_SIZE,
    ORANGE,
    inside_label,
    new_figure,
    plain_axes,
    svg_text,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

History = Sequence[Mapping[str, Any]]
NEEDED = ("epoch", "loss", "dev_loss", "bleu", "chrf", "learning_rate")
BARS = "▁▂▃▄▅▆▇█"


def read_history(directory: Path) -> list[dict[str, Any]]:
    """The records of a model's epochs, in order. Raises NotFoundError where there are none, DataError for a bad one."""
    path = directory / "history.jsonl"
    if not path.is_file():
        raise NotFoundError(f"there is no {path}", hint="train a model first, or say where it is with --model")
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            numbers = {name: float(record[name]) for name in NEEDED}
            records.append({**record, **numbers, "epoch": int(record["epoch"])})
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}, line {number}: is no record of an epoch ({error})") from error
    if not records:
        raise NotFoundError(f"{path} is empty: no epoch has ended yet")
    return records


def draw_curves(history: History, path: Path) -> str:
    """Writes the curves to a PNG or SVG file."""
    return write_figure(path, "", lambda: curves_figure(history), title="learning curves")


def curves_svg(history: History) -> str:
    """The curves as an SVG element for an HTML page."""
    return svg_text("", lambda: curves_figure(history))


def curves_figure(history: History) -> Figure:
    figure = new_figure(8.4, 5.2)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.22)
    epochs = [record["epoch"] for record in history]
    best = max((record["epoch"] for record in history if record.get("best")), default=None)
    titles = ("loss (nats per target token)", "development BLEU (greedy)", "development chrF (greedy)", "learning rate")
    names = (("loss", "dev_loss"), ("bleu",), ("chrf",), ("learning_rate",))
    for axes, title, keys in zip(panels.flat, titles, names, strict=True):
        plain_axes(axes, title)
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
    label_losses(panels.flat[0], history)
    return figure


def label_epochs(axes: Any, epochs: Sequence[float]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.margins(x=0.06)
    axes.set_xlabel("epoch", fontsize=FONT_SIZE - 1, color=FAINT)
    if len(epochs) == 1:
        axes.set_xlim(epochs[0] - 1, epochs[0] + 1)


def label_losses(axes: Any, history: History) -> None:
    """The two lines by name, in their colours: no legend box over the data."""
    for place, colour, name in ((0.92, BLUE, "training"), (0.81, ORANGE, "development (dashed)")):
        inside_label(axes, place, colour, name)


def curve_lines(history: History) -> list[str]:
    """The curves for a terminal: a spark line each, with its first and last value."""
    lines = [f"{len(history)} epochs" if len(history) > 1 else "1 epoch"]
    for key, name in zip(NEEDED[1:], ("loss", "dev loss", "dev BLEU", "dev chrF", "learning rate"), strict=True):
        values = [float(record[key]) for record in history]
        lines.append(f"{name:<14}{spark(values)}   {values[0]:.4g} -> {values[-1]:.4g}")
    return lines


def spark(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)
