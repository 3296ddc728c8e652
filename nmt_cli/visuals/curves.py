"""Learning curves: loss, BLEU, chrF and learning rate by epoch, from the history of a model.

Reads only a model's `history.jsonl`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

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
from nmt_cli.visuals.heatmap import make_colour_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt_cli.corpus.statistics import CorpusStatistics, LanguageStatistics

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
        raise NotFoundError(f"there is no {path}", hint="train a model first, or name its directory with --model")
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
            f"{path} is empty: no epoch has finished yet", hint="wait for the first epoch, or start training: nmt train"
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
    """Plots the curves of one model; for losses, the training curve too."""
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
    """Writes the number and value of the best epoch beside its dotted line, on the side with more room.

    To avoid the curve, it is at the bottom or, for losses, which fall, below the names of the curves.
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
    """Plots one curve for each model, with its training loss as a faint one; a ring marks its best epoch."""
    is_loss = panel.key == "dev_loss"
    style_axes(axes, "loss (nats per target token; faint: training)" if is_loss else panel.title)
    for (name, history), (colour, dashes, marker) in zip(histories.items(), cycle(LINE_STYLES), strict=False):
        if is_loss:
            plot_values(axes, history, "loss", color=colour, linestyle=dashes, alpha=0.35)
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


# Shows lengths and frequencies of a corpus as a picture or as lines of text. Takes numbers; must not know files.

Corpora: TypeAlias = "Mapping[str, CorpusStatistics]"  # by their directories
Sides: TypeAlias = "Mapping[str, LanguageStatistics]"  # by their names in the legend
QUANTILES = (0.5, 0.95, 1.0)
LEGEND_LINE = 0.1  # share of the height of the axes that a line of the legend takes


def draw_statistics(corpora: Corpora, path: Path) -> str:
    """Writes the statistics to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, "".join(corpora), lambda: build_statistics_figure(corpora), title="corpus")


def build_statistics_figure(corpora: Corpora) -> Figure:
    """Draws four panels: lengths in words and subwords, word frequencies, and the lengths of pairs.

    For several corpora, draws the lengths and frequencies of each side, with a line per corpus.
    """
    figure = create_figure(9.2, 6.6)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.24)
    if len(corpora) == 1:
        (statistics,) = corpora.values()
        sides = name_sides((statistics.source, statistics.target))
        plot_lengths(panels[0, 0], sides, "words", "words of a training sentence")
        plot_lengths(panels[0, 1], sides, "pieces", "subwords of a training sentence")
        plot_frequencies(panels[1, 0], sides, "frequency of words by rank")
        plot_length_pairs(figure, panels[1, 1], statistics)
        return figure
    for row, side in enumerate(("source", "target")):
        languages = {name: getattr(statistics, side) for name, statistics in corpora.items()}
        plot_lengths(panels[row, 0], languages, "words", f"words of a {side} sentence in training")
        plot_frequencies(panels[row, 1], languages, f"frequency of {side} words by rank")
    return figure


def name_sides(sides: Sequence[LanguageStatistics]) -> Sides:
    """Returns the sides by language; both languages may be the same."""
    source, target = sides
    if source.language == target.language:
        return {f"{source.language}, source": source, f"{target.language}, target": target}
    return {side.language: side for side in sides}


def plot_lengths(axes: Any, sides: Sides, unit: str, title: str) -> None:
    """Plots the lengths of each side, in `unit` (words or pieces), as steps.

    The longest hundredth is left out, and a label says so.
    """
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    style_axes(axes, title)
    top = max(1, int(max(np.quantile(getattr(side, unit), 0.99) for side in sides.values())))
    for (name, side), (colour, dashes, _) in zip(sides.items(), cycle(LINE_STYLES), strict=False):
        lengths = getattr(side, unit)
        counts = np.bincount(np.asarray(lengths, dtype=int), minlength=top + 1)[: top + 1]
        label = f"{shorten_path(name)}, median {np.median(lengths):.0f}"
        shares = 100 * counts / max(1, len(lengths))
        axes.step(range(top + 1), shares, where="mid", color=colour, linestyle=dashes, label=label)
    axes.set_ylim(0, axes.get_ylim()[1] * (1 + LEGEND_LINE * len(sides)))  # with room for the legend
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    label_axis(axes, "% of sentences", "the longest 1 % are not shown")
    add_side_legend(axes)


def plot_frequencies(axes: Any, sides: Sides, title: str) -> None:
    """Plots the frequency of words by rank (Zipf)."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    style_axes(axes, title)
    for (name, side), (colour, dashes, _) in zip(sides.items(), cycle(LINE_STYLES), strict=False):
        words = format_count(len(side.frequencies), "word")
        label = f"{shorten_path(name)}, {words}, {side.once_share:.0%} once"
        ranks = range(1, len(side.frequencies) + 1)
        axes.plot(ranks, side.frequencies, color=colour, linestyle=dashes, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(10))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlim(left=1)
    axes.set_ylim(1, axes.get_ylim()[1] ** (1 + LEGEND_LINE * len(sides)))
    label_axis(axes, "occurrences", "rank")
    add_side_legend(axes)


