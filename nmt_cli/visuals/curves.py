"""Learning curves: loss, BLEU, chrF and learning rate by epoch, from the history of a model.

Reads only `history.jsonl` of a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from nmt_cli.errors import DataError, NotFoundError
from nmt_cli.records import Count, Range, RecordError, build, parse_json
from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import (
    BLUE,
    FAINT,
    FONT_SIZE,
    INK,
    ORANGE,
    create_figure,
    render_svg,
    style_axes,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

History = Sequence[Mapping[str, Any]]
Histories = Mapping[str, History]  # by the name of the model


class EpochEntries(NamedTuple):
    """The drawn entries of an epoch's record."""

    epoch: Count
    loss: Annotated[float, Range(0, 10**9)]
    dev_loss: Annotated[float, Range(0, 10**9)]
    bleu: Annotated[float, Range(0, 10**6)]
    chrf: Annotated[float, Range(0, 10**6)]
    learning_rate: Annotated[float, Range(0, 10**3)]


BARS = "▁▂▃▄▅▆▇█"
TITLE_WIDTH, SHORTEST_LINE = 14, 8  # columns
SPARKLINES = ("loss", "dev loss", "dev BLEU", "dev chrF", "learning rate")
LONGEST_NAME = 40  # characters of a model in the legend
# Colours of Okabe and Ito, which every kind of eye tells apart; dashes and markers tell them apart in grey.
LINE_STYLES = (
    *(("#0072b2", "-", "o"), ("#d55e00", "--", "s"), ("#009e73", "-.", "^"), ("#cc79a7", ":", "D")),
    *(("#56b4e9", "-", "v"), ("#e69f00", "--", "P"), ("#000000", "-.", "X")),
)


class CurvePanel(NamedTuple):
    key: str  # of a record of the history
    title: str
    digits: int
    is_validated: bool  # whether its values are of the development set


PANELS = (
    CurvePanel("dev_loss", "loss (nats per target token)", 2, True),
    CurvePanel("bleu", "development BLEU (greedy)", 1, True),
    CurvePanel("chrf", "development chrF (greedy)", 1, True),
    CurvePanel("learning_rate", "learning rate", 4, False),
)


def read_history(directory: Path) -> list[dict[str, Any]]:
    """Returns the records of a model's epochs, in order.

    Raises NotFoundError if there are none, and DataError, naming the line, for an invalid one.
    """
    path = directory / "history.jsonl"
    if not path.is_file():
        raise NotFoundError(f"there is no {path}", hint="train a model first, or say where it is with --model")
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = build(dict, parse_json(line))
            chosen = {name: record[name] for name in EpochEntries._fields if name in record}
            records.append({**record, **build(EpochEntries, chosen)._asdict()})
        except RecordError as error:
            raise DataError(f"{path}, line {number} is damaged: {error}", hint="remove this line") from error
    if not records:
        raise NotFoundError(
            f"{path} is empty: no epoch has finished yet", hint="wait for the first, or train: nmt train"
        )
    return records


