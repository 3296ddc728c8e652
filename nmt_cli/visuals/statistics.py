"""Lengths and frequencies of a corpus, as a picture or as lines of text. Takes numbers; must not know files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.visuals.canvas import BLUE, FAINT, FONT_SIZE, ORANGE, inside_label, new_figure, plain_axes, write_figure
from nmt_cli.visuals.heatmap import colour_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nmt_cli.corpus.statistics import CorpusStatistics, Side

QUANTILES = (0.5, 0.95, 1.0)


def draw_statistics(told: CorpusStatistics, path: Path) -> str:
    return write_figure(path, "", lambda: statistics_figure(told), title="corpus")


def statistics_figure(told: CorpusStatistics) -> Figure:
    figure = new_figure(9.2, 6.6)
    panels = figure.subplots(2, 2)
    figure.subplots_adjust(hspace=0.42, wspace=0.24)
    lengths(panels[0, 0], told, "words", "words of a training sentence")
    lengths(panels[0, 1], told, "pieces", "subwords of a training sentence")
    frequencies(panels[1, 0], told)
    ratio(panels[1, 1], told)
    return figure


def lengths(axes: Any, told: CorpusStatistics, what: str, title: str) -> None:
    """Both languages' lengths as steps; the longest hundredth is cut off, and said to be."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    plain_axes(axes, title)
    values = [getattr(side, what) for side in (told.source, told.target)]
    top = max(1, int(max(np.quantile(one, 0.99) for one in values)))
    for one, side, colour, dashes, place in zip(
        values, (told.source, told.target), (BLUE, ORANGE), ("-", "--"), (0.92, 0.82), strict=True
    ):
        counts = np.bincount(np.asarray(one, dtype=int), minlength=top + 1)[: top + 1]
        axes.step(range(top + 1), 100 * counts / max(1, len(one)), where="mid", color=colour, linestyle=dashes)
        name = f"{side.language}, median {np.median(one):.0f}"
        inside_label(axes, place, colour, name)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_ylabel("% of sentences", fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_xlabel("the longest 1 % are not shown", fontsize=FONT_SIZE - 2, color=FAINT)


def frequencies(axes: Any, told: CorpusStatistics) -> None:
    """Zipf's plot: how often the word of each rank occurs."""
    from matplotlib.ticker import StrMethodFormatter

    plain_axes(axes, "frequency of words by rank")
    for side, colour, dashes, place in zip(
        (told.source, told.target), (BLUE, ORANGE), ("-", "--"), (0.92, 0.82), strict=True
    ):
        axes.plot(range(1, len(side.frequencies) + 1), side.frequencies, color=colour, linestyle=dashes)
        name = f"{side.language}, {len(side.frequencies):,} words, {side.once_share:.0%} once"
        inside_label(axes, place, colour, name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("rank", fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_ylabel("occurrences", fontsize=FONT_SIZE - 1, color=FAINT)


def ratio(axes: Any, told: CorpusStatistics) -> None:
    """How the lengths of both sides go together, darker where more sentences are."""
    import numpy as np
    from matplotlib.colors import LogNorm

    plain_axes(axes, "words of both sides")
    source, target = told.source.words, told.target.words
    top = max(2, int(max(np.quantile(source, 0.99), np.quantile(target, 0.99))))
    bins = np.arange(top + 2) - 0.5
    counts = np.histogram2d(source, target, bins=[bins, bins])[0]
    axes.pcolormesh(
        bins, bins, np.ma.masked_equal(counts.T, 0), cmap=colour_map(), norm=LogNorm(0.5, max(2, counts.max()))
    )
    axes.plot([0, top], [0, top], color=FAINT, linewidth=0.8, linestyle=":")
    axes.set_aspect("equal")
    axes.set_xlabel(told.source.language, fontsize=FONT_SIZE - 1, color=FAINT)
    axes.set_ylabel(told.target.language, fontsize=FONT_SIZE - 1, color=FAINT)


def statistics_lines(told: CorpusStatistics) -> list[str]:
    splits = "   ".join(f"{split} {number:,}" for split, number in told.splits.items())
    lines = [f"sentence pairs      {splits}", "", f"{'':<24}{told.source.language:>14}{told.target.language:>14}"]
    sides = (told.source, told.target)
    for title, what in (("words", "words"), ("subwords", "pieces")):
        for quantile, name in zip(QUANTILES, ("median", "95 % have at most", "longest"), strict=True):
            lines.append(row(f"{title}, {name}", [f"{quantile_of(side, what, quantile):,.0f}" for side in sides]))
    lines.append(row("distinct words", [f"{len(side.frequencies):,}" for side in sides]))
    lines.append(row("... that occur once", [f"{side.once_share:.0%}" for side in sides]))
    lines.append(row("test words unseen", [f"{side.unseen_share:.1%}" for side in sides]))
    for side in sides:
        lines.append(f"commonest {side.language}: " + ", ".join(f"{word} {count:,}" for word, count in side.commonest))
    return lines


def row(name: str, values: list[str]) -> str:
    return f"{name:<24}" + "".join(f"{value:>14}" for value in values)


def quantile_of(side: Side, what: str, quantile: float) -> float:
    import numpy as np

    return float(np.quantile(getattr(side, what), quantile))