def plot_length_pairs(figure: Figure, axes: Any, statistics: CorpusStatistics) -> None:
    """Plots the lengths of both sides against each other: the darker, the more pairs, with a scale."""
    import numpy as np
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

    style_axes(axes, "words of both sides")
    source, target = statistics.source.words, statistics.target.words
    top = max(2, int(max(np.quantile(source, 0.99), np.quantile(target, 0.99))))
    bins = np.arange(top + 2) - 0.5
    counts = np.histogram2d(source, target, bins=[bins, bins])[0]
    norm = LogNorm(0.5, max(2, counts.max()))
    mesh = axes.pcolormesh(bins, bins, np.ma.masked_equal(counts.T, 0), cmap=make_colour_map(), norm=norm)
    axes.plot([0, top], [0, top], color=FAINT, linewidth=0.8, linestyle=":", label="equal length")
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    label_axis(axes, f"{statistics.target.language} words", f"{statistics.source.language} words")
    axes.legend(loc="lower right", frameon=False, fontsize=FONT_SIZE - 2, labelcolor=FAINT)
    scale = figure.colorbar(mesh, ax=axes, fraction=0.05, pad=0.03, ticks=LogLocator(10))
    scale.ax.yaxis.set_minor_locator(NullLocator())
    scale.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    scale.outline.set_visible(False)
    scale.ax.set_ylim(bottom=1)
    scale.ax.tick_params(length=0, labelsize=FONT_SIZE - 2, labelcolor=FAINT)
    scale.set_label("pairs", fontsize=FONT_SIZE - 1, color=FAINT)


def label_axis(axes: Any, down: str, across: str) -> None:
    axes.set_ylabel(down, fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_xlabel(across, fontsize=FONT_SIZE - 1, color=FAINT)


def add_side_legend(axes: Any) -> None:
    """Names the lines at the top right, where the axes have room."""
    legend = axes.legend(loc="upper right", frameon=False, fontsize=FONT_SIZE - 1, labelcolor=INK, handlelength=2.4)
    for text in legend.get_texts():
        text.set_parse_math(False)


def format_several(corpora: Corpora) -> list[str]:
    """Returns the statistics of each corpus as lines for a terminal, below its name if there are several."""
    lines: list[str] = []
    for name, statistics in corpora.items():
        lines += [*(["", f"{name}:"] if len(corpora) > 1 else []), *format_statistics(statistics)]
    return lines[len(corpora) > 1 :]


def format_statistics(statistics: CorpusStatistics) -> list[str]:
    """Returns the statistics as lines for a terminal, one column for each language."""
    import numpy as np

    splits = "   ".join(f"{split} {number:,}" for split, number in statistics.splits.items())
    lines = [
        f"sentence pairs      {splits}",
        "",
        f"{'':<28}{statistics.source.language:>14}{statistics.target.language:>14}",
    ]
    sides = (statistics.source, statistics.target)
    for title, unit in (("words", "words"), ("subwords", "pieces")):
        for quantile, name in zip(QUANTILES, ("median", "95 % have at most", "longest"), strict=True):
            lengths = [float(np.quantile(getattr(side, unit), quantile)) for side in sides]
            lines.append(format_row(f"{title}, {name}", [f"{length:,.0f}" for length in lengths]))
    lines.append(format_row("distinct words", [f"{len(side.frequencies):,}" for side in sides]))
    lines.append(format_row("... that occur once", [f"{side.once_share:.0%}" for side in sides]))
    lines.append(format_row("test words unseen", [f"{side.unseen_share:.1%}" for side in sides]))
    for side in sides:
        lines.append(f"commonest {side.language}: " + ", ".join(f"{word} {count:,}" for word, count in side.commonest))
    return lines


def format_row(name: str, values: list[str]) -> str:
    """Returns a line of the table: a name and one value for each language."""
    return f"{name:<28}" + "".join(f"{value:>14}" for value in values)
