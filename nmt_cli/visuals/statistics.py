"""Shows lengths and frequencies of a corpus as a picture or as lines of text. Takes numbers; must not know files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.text.wrapping import format_count
from nmt_cli.visuals.canvas import (
    BLUE,
    FAINT,
    FONT_SIZE,
    ORANGE,
    add_inside_label,
    create_figure,
    style_axes,
    write_figure,
)
from nmt_cli.visuals.heatmap import make_colour_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt_cli.corpus.statistics import CorpusStatistics, LanguageStatistics

QUANTILES = (0.5, 0.95, 1.0)
STYLES = ((BLUE, "-", 0.92), (ORANGE, "--", 0.82))  # colour, dashes and height of the label of each side


def draw_statistics(statistics: CorpusStatistics, path: Path) -> str:
    """Writes the statistics to a PNG or SVG file; returns the characters that no installed font can show."""
    return write_figure(path, "", lambda: build_statistics_figure(statistics), title="corpus")


def build_statistics_figure(statistics: CorpusStatistics) -> Figure:
    """Draws four panels: lengths in words and subwords, frequencies of words, and the lengths of pairs."""
    figure = create_figure(9.2, 6.6)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.24)
    plot_lengths(panels[0, 0], statistics, "words", "words of a training sentence")
    plot_lengths(panels[0, 1], statistics, "pieces", "subwords of a training sentence")
    plot_frequencies(panels[1, 0], statistics)
    plot_length_pairs(panels[1, 1], statistics)
    return figure


def plot_lengths(axes: Any, statistics: CorpusStatistics, unit: str, title: str) -> None:
    """Plots the lengths of both languages, in `unit` (words or pieces), as steps.

    The longest hundredth is left out, and a label says so.
    """
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    style_axes(axes, title)
    sides = (statistics.source, statistics.target)
    lengths_by_side = [getattr(side, unit) for side in sides]
    top = max(1, int(max(np.quantile(lengths, 0.99) for lengths in lengths_by_side)))
    for lengths, side, (colour, dashes, height) in zip(lengths_by_side, sides, STYLES, strict=True):
        counts = np.bincount(np.asarray(lengths, dtype=int), minlength=top + 1)[: top + 1]
        axes.step(range(top + 1), 100 * counts / max(1, len(lengths)), where="mid", color=colour, linestyle=dashes)
        add_inside_label(axes, height, colour, f"{side.language}, median {np.median(lengths):.0f}")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_ylabel("% of sentences", fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_xlabel("the longest 1 % are not shown", fontsize=FONT_SIZE - 2, color=FAINT)


def plot_frequencies(axes: Any, statistics: CorpusStatistics) -> None:
    """Plots how often the word of each rank occurs (Zipf)."""
    from matplotlib.ticker import StrMethodFormatter

    style_axes(axes, "frequency of words by rank")
    for side, (colour, dashes, height) in zip((statistics.source, statistics.target), STYLES, strict=True):
        axes.plot(range(1, len(side.frequencies) + 1), side.frequencies, color=colour, linestyle=dashes)
        name = f"{side.language}, {format_count(len(side.frequencies), 'word')}, {side.once_share:.0%} once"
        add_inside_label(axes, height, colour, name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("rank", fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_ylabel("occurrences", fontsize=FONT_SIZE - 1, color=FAINT)


def plot_length_pairs(axes: Any, statistics: CorpusStatistics) -> None:
    """Plots the lengths of both sides against each other: the darker, the more pairs."""
    import numpy as np
    from matplotlib.colors import LogNorm

    style_axes(axes, "words of both sides")
    source, target = statistics.source.words, statistics.target.words
    top = max(2, int(max(np.quantile(source, 0.99), np.quantile(target, 0.99))))
    bins = np.arange(top + 2) - 0.5
    counts = np.histogram2d(source, target, bins=[bins, bins])[0]
    axes.pcolormesh(
        bins, bins, np.ma.masked_equal(counts.T, 0), cmap=make_colour_map(), norm=LogNorm(0.5, max(2, counts.max()))
    )
    axes.plot([0, top], [0, top], color=FAINT, linewidth=0.8, linestyle=":")
    axes.set_aspect("equal")
    axes.set_xlabel(statistics.source.language, fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_ylabel(statistics.target.language, fontsize=FONT_SIZE - 1, color=FAINT)


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
