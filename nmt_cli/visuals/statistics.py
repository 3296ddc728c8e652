"""Shows lengths and frequencies of a corpus as a picture or as lines of text. Takes numbers; must not know files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import FAINT, FONT_SIZE, INK, create_figure, style_axes, write_figure
from nmt_cli.visuals.curves import LINE_STYLES, shorten_path
from nmt_cli.visuals.heatmap import make_colour_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt_cli.corpus.statistics import CorpusStatistics, LanguageStatistics

Corpora: TypeAlias = "Mapping[str, CorpusStatistics]"  # by their directories
Sides: TypeAlias = "Mapping[str, LanguageStatistics]"  # by their names in the legend
QUANTILES = (0.5, 0.95, 1.0)
LEGEND_LINE = 0.1  # share of the height of the axes that a line of the legend takes


def draw_statistics(corpora: Corpora, path: Path) -> str:
    """Writes the statistics to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, "".join(corpora), lambda: build_statistics_figure(corpora), title="corpus")


def build_statistics_figure(corpora: Corpora) -> Figure:
    """Draws four panels: lengths in words and subwords, word frequencies, and the lengths of pairs.

    For several corpora: lengths and frequencies of either side, a line per corpus.
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
    """Returns the statistics of each corpus as lines for a terminal, below its name where there are several."""
    if len(corpora) == 1:
        return [line for statistics in corpora.values() for line in format_statistics(statistics)]
    lines = [line for name, statistics in corpora.items() for line in ("", f"{name}:", *format_statistics(statistics))]
    return lines[1:]


def format_statistics(statistics: CorpusStatistics) -> list[str]:
    """Returns the statistics as lines for a terminal, one column for each language."""
    splits = "   ".join(f"{split} {number:,}" for split, number in statistics.splits.items())
    lines = [
        f"sentence pairs      {splits}",
        "",
        f"{'':<24}{statistics.source.language:>14}{statistics.target.language:>14}",
    ]
    sides = (statistics.source, statistics.target)
    for title, unit in (("words", "words"), ("subwords", "pieces")):
        for quantile, name in zip(QUANTILES, ("median", "95 % have at most", "longest"), strict=True):
            lines.append(
                format_row(f"{title}, {name}", [f"{compute_quantile(side, unit, quantile):,.0f}" for side in sides])
            )
    lines.append(format_row("distinct words", [f"{len(side.frequencies):,}" for side in sides]))
    lines.append(format_row("... that occur once", [f"{side.once_share:.0%}" for side in sides]))
    lines.append(format_row("test words unseen", [f"{side.unseen_share:.1%}" for side in sides]))
    for side in sides:
        lines.append(f"commonest {side.language}: " + ", ".join(f"{word} {count:,}" for word, count in side.commonest))
    return lines


def format_row(name: str, values: list[str]) -> str:
    """Returns a line of the table: a name and one value for each language."""
    return f"{name:<24}" + "".join(f"{value:>14}" for value in values)


def compute_quantile(side: LanguageStatistics, unit: str, quantile: float) -> float:
    """Returns a quantile of the lengths of a side in `unit`: words or pieces."""
    import numpy as np

    return float(np.quantile(getattr(side, unit), quantile))