def draw_curves(histories: Histories, path: Path) -> str:
    """Writes the curves to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, "".join(histories), lambda: build_curves_figure(histories), title="learning curves")


def render_curves_svg(histories: Histories) -> str:
    """Returns the curves as an SVG element for an HTML page."""
    return render_svg("".join(histories), lambda: build_curves_figure(histories))


def build_curves_figure(histories: Histories) -> Figure:
    """Draws four panels, one per unit, with the best epoch labelled; with several models, a line for each."""
    figure = create_figure(8.4, 5.2)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.22)
    if len(histories) == 1:
        (history,) = histories.values()
        for axes, panel in zip(panels.flat, PANELS, strict=True):
            plot_history(axes, panel, history)
        label_losses(panels.flat[0])
        return figure
    for axes, panel in zip(panels.flat, PANELS, strict=True):
        plot_histories(axes, panel, histories)
    add_legend(figure, panels.flat[0], len(histories))
    return figure


def plot_history(axes: Any, panel: CurvePanel, history: History) -> None:
    """Plots the curves of one model; for losses, also that of training."""
    style_axes(axes, panel.title)
    keys = ("loss", "dev_loss") if panel.key == "dev_loss" else (panel.key,)
    for key, colour, dashes in zip(keys, (BLUE, ORANGE), ("-", "--"), strict=False):
        plot_values(axes, history, key, color=colour, linestyle=dashes, marker="o")
    finish_panel(axes, panel, [history])
    best = find_best_epoch(history)
    if best is not None and panel.is_validated:
        axes.axvline(best["epoch"], color=FAINT, linewidth=0.8, linestyle=":")
        label_best(axes, panel, best, history)


def plot_values(axes: Any, history: History, key: str, **style: Any) -> None:
    epochs = [record["epoch"] for record in history]
    axes.plot(epochs, [record[key] for record in history], markersize=4, clip_on=False, **style)


def find_best_epoch(history: History) -> Mapping[str, Any] | None:
    """Returns the record of the epoch whose weights were kept; None if no epoch is marked as the best."""
    return max((record for record in history if record.get("best")), key=lambda record: record["epoch"], default=None)


def label_best(axes: Any, panel: CurvePanel, best: Mapping[str, Any], history: History) -> None:
    """Writes number and value of the best epoch beside its dotted line, on the side with more room.

    It avoids the curve: at the bottom, but below the names of the falling losses.
    """
    epochs = [record["epoch"] for record in history]
    right = best["epoch"] - epochs[0] <= epochs[-1] - best["epoch"]
    axes.annotate(
        f"best: epoch {best['epoch']}, {best[panel.key]:.{panel.digits}f}",
        (best["epoch"], 0.68 if panel.key == "dev_loss" else 0.05),
        xycoords=("data", "axes fraction"),
        xytext=(5 if right else -5, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        fontsize=FONT_SIZE - 1,
        color=FAINT,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def plot_histories(axes: Any, panel: CurvePanel, histories: Histories) -> None:
    """Plots one curve for each model; a ring marks its best epoch."""
    style_axes(axes, f"development {panel.title}" if panel.key == "dev_loss" else panel.title)
    for (name, history), (colour, dashes, marker) in zip(histories.items(), cycle(LINE_STYLES), strict=False):
        plot_values(axes, history, panel.key, color=colour, linestyle=dashes, marker=marker, label=name)
        best = find_best_epoch(history)
        if best is not None and panel.is_validated:
            axes.plot(
                best["epoch"], best[panel.key], "o", markersize=9, markerfacecolor="none", color=colour, clip_on=False
            )
    finish_panel(axes, panel, list(histories.values()))


def finish_panel(axes: Any, panel: CurvePanel, histories: Sequence[History]) -> None:
    label_epochs(axes, sorted({record["epoch"] for history in histories for record in history}))
    if panel.key != "dev_loss":
        axes.set_ylim(bottom=0)


def add_legend(figure: Figure, axes: Any, count: int) -> None:
    """Names the models above the panels."""
    handles, names = axes.get_legend_handles_labels()
    from matplotlib.lines import Line2D

    handles.append(Line2D([], [], color=FAINT, marker="o", markersize=9, markerfacecolor="none", linestyle="none"))
    legend = figure.legend(
        handles,
        [shorten_path(name) for name in names] + ["best epoch"],
        loc="lower left",
        bbox_to_anchor=(0.11, 0.94),
        ncols=min(3, count + 1),
        frameon=False,
        fontsize=FONT_SIZE - 1,
        labelcolor=INK,
        handlelength=3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def shorten_path(name: str) -> str:
    """Returns the end of a long name, which tells models apart."""
    return name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"


def label_epochs(axes: Any, epochs: Sequence[float]) -> None:
    """Labels the horizontal axis with whole epochs; a single one is centred."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.margins(x=0.06)
    axes.set_xlabel("epoch", fontsize=FONT_SIZE - 1, color=FAINT)
    if len(epochs) == 1:
        axes.set_xlim(epochs[0] - 1, epochs[0] + 1)


def label_losses(axes: Any) -> None:
    """Names the two curves in their colours, at the right: no legend box covers the data."""
    frame = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    style = {"transform": axes.transAxes, "ha": "right", "fontsize": FONT_SIZE - 1, "bbox": frame}
    axes.text(0.98, 0.92, "training", color=BLUE, **style)
    axes.text(0.98, 0.81, "development (dashed)", color=ORANGE, **style)


def format_curves(histories: Histories, width: int = 80) -> list[str]:
    """Returns the curves as lines of `width` columns: for each model a sparkline per curve, with its end values."""
    lines: list[str] = []
    for name, history in histories.items():
        best = find_best_epoch(history)
        count = format_count(len(history), "epoch") + (f", the best is epoch {best['epoch']}" if best else "")
        lines += ["", f"{name}: {count}"] if len(histories) > 1 else ["", count]
        for key, title in zip(EpochEntries._fields[1:], SPARKLINES, strict=True):
            values = [float(record[key]) for record in history]
            ends = f"   {values[0]:.4g} -> {values[-1]:.4g}"
            shown = select_evenly(values, max(SHORTEST_LINE, width - TITLE_WIDTH - len(ends)))
            lines.append(f"{title:<{TITLE_WIDTH}}{draw_sparkline(shown)}{ends}")
    return lines[1:]


def select_evenly(values: Sequence[float], count: int) -> list[float]:
    """Returns at most `count` of the values, 2 or more: the first, the last, and others evenly spread between them."""
    if len(values) <= count:
        return list(values)
    return [values[round(index * (len(values) - 1) / (count - 1))] for index in range(count)]


def draw_sparkline(values: Sequence[float]) -> str:
    """Returns one block character for each value, from the lowest to the highest of them."""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)
